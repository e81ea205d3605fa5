"""Edit distance in tiles of 64 x 64 cells, one tile per lane (Myers, 1999; Hyyro, 2003).

A tile's input is the differences of neighbouring cells along its left and upper border, one bit
each for +1 and -1; its output is those along its right and lower one. All of it stays in registers
for 64 columns. Lanes are tiles of different pairs, or independent tiles of one pair.

Rows are bases of the query. Their number is padded to whole words by rows above the first one.
Where the upper border rises by one per column, padding rows match nothing and differ by 0 in column
0: then they all equal the border. Where the border is 0 they differ by 1: each adds an edit, which
is subtracted from the distance.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.arrays import Bytes
from gangsaw.codecs.core.numba.bits import count_ones
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.integers import bits_of, load, sign_mask, static
from gangsaw.codecs.core.numba.vectors.logic import logical_shift_right, mirrored, shift_in

WORD = 64
ALL = 0xFFFFFFFFFFFFFFFF
LOW, HIGH, NONE = range(3)  # bit planes: bits 0 and 1 of the codes, bases other than ACGT
PLANES = 3
PLUS, MINUS = range(2)  # of neighbouring cells: mask of differences of +1, of -1
DIFFERENCES = 2
_BASES = static(64)


@jit(inline=True, part=True)
def word_planes(codes: Bytes, first: int, n_above: int) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Return the bit planes of 64 base codes: base first + i in bit n_above + i, padding below.

    Parameters
    ----------
    codes : (bases,) uint8; bits behind the last base are undefined
    """
    one, two, three = np.uint64(0), np.uint64(0), np.uint64(0)
    if first + WORD <= codes.size:
        bases = load(codes, first, _BASES)
        one, two = bits_of((bases & 1) > 0), bits_of((bases & 2) > 0)
        three = bits_of((bases & 4) > 0)
    else:
        for i in range(codes.size - first):
            letter, place = np.uint64(codes[first + i]), np.uint64(i)
            one |= (letter & np.uint64(1)) << place
            two |= ((letter >> np.uint64(1)) & np.uint64(1)) << place
            three |= (letter >> np.uint64(2)) << place
    shift = np.uint64(n_above)
    return one << shift, two << shift, (three << shift) | ((np.uint64(1) << shift) - np.uint64(1))


@jit(inline=True, part=True, norefs=True)
def tile(rows: Any, columns: Any, left: Any, top: Any) -> Any:
    """Return the score differences along the right and the lower border of tiles (Myers, 1999).

    Parameters
    ----------
    rows, columns : 3 planes each, vectors of 64 bits, the first row or column in the lowest bit
    left : masks of +1 and -1, the first row in the lowest bit, as in the right border
    top : masks of +1 and -1, the first column in the highest bit, as in the lower border
    """
    low, high, no_row = rows
    column_low, column_high = mirrored(columns[LOW]), mirrored(columns[HIGH])
    no_column = mirrored(columns[NONE])
    plus, minus = left
    # bits of the lower border replace those of the upper one: saves two registers
    along_plus, along_minus = top
    for _ in range(WORD):
        unequal = (low ^ sign_mask(column_low)) | (high ^ sign_mask(column_high))
        equal = (unequal | no_row | sign_mask(no_column)) ^ -1
        vertical = equal | minus
        equal = equal | logical_shift_right(along_minus, 63)
        horizontal = (((equal & plus) + plus) ^ plus) | equal
        rise, fall = minus | ((horizontal | plus) ^ -1), plus & horizontal
        below_plus, below_minus = shift_in(rise, along_plus), shift_in(fall, along_minus)
        along_plus, along_minus = shift_in(along_plus, rise), shift_in(along_minus, fall)
        column_low, column_high = column_low << 1, column_high << 1
        no_column = no_column << 1
        plus = below_minus | ((vertical | below_plus) ^ -1)
        minus = below_plus & vertical
    return (plus, minus), (along_plus, along_minus)


@jit
def least(score: int, best: int, plus: np.uint64, minus: np.uint64, columns: int) -> int:
    """Return the least of `best` and of the scores along a tile border, from its differences.

    The first column is in the highest bit. Few tiles have scores below earlier ones: for most of
    them one bit count suffices.
    """
    mask = np.uint64(ALL) << np.uint64(WORD - columns)
    if score - count_ones(minus & mask) >= best:
        return best
    for i in range(columns):
        shift = np.uint64(WORD - 1 - i)
        score += int((plus >> shift) & np.uint64(1)) - int((minus >> shift) & np.uint64(1))
        best = min(best, score)
    return best


@jit(inline=True, part=True)
def rise_along(plus: np.uint64, minus: np.uint64, columns: int) -> int:
    """Return the score change along some columns of a border, the first in the highest bit."""
    if columns <= 0:
        return 0
    mask = np.uint64(ALL) << np.uint64(WORD - columns)
    return int(count_ones(plus & mask) - count_ones(minus & mask))
