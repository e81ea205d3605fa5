"""Predictions of integers: sums of neighbours in time and frequency, and what is left of each.

A row whose neighbours are not all there is predicted by fewer of them. What is left, d, becomes
-2 d - 1 where it is negative, else 2 d; odd words are numbers below 0. SPEC.md, "Kind 5".
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.numba.bits import leading_zeros, pointer
from gangsaw.codecs.core.numba.jit import jit_norefs, jit_norefs_inline
from gangsaw.codecs.core.numba.vectors.integers import any_lane, load, select, static, store
from gangsaw.codecs.core.numba.vectors.logic import logical_shift_right
from gangsaw.codecs.visibility.dense.model.predict import MOST_TERMS, PREDICTORS, SampledRows
from gangsaw.codecs.visibility.lanes.table import LANES, Lanes

ROW = static(LANES)
REACH = 5  # steps of time and frequency, from none to 4 or more, that are told apart
TERM = 3  # numbers of a term: steps back in time, in frequency, twice its weight
SAMPLED_ROWS, SAMPLED_STRIPS = 1440, 8  # of all strips, for each predictor once; of a block
ALL = np.int64(-1)  # all bits
APART = -1  # of an odd word that has no mark; those that have are the least integers
CLASSES = 4 * 65  # of what is left: its bits, and the two behind the first one
# with fewer neighbours: those along the same axis, then those along the other one
INSTEAD = {3: 1, 4: 1, 5: 4, 6: 5, 7: 2, 8: 7, 9: 8, 10: 1, 11: 2, 12: 1, 13: 3, 14: 3}


def available(code: int, time: int, frequency: int) -> int:
    """Return the predictor of a row at a time and frequency of a strip, where `code` is asked."""
    while any(back > time or down > frequency for back, down, _ in PREDICTORS[code]):
        code = INSTEAD.get(code, 1 if time else 2 if frequency else 0)
    return code


def _terms() -> npt.NDArray[np.int64]:
    """(predictors, REACH, REACH, MOST_TERMS, TERM), by code, time and frequency."""
    out = np.zeros((len(PREDICTORS), REACH, REACH, MOST_TERMS, TERM), np.int64)
    for code, time, frequency in np.ndindex(out.shape[:3]):
        terms = PREDICTORS[available(code, time, frequency)]
        for i, (back, down, weight) in enumerate(terms):
            out[code, time, frequency, i] = back, down, int(2 * weight)
    return out


TERMS = _terms()
OF_CODE = REACH * REACH * MOST_TERMS * TERM


class TableRows(NamedTuple):
    """How the rows of a table lie.

    Attributes
    ----------
    n_strips, n_rows, n_times : strips; rows and times of each
    """

    n_strips: int
    n_rows: int
    n_times: int

    @classmethod
    def of(cls, lanes: Lanes) -> TableRows:
        """Return those of a table of lanes."""
        return cls(lanes.n_strips, lanes.n_rows, lanes.n_times)


@jit_norefs_inline
def guess_row(numbers: Any, row: int, time: int, frequency: int, n_times: int, terms: Any) -> Any:
    """Return the prediction of a row of the table from those before it.

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


@jit_norefs
def fill_marked(numbers: Any, marks: Any) -> None:
    """Give odd words the integer of the row before: nothing jumps there."""
    for i in range(LANES, numbers.size):
        if marks[i]:
            numbers[i] = numbers[i - LANES]


