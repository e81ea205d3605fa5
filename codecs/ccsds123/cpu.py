"""CPU backend of the CCSDS-123 codec: blocks over threads, kernels in Numba."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.ccsds123.checks import check_block, expected, own_lanes
from gangsaw.codecs.ccsds123.params import Params
from gangsaw.codecs.ccsds123.sample_decoder import decode_lanes
from gangsaw.codecs.ccsds123.stream import check_extent, decode_body, encode_body
from gangsaw.codecs.core.container.blocks import Blocks, lane_table
from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.memory.threads import run_blocks


def encode(sources: Sequence[npt.NDArray[Any]], params: Params) -> Blocks:
    """Encode every block to one conforming stream.

    Parameters
    ----------
    sources : blocks (z, y, x), integers of one dtype, any byte order and strides
    params : choices of the encoder

    Returns
    -------
    Blocks : lane_bits (n_blocks, most NZ of a block) int64 in BSQ order with the sample-adaptive
        coder, 0 for bands that a block does not have; else None

    Raises
    ------
    BadParams : a sample does not fit the bit depth, or params do not fit the blocks
    """
    streams: list[Stream | None] = [None] * len(sources)
    checksums = np.empty(len(sources), np.uint32)

    def encode_block(i: int) -> None:
        image = params.image(sources[i].shape, sources[i].dtype)
        resolved, header = expected(image, params)
        streams[i] = stream = encode_body(sources[i], image, resolved, header)
        checksums[i] = crc32c(stream[0])  # while it lies in a cache

    run_blocks(encode_block, len(sources))
    return _joined([stream for stream in streams if stream is not None], checksums)


Stream = tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64] | None]


def _joined(streams: Sequence[Stream], checksums: npt.NDArray[np.uint32]) -> Blocks:
    lanes = [bits for _, bits in streams if bits is not None]
    parts = tuple(data for data, _ in streams)
    return Blocks(parts, lane_table(lanes) if lanes else None, checksums=checksums)


def decode(coded: Blocks, targets: Sequence[npt.NDArray[Any]], params: Params) -> None:
    """Decode every block into its target, several at once.

    Parameters
    ----------
    coded : one conforming stream per block
    targets : (z, y, x) views to fill, integers of any byte order and strides
    params : what the blocks were encoded with

    Raises
    ------
    CorruptChunk : a block is no stream of its target's shape and dtype with these params
    """

    def decode_block(i: int) -> None:
        lane_bits = None if coded.lane_bits is None else coded.lane_bits[i]
        try:
            _decode_block(coded.parts[i], lane_bits, targets[i], params)
        except CorruptChunk as error:
            raise CorruptChunk(error.reason, block=i) from error

    run_blocks(decode_block, len(targets))


def _decode_block(
    data: npt.NDArray[np.uint8],
    lane_bits: npt.NDArray[np.int64] | None,
    target: npt.NDArray[Any],
    params: Params,
) -> None:
    image = params.image(target.shape, target.dtype)
    resolved, start = check_block(data, image, params)
    if lane_bits is None:
        check_extent(data.size - start, image, resolved)
        decode_body(data, start, image, resolved, target)
    else:
        decode_lanes(data, 8 * start, own_lanes(lane_bits, image), image, resolved, target)
