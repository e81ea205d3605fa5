"""Codings of the kinds of reads, from their encoder and decoder of a block or its lines."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gangsaw.codecs.core.arrays import Bools, Int64s, NumpyArray
from gangsaw.codecs.core.backends.batch import Encoded, EncodedBlock
from gangsaw.codecs.core.backends.host import BlockCoding
from gangsaw.codecs.reads.lines import Lines, Text, find_lines
from gangsaw.codecs.reads.params import Params
from gangsaw.codecs.reads.payload import (
    STORED,
    BlockLanes,
    Coded,
    pack_payload,
    parse_payload,
    read_stored_text,
)


def of_blocks(
    encode: Callable[[NumpyArray, Params], tuple[Text, Int64s]],
    decode: Callable[[Text, Int64s, NumpyArray, Params, Bools | None], None],
) -> BlockCoding[Params]:
    """Return the CPU coding of one kind of array, from functions that code one block.

    These functions divide the lanes of a block among threads.

    Parameters
    ----------
    encode : from a block (n,), contiguous and in native byte order, to its payload and the bits of
        its lanes
    decode : decodes payload and bits into such a block. If lanes are missing, it gets a mask of the
        present ones, and the items of the others are undefined. Raises CorruptChunk.
    """

    def encode_block(block: NumpyArray, params: Params, buffer: Text) -> Encoded:
        payload, lane_bits = encode(block, params)
        return Encoded((payload,), lane_bits)

    def decode_block(encoded: EncodedBlock, block: NumpyArray, params: Params) -> None:
        decode(encoded.data, encoded.lanes, block, params, encoded.there)

    return BlockCoding(encode_block, decode_block, lambda params: params.dtype, shares_threads=True)


def of_lines(
    encode_lines: Callable[[Lines, bool], Coded | None],
    decode_lanes: Callable[[BlockLanes, Text, bool], None],
) -> BlockCoding[Params]:
    """Return the CPU coding of one kind of text, from functions that code the lines of one block.

    Parameters
    ----------
    encode_lines : from lines, and whether mates are in pairs, to the coded lines; None if coding
        does not pay
    decode_lanes : decodes the lanes of a coded (not stored) block into its text, (n,) uint8; raises
        CorruptChunk
    """

    def encode(block: NumpyArray, params: Params) -> tuple[Text, Int64s]:
        lines = find_lines(block.view(np.uint8), params.sizes.lane)
        return pack_payload(lines, encode_lines(lines, params.pairs))

    def decode(
        data: Text, lane_bits: Int64s, out: NumpyArray, params: Params, there: Bools | None
    ) -> None:
        text, lane = out.view(np.uint8), params.sizes.lane
        payload = parse_payload(data, lane_bits, text.size, lane, there)
        if payload.head.mode == STORED:
            read_stored_text(payload, text)
        else:
            decode_lanes(payload, text, params.pairs)

    return of_blocks(encode, decode)
