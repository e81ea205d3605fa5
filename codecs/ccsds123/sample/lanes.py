"""Checks of the lane index and of the end of the last lane, before a decoder uses them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.ccsds123.params import Image
from gangsaw.codecs.core.errors import CorruptChunk

MAX_WORD_BITS = 64  # B is at most 8 bytes


def lane_bounds(
    size: int, start_bit: int, lane_bits: npt.NDArray[np.int64], image: Image
) -> npt.NDArray[np.int64]:
    """Return the bit offsets of the lanes in a stream of `size` bytes, (NZ + 1,) int64.

    Raises
    ------
    CorruptChunk : the lanes do not fit the stream, or are too short for their band
    """
    least = image.n_rows * image.n_columns - 1 + image.bit_depth
    # lengths above 8 * size: sums might wrap
    impossible = (lane_bits < least) | (lane_bits > 8 * size)
    sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(lane_bits)])
    bounds: npt.NDArray[np.int64] = start_bit + sums
    if np.any(impossible) or bounds[-1] > 8 * size:
        raise CorruptChunk("the lane index does not fit the stream")
    return bounds


def check_end(data: npt.NDArray[np.uint8], end: int) -> None:
    """Raise CorruptChunk unless only zero fill bits follow the bit offset `end`.

    Any fill shorter than the longest output word is accepted: a body without a header does not show
    whether its encoder counted a header.
    """
    fill = 8 * data.size - end
    if not 0 <= fill < MAX_WORD_BITS:
        raise CorruptChunk("the codewords do not end where the stream does")
    rest = data[end >> 3 :]
    if rest.size and (rest[0] & (0xFF >> (end & 7)) or np.any(rest[1:])):
        raise CorruptChunk("the fill bits at the end are not zero")
