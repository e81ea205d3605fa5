"""Host backend for nucleotides: a block is a head, a body and marks."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.backends.batch import Encoded, EncodedBlock
from gangsaw.codecs.core.backends.host import BlockCoding, HostBackend
from gangsaw.codecs.core.container.runs import Payload
from gangsaw.codecs.dna.memory import likely_bytes
from gangsaw.codecs.dna.params import Params
from gangsaw.codecs.dna.payload import NO_LANES, read_payload, write_payload

TEXT_DTYPE = np.dtype(np.uint8)


def encode_block(text: NumpyArray, params: Params, buffer: Payload) -> Encoded:
    """Encode a block of text, (n,) uint8, to its payload, in `buffer` if it fits there."""
    payload, lane_bits = write_payload(
        text.view(np.uint8), params, buffer[: likely_bytes(text.size)]
    )
    return Encoded((payload,), lane_bits if params.has_lanes else None)


def decode_block(encoded: EncodedBlock, text: NumpyArray, params: Params) -> None:
    """Decode a payload to a block of text, (n,) uint8."""
    lane_bits = NO_LANES if encoded.lane_bits is None else encoded.lane_bits
    read_payload(encoded.data, lane_bits, text.view(np.uint8))


def text_dtype(params: Params) -> Dtype:
    """Return the dtype of blocks: uint8."""
    return TEXT_DTYPE


BACKEND = HostBackend.of(BlockCoding(encode_block, decode_block, text_dtype, likely_bytes))
