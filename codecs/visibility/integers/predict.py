"""Predictions of integers: sums of neighbours in time and frequency, and their residuals.

A row without some of its neighbours is predicted by fewer of them. A residual d becomes -2 d - 1 if
negative, else 2 d; odd words become negative numbers. SPEC.md, "Kind 5".
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes, Int64s, NumpyArray
from gangsaw.codecs.core.numba.bits import leading_zeros, pointer
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.integers import any_lane, load, select, static, store
from gangsaw.codecs.core.numba.vectors.logic import logical_shift_right
from gangsaw.codecs.visibility.dense.model.predict import MOST_TERMS, PREDICTORS, SampledRows
from gangsaw.codecs.visibility.lanes.table import LANES, Lanes

ROW = static(LANES)
REACH = 5  # distinct counts of steps back: 0 to 3, and 4 or more
TERM = 3  # fields of a term: steps back in time, in frequency, twice its weight
# rows of all sampled strips over all predictors; strips of a block
SAMPLED_ROWS, SAMPLED_STRIPS = 1440, 8
ALL = np.int64(-1)  # all bits set
APART = -1  # value of an odd word without a mark; the two marks are the smallest integers
CLASSES = 4 * 65  # classes of a residual: its bit length, and the two bits after the first
# fallback predictors with fewer neighbours: on the same axis first, then on the other
INSTEAD = {3: 1, 4: 1, 5: 4, 6: 5, 7: 2, 8: 7, 9: 8, 10: 1, 11: 2, 12: 1, 13: 3, 14: 3}


def available(code: int, time: int, frequency: int) -> int:
    """Return the predictor to use at a time and frequency of a strip in place of `code`."""
    while any(back > time or down > frequency for back, down, _ in PREDICTORS[code]):
        code = INSTEAD.get(code, 1 if time else 2 if frequency else 0)
    return code


def _terms() -> npt.NDArray[np.int64]:
    """Return the terms of the predictors at each time and frequency of a strip below REACH.

    The result is (predictors, REACH, REACH, MOST_TERMS, TERM); weights are doubled.
    """
    out = np.zeros((len(PREDICTORS), REACH, REACH, MOST_TERMS, TERM), np.int64)
    for code, time, frequency in np.ndindex(out.shape[:3]):
        terms = PREDICTORS[available(code, time, frequency)]
        for i, (back, down, weight) in enumerate(terms):
            out[code, time, frequency, i] = back, down, int(2 * weight)
    return out


TERMS = _terms()
OF_CODE = REACH * REACH * MOST_TERMS * TERM


class TableRows(NamedTuple):
    """Extents of a table of integers, which has 32 lanes (columns) in strips of rows.

    Attributes
    ----------
    n_strips, n_rows, n_times : strips of the table; rows and times of a strip
    """

    n_strips: int
    n_rows: int
    n_times: int

    @classmethod
    def of(cls, lanes: Lanes) -> TableRows:
        """Return the extents of a table of lanes."""
        return cls(lanes.n_strips, lanes.n_rows, lanes.n_times)


@jit(inline=True, part=True, norefs=True)
def guess_integer_row(
    numbers: NumpyArray, row: int, time: int, frequency: int, n_times: int, terms: Int64s
) -> Any:
    """Return the prediction of a row of the table from the rows before it.

    terms : (REACH, REACH, MOST_TERMS, TERM) of the predictor, flat
    """
    first = (min(time, REACH - 1) * REACH + min(frequency, REACH - 1)) * (MOST_TERMS * TERM)
    sums = load(numbers, row * LANES, ROW) * 0
    for i in range(MOST_TERMS):
        at = first + TERM * i
        weight = terms[at + 2]
        if weight == 0:
            break
        before = row - terms[at] - terms[at + 1] * n_times
        sums = sums + load(numbers, before * LANES, ROW) * weight
    return sums >> 1


@jit(norefs=True)
def fill_marked(numbers: NumpyArray, marks: Bytes) -> None:
    """Set odd words to the integer in the row before, so that no residual is large there."""
    for i in range(LANES, numbers.size):
        if marks[i]:
            numbers[i] = numbers[i - LANES]


@jit(norefs=True)
def to_integer_residuals(numbers: NumpyArray, rows: TableRows, terms: Int64s) -> None:
    """Replace integers by zigzag-coded prediction residuals in place, last row first."""
    for strip in range(rows.n_strips - 1, -1, -1):
        for frequency in range(rows.n_rows // rows.n_times - 1, -1, -1):
            for time in range(rows.n_times - 1, -1, -1):
                row = strip * rows.n_rows + frequency * rows.n_times + time
                guess = guess_integer_row(numbers, row, time, frequency, rows.n_times, terms)
                d = load(numbers, row * LANES, ROW) - guess
                store(numbers, row * LANES, select(d < 0, ALL - (d << 1), d << 1))


@jit(norefs=True)
def put_marked(numbers: NumpyArray, marks: Bytes, least: int) -> None:
    """Replace odd words by negative numbers: APART, or for marked words the smallest integers."""
    for i in range(numbers.size):
        if marks[i]:
            numbers[i] = APART if marks[i] > 2 else least + marks[i] - 1


@jit(norefs=True)
def from_integer_residuals(
    numbers: NumpyArray, marks: Bytes, rows: TableRows, terms: Int64s, least: int
) -> int:
    """Replace residuals by integers in place; set marks of odd words and return their number.

    Parameters
    ----------
    marks : (n,) uint8, zeros; filled with 1 and 2 for words with a mark, 3 for other odd words
    least : smallest integer, the first mark
    """
    n = 0
    for strip in range(rows.n_strips):
        for frequency in range(rows.n_rows // rows.n_times):
            for time in range(rows.n_times):
                row = strip * rows.n_rows + frequency * rows.n_times + time
                guess = guess_integer_row(numbers, row, time, frequency, rows.n_times, terms)
                left = load(numbers, row * LANES, ROW)
                restored = guess + (logical_shift_right(left, 1) ^ (0 - (left & 1)))
                if any_lane(left < 0):
                    n += _mark_row(numbers, marks, row * LANES, least)
                    before = load(numbers, max(0, row - 1) * LANES, ROW) * int(row > 0)
                    restored = select(left < 0, before, restored)
                store(numbers, row * LANES, restored)
    return n


@jit(inline=True, part=True, norefs=True)
def _mark_row(numbers: NumpyArray, marks: Bytes, first: int, least: int) -> int:
    """Set the marks of odd words of a row; return their number."""
    n = 0
    for i in range(first, first + LANES):
        left = np.int64(numbers[i])
        if left < 0:
            marks[i] = left - least + 1 if left < least + 2 else 3
            n += 1
    return n


@jit(norefs=True)
def restore_odd(words: NumpyArray, marks: Bytes, marked: NumpyArray, apart: NumpyArray) -> int:
    """Write odd words to their positions; return the number used of `apart`, -1 if too few.

    marked : (2,) words
    """
    n = 0
    for i in range(words.size):
        if marks[i] == 3:
            if n == apart.size:
                return -1
            words[i] = apart[n]
            n += 1
        elif marks[i]:
            words[i] = marked[marks[i] - 1]
    return n


def sampled_rows(lanes: Lanes, n_codes: int) -> SampledRows:
    """Return sampled rows of some strips, to compare `n_codes` predictors."""
    strips = np.arange(0, lanes.n_strips, max(1, lanes.n_strips // SAMPLED_STRIPS))
    step = max(1, strips.size * lanes.n_rows * n_codes // SAMPLED_ROWS)
    # else all sampled rows have the same time
    step += lanes.n_times > 1 and step % lanes.n_times == 0
    return SampledRows(strips, lanes.n_rows, lanes.n_times, step)


@jit(norefs=True)
def count_classes(
    numbers: NumpyArray,
    marks: Bytes,
    sample: SampledRows,
    terms: Int64s,
    codes: Int64s,
    row: NumpyArray,
    counts: Int64s,
) -> None:
    """Count the residuals of each predictor in sampled rows by class, without odd words.

    A class approximates a symbol: the bit length of a number, and the two bits after the first.

    Parameters
    ----------
    terms : TERMS, flat
    codes : predictors to try
    row : (32,) scratch of the dtype of numbers
    counts : (predictors, CLASSES), incremented
    """
    n_times, of_code = sample.n_times, len(terms) // len(counts)
    for strip in sample.strips:
        for number in range(0, sample.n_rows, sample.step):
            time, frequency = number % n_times, number // n_times
            at = strip * sample.n_rows + number
            for code in codes:
                own = terms[code * of_code : (code + 1) * of_code]
                guess = guess_integer_row(numbers, at, time, frequency, n_times, own)
                d = load(numbers, at * LANES, ROW) - guess
                store(row, 0, select(d < 0, ALL - (d << 1), d << 1))
                _count_row(row, marks, at * LANES, counts[code])


@jit(inline=True, part=True, norefs=True)
def _count_row(row: NumpyArray, marks: Bytes, first: int, counts: Int64s) -> None:
    left_of, count_of = pointer(row, 0), pointer(counts, 0)
    for i in range(LANES):
        left = np.uint64(left_of[i])
        length = 64 - np.int64(leading_zeros(left))
        shift = np.uint64(length - 3 if length > 2 else 0)
        count_of[4 * length + np.int64((left >> shift) & np.uint64(3))] += np.int64(
            marks[first + i] == 0
        )
