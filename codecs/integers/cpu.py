"""Rows of integers on the host: a payload begins with the kind of its block."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.arrays import Dtype
from gangsaw.codecs.core.coding.host import BlockCoding, HostBackend
from gangsaw.codecs.integers import blocks
from gangsaw.codecs.integers.params import Params

WORDS = np.dtype(np.uint32)


def words(params: Params) -> Dtype:
    """Return the dtype of rows."""
    return WORDS


DECODERS = {blocks.STORED: blocks.decode_stored, blocks.CODED: blocks.decode_coded}
BACKEND: HostBackend[Params] = HostBackend(
    {kind: BlockCoding(blocks.encode_block, decode, words) for kind, decode in DECODERS.items()},
    lambda params: blocks.CODED,  # which leaves what gets no shorter as it is
    by_octet=True,
)
