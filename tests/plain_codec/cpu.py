"""Its backend, in plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.backends.batch import Encoded, EncodedBlock
from gangsaw.codecs.core.backends.host import BlockCoding, HostBackend
from gangsaw.codecs.core.errors import CorruptChunk
from plain_codec.codec import Params


def encode_block(block: Any, params: Params, room: Any) -> Encoded:
    payload = params.prefix.encode() + block.tobytes()
    lane_bits = np.full(len(block), 8 * block[0].nbytes)
    return Encoded((np.frombuffer(payload, np.uint8),), lane_bits)


def decode_block(encoded: EncodedBlock, block: Any, params: Params) -> None:
    data, prefix = encoded.data.tobytes(), params.prefix.encode()
    if not data.startswith(prefix):
        raise CorruptChunk("wrong prefix")
    block[...] = np.frombuffer(data[len(prefix) :], block.dtype).reshape(block.shape)


BACKEND = HostBackend.of(BlockCoding(encode_block, decode_block))
