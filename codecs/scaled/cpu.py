"""Host backend for scaled integers: the first byte of a payload is the kind of its block."""

from __future__ import annotations

from gangsaw.codecs.core.backends.host import BlockCoding, HostBackend
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
    lambda params: blocks.SCALED,  # falls back to other kinds if a block has no integers
    by_first_byte=True,
)
