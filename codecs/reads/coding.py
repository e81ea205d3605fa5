"""What each kind is for the backends: one way to encode a block, one to decode it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.reads.lines import Lines, Places, Text, lines_of
from gangsaw.codecs.reads.params import Params
from gangsaw.codecs.reads.payload import (
    STORED,
    Asked,
    BlockLanes,
    Coded,
    packed,
    read_stored,
    unpacked,
)


class KindCoding(NamedTuple):
    """A kind.

    Attributes
    ----------
    encode : from a block (n,), contiguous and of the machine's byte order, to its payload and the
        bits of its lanes
    decode : fills such a block from payload and bits, of which some may be left out (then
        which are there), whose items then mean nothing; raises CorruptChunk
    """

    encode: Callable[[NumpyArray, Params], tuple[Text, Places]]
    decode: Callable[[Text, Places, NumpyArray, Params, Asked | None], None]


def of_lines(
    encode_lines: Callable[[Lines, bool], Coded | None],
    decode_lanes: Callable[[BlockLanes, Text, bool], None],
) -> KindCoding:
    """Return the coding of a kind of text.

    Parameters
    ----------
    encode_lines : from lines, and whether mates are in pairs, to what is coded; None where that
        gains nothing
    decode_lanes : fills (n,) uint8 from a payload that is not stored; raises CorruptChunk
    """

    def encode(block: NumpyArray, params: Params) -> tuple[Text, Places]:
        lines = lines_of(block.view(np.uint8), params.sizes.lane)
        return packed(lines, encode_lines(lines, params.pairs))

    def decode(
        data: Text, lane_bits: Places, out: NumpyArray, params: Params, there: Asked | None
    ) -> None:
        text, lane = out.view(np.uint8), params.sizes.lane
        payload = unpacked(data, lane_bits, text.size, lane, there)
        if payload.head.mode == STORED:
            read_stored(payload, text)
        else:
            decode_lanes(payload, text, params.pairs)

    return KindCoding(encode, decode)
