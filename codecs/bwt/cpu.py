"""Host backend of the Burrows-Wheeler codec: the first byte of a payload is its kind."""

from __future__ import annotations

from collections.abc import Hashable
from typing import cast

import numpy as np

from gangsaw.codecs.bwt.params import Params
from gangsaw.codecs.bwt.payload import DENSE, FAST, RAW, Octets, raw, read, read_raw, write
from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.backends.batch import Encoded, EncodedBlock
from gangsaw.codecs.core.backends.host import BlockCoding, Coding, HostBackend
from gangsaw.codecs.core.container.runs import Payload

OCTETS = np.dtype(np.uint8)
ASKED = {"dense": DENSE, "fast": FAST}


def encode_block(block: NumpyArray, params: Params, room: Payload) -> Encoded:
    """Encode (n,) uint8 with the requested effort, or raw if that is not longer."""
    return Encoded(write(cast(Octets, block), ASKED[params.effort]))


def decode_block(encoded: EncodedBlock, block: NumpyArray, params: Params) -> None:
    """Fill (n,) uint8 from a payload."""
    read(encoded.data, cast(Octets, block))


def encode_raw(block: NumpyArray, params: Params, room: Payload) -> Encoded:
    """Encode (n,) uint8 without compression."""
    return Encoded(raw(cast(Octets, block)))


def decode_raw(encoded: EncodedBlock, block: NumpyArray, params: Params) -> None:
    """Fill (n,) uint8 from a raw payload."""
    read_raw(encoded.data, cast(Octets, block))


def octets(params: Params) -> Dtype:
    """Return the dtype of blocks, uint8."""
    return OCTETS


TRANSFORMED = BlockCoding(encode_block, decode_block, octets)
CODINGS: dict[Hashable, Coding[Params]] = {
    RAW: BlockCoding(encode_raw, decode_raw, octets),
    DENSE: TRANSFORMED,
    FAST: TRANSFORMED,
}
BACKEND = HostBackend(CODINGS, lambda params: ASKED[params.effort], by_octet=True)
