"""CPU backend of CCSDS-123: each block is one conforming stream."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.ccsds123.header.checks import check_block, expected_header, own_lanes
from gangsaw.codecs.ccsds123.narrow import coded_dtype, narrow_block
from gangsaw.codecs.ccsds123.params import Params
from gangsaw.codecs.ccsds123.predict.plan import Plan
from gangsaw.codecs.ccsds123.sample.decoder import decode_lanes
from gangsaw.codecs.ccsds123.stream import check_extent, decode_body, encode_body
from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.backends.batch import Encoded, EncodedBlock
from gangsaw.codecs.core.backends.host import BlockCoding, HostBackend
from gangsaw.codecs.core.container.runs import Payload


def encode_block(block: NumpyArray, params: Params, buffer: Payload) -> Encoded:
    """Encode (z, y, x) integers; in BSQ order, the sample-adaptive coder makes a lane per band."""
    samples = narrow_block(block)
    image = params.image(samples.shape, samples.dtype)
    resolved, header = expected_header(image, params)
    stream, lane_bits = encode_body(samples, Plan.of(image, resolved), header)
    return Encoded((stream,), lane_bits)


def decode_block(encoded: EncodedBlock, block: NumpyArray, params: Params) -> None:
    """Decode a stream into a (z, y, x) block of integers of its shape, which may be wider."""
    kind = coded_dtype(block.dtype)
    if kind == block.dtype:
        _decode(encoded, block, params)
    else:
        samples = np.empty(block.shape, kind)
        _decode(encoded, samples, params)
        block[...] = samples


def _decode(encoded: EncodedBlock, block: NumpyArray, params: Params) -> None:
    image, data = params.image(block.shape, block.dtype), encoded.data
    resolved, start = check_block(data, image, params)
    if encoded.lane_bits is None:
        check_extent(data.size - start, image, resolved)
        decode_body(data, start, Plan.of(image, resolved), block)
    else:
        own = own_lanes(encoded.lane_bits, image)
        decode_lanes(data, 8 * start, own, Plan.of(image, resolved), block)


BACKEND = HostBackend.of(BlockCoding(encode_block, decode_block))
