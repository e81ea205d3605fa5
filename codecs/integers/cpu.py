"""Host backend for rows of integers: the first byte of a payload is the kind of its block."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.arrays import Dtype
from gangsaw.codecs.core.backends.host import BlockCoding, HostBackend
from gangsaw.codecs.integers import blocks
from gangsaw.codecs.integers.params import Params

WORDS = np.dtype(np.uint32)


def words(params: Params) -> Dtype:
    """Return the dtype of rows in native byte order."""
    return WORDS


DECODERS = {blocks.STORED: blocks.decode_stored, blocks.CODED: blocks.decode_coded}
BACKEND: HostBackend[Params] = HostBackend(
    {kind: BlockCoding(blocks.encode_block, decode, words) for kind, decode in DECODERS.items()},
    lambda params: blocks.CODED,  # stores blocks that do not get shorter as raw rows
    by_first_byte=True,
)
