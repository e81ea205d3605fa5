"""CPU backend of the codec of nucleotides: blocks over threads, loops in Numba."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.codecs.core.container.output import Output
from gangsaw.codecs.core.container.runs import Runs
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.memory.threads import run_blocks
from gangsaw.codecs.dna.dense.shape import lanes_of
from gangsaw.codecs.dna.params import Params
from gangsaw.codecs.dna.payload import NO_LANES, most_bytes, read, write


def encode(blocks: Sequence[NumpyArray], params: Params, output: Output) -> None:
    """Encode every block.

    Parameters
    ----------
    blocks : (n,) uint8 each, any strides
    params : choices of the encoder
    output : takes the payloads, each at most a head longer than its block
    """

    n_lanes = lanes_of(max((block.size for block in blocks), default=0))  # as the index has them

    def encode_block(i: int) -> None:
        text = np.ascontiguousarray(blocks[i])
        room = output.room(i)
        place = np.empty(most_bytes(text.size), np.uint8) if room is None else room
        size, lane_bits = write(text, params, place)
        lanes = np.pad(lane_bits, (0, n_lanes - lane_bits.size)) if params.has_lanes else None
        if room is None:
            output.give(i, place[:size], lane_bits=lanes)
        else:
            output.settle(i, [size], [crc32c(place[:size])], lanes)

    output.reserve(sum(most_bytes(block.size) for block in blocks))
    run_blocks(encode_block, len(blocks))


def decode(runs: Runs, blocks: Sequence[NumpyArray], params: Params) -> None:
    """Decode every block into its target.

    Parameters
    ----------
    runs : the encoded blocks
    blocks : (n,) uint8 views to fill, any strides
    params : what the blocks were encoded with

    Raises
    ------
    CorruptChunk : a block is not of its target's extent
    """

    lane_bits = runs.lane_bits

    def decode_block(i: int) -> None:
        block = blocks[i]
        text = block if block.flags.c_contiguous else np.empty(block.shape, np.uint8)
        try:
            read(runs.take(i), NO_LANES if lane_bits is None else lane_bits[i], text)
        except CorruptChunk as error:
            raise CorruptChunk(error.reason, block=i) from error
        if text is not block:
            block[...] = text

    run_blocks(decode_block, len(blocks))
