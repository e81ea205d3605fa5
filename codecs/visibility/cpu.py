"""Host backend for visibilities: the first byte of a payload is the block kind."""

from __future__ import annotations

from collections.abc import Hashable

from gangsaw.codecs.core.backends.host import Coding, HostBackend
from gangsaw.codecs.visibility.dense import cpu as dense
from gangsaw.codecs.visibility.dense import narrow
from gangsaw.codecs.visibility.fast import cpu as fast
from gangsaw.codecs.visibility.integers import cpu as integers
from gangsaw.codecs.visibility.integers.form import KIND as INTEGERS
from gangsaw.codecs.visibility.params import Params
from gangsaw.codecs.visibility.words import construction, raw

CODINGS: dict[Hashable, Coding[Params]] = {
    raw.KIND: raw.CODING,
    construction.KIND: construction.CODING,
    fast.KIND: fast.CODING,
    dense.KIND: dense.CODING,
    narrow.KIND: narrow.CODING,
    # falls back to `narrow` for blocks that are not scaled integers, and that to `dense`
    INTEGERS: integers.CODING,
}
KIND_OF_CODING = {"construction": construction.KIND, "fast": fast.KIND, "dense": INTEGERS}
BACKEND = HostBackend(
    CODINGS,
    lambda params: KIND_OF_CODING[params.coding],
    by_first_byte=True,
    plain=raw.encode_raw_block,
)
