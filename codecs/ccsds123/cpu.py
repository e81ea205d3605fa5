"""CPU backend of the CCSDS-123 codec: blocks over threads, kernels in Numba."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.ccsds123.header.checks import check_block, expected, own_lanes
from gangsaw.codecs.ccsds123.params import Params
from gangsaw.codecs.ccsds123.predict.plan import Plan
from gangsaw.codecs.ccsds123.sample.decoder import decode_lanes
from gangsaw.codecs.ccsds123.stream import check_extent, decode_body, encode_body
from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.codecs.core.container.output import Output
from gangsaw.codecs.core.container.runs import Runs
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.memory.threads import run_blocks


def encode(sources: Sequence[NumpyArray], params: Params, output: Output) -> None:
    """Encode every block to one conforming stream.

    Parameters
    ----------
    sources : blocks (z, y, x), integers of one dtype, any byte order and strides
    params : choices of the encoder
    output : takes the streams, and with the sample-adaptive coder in BSQ order (NZ,) int64 bits of
        the bands of each

    Raises
    ------
    BadParams : a sample does not fit the bit depth, or params do not fit the blocks
    """

    def encode_block(i: int) -> None:
        image = params.image(sources[i].shape, sources[i].dtype)
        resolved, header = expected(image, params)
        stream, lane_bits = encode_body(sources[i], Plan.of(image, resolved), header)
        output.give(i, stream, crc32c(stream), lane_bits)  # summed while it lies in a cache

    run_blocks(encode_block, len(sources))


def decode(runs: Runs, targets: Sequence[NumpyArray], params: Params) -> None:
    """Decode every block into its target, several at once.

    Parameters
    ----------
    runs : one conforming stream for each block
    targets : (z, y, x) views to fill, integers of any byte order and strides
    params : what the blocks were encoded with

    Raises
    ------
    CorruptChunk : a block is no stream of its target's shape and dtype with these params
    """

    def decode_block(i: int) -> None:
        lane_bits = None if runs.lane_bits is None else runs.lane_bits[i]
        try:
            _decode_block(runs.take(i), lane_bits, targets[i], params)
        except CorruptChunk as error:
            raise CorruptChunk(error.reason, block=i) from error

    run_blocks(decode_block, len(targets))


def _decode_block(
    data: npt.NDArray[np.uint8],
    lane_bits: npt.NDArray[np.int64] | None,
    target: NumpyArray,
    params: Params,
) -> None:
    image = params.image(target.shape, target.dtype)
    resolved, start = check_block(data, image, params)
    if lane_bits is None:
        check_extent(data.size - start, image, resolved)
        decode_body(data, start, Plan.of(image, resolved), target)
    else:
        own = own_lanes(lane_bits, image)
        decode_lanes(data, 8 * start, own, Plan.of(image, resolved), target)
