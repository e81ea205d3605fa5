"""Host backend of the Burrows-Wheeler codec: the first byte of a payload is its kind."""

from __future__ import annotations

from collections.abc import Hashable
from typing import cast

import numpy as np

from gangsaw.codecs.bwt.params import Params
from gangsaw.codecs.bwt.payload import DENSE, FAST, RAW, raw, read_payload, read_raw, write_payload
from gangsaw.codecs.core.arrays import Bytes, Dtype, NumpyArray
from gangsaw.codecs.core.backends.batch import Encoded, EncodedBlock
from gangsaw.codecs.core.backends.host import BlockCoding, Coding, HostBackend
from gangsaw.codecs.core.container.runs import Payload

BLOCK_DTYPE = np.dtype(np.uint8)
KIND_OF_EFFORT = {"dense": DENSE, "fast": FAST}


def encode_block(block: NumpyArray, params: Params, buffer: Payload) -> Encoded:
    """Encode a block, (n,) uint8, with the requested effort; raw bytes if that is not longer."""
    return Encoded(write_payload(cast(Bytes, block), KIND_OF_EFFORT[params.effort]))


def decode_block(encoded: EncodedBlock, block: NumpyArray, params: Params) -> None:
    """Decode a payload of effort dense or fast to a block, (n,) uint8."""
    read_payload(encoded.data, cast(Bytes, block))


def encode_raw_bytes(block: NumpyArray, params: Params, buffer: Payload) -> Encoded:
    """Return the raw payload of a block, (n,) uint8, without compression."""
    return Encoded(raw(cast(Bytes, block)))


def decode_raw_bytes(encoded: EncodedBlock, block: NumpyArray, params: Params) -> None:
    """Decode a raw payload to a block, (n,) uint8."""
    read_raw(encoded.data, cast(Bytes, block))


def block_dtype(params: Params) -> Dtype:
    """Return the dtype of blocks: uint8."""
    return BLOCK_DTYPE


TRANSFORMED = BlockCoding(encode_block, decode_block, block_dtype)
CODINGS: dict[Hashable, Coding[Params]] = {
    RAW: BlockCoding(encode_raw_bytes, decode_raw_bytes, block_dtype),
    DENSE: TRANSFORMED,
    FAST: TRANSFORMED,
}
BACKEND = HostBackend(CODINGS, lambda params: KIND_OF_EFFORT[params.effort], by_first_byte=True)
