"""Scaled integers on the host: a payload begins with the kind of its block."""

from __future__ import annotations

from gangsaw.codecs.core.coding.host import BlockCoding, HostBackend
from gangsaw.codecs.scaled import blocks
from gangsaw.codecs.scaled.params import Params

DECODERS = {
    blocks.PLAIN: blocks.decode_plain,
    blocks.FLOATS: blocks.decode_floats,
    blocks.SCALED: blocks.decode_scaled,
    blocks.CONSTANT: blocks.decode_constant,
}
BACKEND: HostBackend[Params] = HostBackend(
    {kind: BlockCoding(blocks.encode_block, decode) for kind, decode in DECODERS.items()},
    lambda params: blocks.SCALED,  # which leaves to others what it cannot take
    by_octet=True,
)
