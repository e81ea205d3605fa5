"""CPU backend of reads: threads process blocks, then lanes of a block."""

from __future__ import annotations

from collections.abc import Hashable

from gangsaw.codecs.core.backends.host import BlockCoding, HostBackend
from gangsaw.codecs.reads.name.coding import NAME
from gangsaw.codecs.reads.offset.coding import OFFSET
from gangsaw.codecs.reads.params import Params
from gangsaw.codecs.reads.quality.coding import QUALITY
from gangsaw.codecs.reads.sequence.coding import SEQUENCE

CODINGS: dict[Hashable, BlockCoding[Params]] = {
    "sequence": SEQUENCE,
    "quality": QUALITY,
    "name": NAME,
    "offset": OFFSET,
}
BACKEND = HostBackend(CODINGS, requested_kind=lambda params: params.kind)