@jit_norefs
def to_residuals(numbers: Any, rows: TableRows, terms: Any) -> None:
    """Replace integers by what predictions leave of them, the last row first."""
    for strip in range(rows.n_strips - 1, -1, -1):
        for frequency in range(rows.n_rows // rows.n_times - 1, -1, -1):
            for time in range(rows.n_times - 1, -1, -1):
                row = strip * rows.n_rows + frequency * rows.n_times + time
                guess = guess_row(numbers, row, time, frequency, rows.n_times, terms)
                d = load(numbers, row * LANES, ROW) - guess
                store(numbers, row * LANES, select(d < 0, ALL - (d << 1), d << 1))


@jit_norefs
def put_marked(numbers: Any, marks: Any, least: int) -> None:
    """Put numbers below 0 in the place of odd words: APART, or the least ones by their mark."""
    for i in range(numbers.size):
        if marks[i]:
            numbers[i] = APART if marks[i] > 2 else least + marks[i] - 1


@jit_norefs
def from_residuals(numbers: Any, marks: Any, rows: TableRows, terms: Any, least: int) -> int:
    """Replace what predictions leave by integers; mark odd words, return how many these are.

    Parameters
    ----------
    marks : (n,) uint8, zeros: 1 and 2 of words that have a mark, 3 of the others are put there
    least : the least integer, of the first mark
    """
    n = 0
    for strip in range(rows.n_strips):
        for frequency in range(rows.n_rows // rows.n_times):
            for time in range(rows.n_times):
                row = strip * rows.n_rows + frequency * rows.n_times + time
                guess = guess_row(numbers, row, time, frequency, rows.n_times, terms)
                left = load(numbers, row * LANES, ROW)
                restored = guess + (logical_shift_right(left, 1) ^ (0 - (left & 1)))
                if any_lane(left < 0):
                    n += _mark_row(numbers, marks, row * LANES, least)
                    before = load(numbers, max(0, row - 1) * LANES, ROW) * int(row > 0)
                    restored = select(left < 0, before, restored)
                store(numbers, row * LANES, restored)
    return n


@jit_norefs_inline
def _mark_row(numbers: Any, marks: Any, first: int, least: int) -> int:
    """Mark the odd words of a row; return how many there are."""
    n = 0
    for i in range(first, first + LANES):
        left = np.int64(numbers[i])
        if left < 0:
            marks[i] = left - least + 1 if left < least + 2 else 3
            n += 1
    return n


@jit_norefs
def restore_odd(words: Any, marks: Any, marked: Any, apart: Any) -> int:
    """Put odd words into their places; return how many of those apart that takes, -1: too many.

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
    """Return rows of some strips to compare so many predictors in."""
    strips = np.arange(0, lanes.n_strips, max(1, lanes.n_strips // SAMPLED_STRIPS))
    step = max(1, strips.size * lanes.n_rows * n_codes // SAMPLED_ROWS)
    step += lanes.n_times > 1 and step % lanes.n_times == 0  # else always the same time
    return SampledRows(strips, lanes.n_rows, lanes.n_times, step)


@jit_norefs
def tally_classes(
    numbers: Any, marks: Any, sample: SampledRows, terms: Any, codes: Any, row: Any, counts: Any
) -> None:
    """Count what each predictor leaves of some rows, by classes; odd words are left out.

    A class is about what has one symbol: the bits of a number and the two behind the first one.

    Parameters
    ----------
    terms : TERMS, flat
    codes : of the predictors that are tried
    row : (32,) as numbers, to work with
    counts : (predictors, CLASSES), added to
    """
    n_times, of_code = sample.n_times, len(terms) // len(counts)
    for strip in sample.strips:
        for number in range(0, sample.n_rows, sample.step):
            time, frequency = number % n_times, number // n_times
            at = strip * sample.n_rows + number
            for code in codes:
                own = terms[code * of_code : (code + 1) * of_code]
                guess = guess_row(numbers, at, time, frequency, n_times, own)
                d = load(numbers, at * LANES, ROW) - guess
                store(row, 0, select(d < 0, ALL - (d << 1), d << 1))
                _tally_row(row, marks, at * LANES, counts[code])


@jit_norefs_inline
def _tally_row(row: Any, marks: Any, first: int, counts: Any) -> None:
    left_of, count_of = pointer(row, 0), pointer(counts, 0)
    for i in range(LANES):
        left = np.uint64(left_of[i])
        length = 64 - np.int64(leading_zeros(left))
        shift = np.uint64(length - 3 if length > 2 else 0)
        count_of[4 * length + np.int64((left >> shift) & np.uint64(3))] += np.int64(
            marks[first + i] == 0
        )
