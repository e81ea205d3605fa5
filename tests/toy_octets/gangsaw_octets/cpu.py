"""Runs of equal bytes on the host."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.backends.batch import Encoded, EncodedBlock
from gangsaw.codecs.core.backends.host import BlockCoding, HostBackend
from gangsaw.codecs.core.container.runs import Payload
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw_octets.params import Params

LONGEST = 256  # bytes of a run


def encode_block(block: NumpyArray, params: Params, room: Payload) -> Encoded:
    """Return the runs of a block."""
    begins = np.flatnonzero(np.append(True, block[1:] != block[:-1]))
    lengths = np.diff(np.append(begins, block.size))
    parts = -(-lengths // LONGEST)  # of a long run
    runs = np.empty((parts.sum(), 2), np.uint8)
    runs[:, 0], runs[:, 1] = LONGEST - 1, np.repeat(block[begins], parts)
    runs[np.cumsum(parts) - 1, 0] = (lengths - 1) % LONGEST
    return Encoded((runs.ravel(),))


def decode_block(encoded: EncodedBlock, block: NumpyArray, params: Params) -> None:
    """Fill a block; CorruptChunk for runs that do not fill it."""
    data = encoded.data
    lengths = data[::2].astype(np.int64) + 1
    if data.size % 2 or lengths.sum() != block.size:
        raise CorruptChunk("its runs do not fill it")
    block[...] = np.repeat(data[1::2], lengths)


BACKEND = HostBackend.of(BlockCoding(encode_block, decode_block))
