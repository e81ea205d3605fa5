"""Gapped alignment of packed bytes (Satyanvesh, Kaliuday and Baruah, 2015), by antidiagonals.

Rows x are bases of the first sequence, with the 4-mer that ends there; columns y are bytes of the
second one, four bases each. So gaps in the second sequence have lengths of whole fours. The first
base of a gap costs d = open + extend:

    Score(x, y) = Best(x - 4, y - 1) + value of the two 4-mers
    High(x, y) = max(Score(x - 1, y) - d, High(x - 1, y) - extend,
                     Score(x, y - 1) - d - 3 extend, High(x, y - 1) - 4 extend)
    Best = max(Score, High), and 0 in the local form

(The paper prints d + 2 extend for four gaps.) At the borders Best = 0, Score = High = -inf; in rows
1 to 3 Score = -inf. Cells of one antidiagonal x + y depend only on earlier antidiagonals. They are
stored by columns and computed 32 at a time. Of Score and High only this is stored:

    Gap(x, y) = max(Score - d, High - extend), so that
    High(x, y) = max(Gap(x - 1, y), Gap(x, y - 1) - 3 extend)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gangsaw.codecs.core.arrays import Bytes, NumpyArray
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.integers import (
    load,
    maximum,
    resize_to,
    select,
    static,
    store,
)
from gangsaw.codecs.core.numba.vectors.logic import logical_shift_right
from gangsaw.tasks.genomics.align.packed.bases import PackedBases, four_bases

MOST_16 = 20_000  # 16-bit scores: additions until the next check do not overflow
LOOKS = 4096  # antidiagonals between checks; an alignment gains at most 4 on 5 of them
NONE_16, NONE_32 = -10_000, -(1 << 29)  # stand for -inf: far below any score
CELLS = 32  # cells of a vector: 512 bits of 16-bit cells
SPARE = CELLS + 8  # padding behind the last cell, for the last vector
_CELLS = static(CELLS)
LEAST_16 = NONE_16 // 4  # least score that is safely above -inf


class GapCosts(NamedTuple):
    """Costs of gaps and mismatches.

    Attributes
    ----------
    gap_open, gap_extend : a gap of k bases costs gap_open + k * gap_extend
    factor : the value of a pair of 4-mers is 4 - factor * mismatches
    local : 1 for local alignment, whose cell scores are at least 0, else 0
    """

    gap_open: int
    gap_extend: int
    factor: int
    local: int


class GapLines(NamedTuple):
    """Scores of the last antidiagonals: item y of a row is the cell of column y; int16 or int32.

    `Best` is a cell's score, `Gap` the best score that a gap from the cell can continue.

    Attributes
    ----------
    best : (6, columns + SPARE), Best of the last six antidiagonals
    gap : (2, columns + SPARE), Gap of the last two antidiagonals
    most : (32,), the largest Best so far in each lane of a vector
    numbers : (32,), 0 to 31
    none : (2,), the value of -inf, and the least value of Best
    """

    best: NumpyArray
    gap: NumpyArray
    most: NumpyArray
    numbers: NumpyArray
    none: NumpyArray


def best_score(rows: PackedBases, columns: PackedBases, costs: GapCosts) -> int:
    """Return the best score of an alignment of two packed sequences, over all matrix cells."""
    n_columns = columns.bases // 4
    words = np.zeros(rows.bases + 2 * n_columns + SPARE, np.uint8)
    target = np.zeros(n_columns + SPARE, np.uint8)
    target[1 : n_columns + 1] = columns.data[:n_columns]
    reverse_words(rows.data, rows.bases, n_columns, words)
    if costs.local or -4 * min(rows.bases // 4, n_columns) > LEAST_16:
        lines = _lines(n_columns, np.int16, costs.local)
        found = fill_lines(words, target, rows.bases, costs, lines)
        if found < MOST_16:
            return int(found)
    lines = _lines(n_columns, np.int32, costs.local)
    return int(fill_lines(words, target, rows.bases, costs, lines))


def _lines(n_columns: int, kind: type[np.int16] | type[np.int32], local: int) -> GapLines:
    none = NONE_16 if kind is np.int16 else NONE_32
    least = 0 if local else none

    def filled(n: int, value: int) -> NumpyArray:
        return np.full((n, n_columns + SPARE), value, kind)

    most, numbers = np.zeros(CELLS, kind), np.arange(CELLS, dtype=kind)
    return GapLines(filled(6, 0), filled(2, none), most, numbers, np.array([none, least], kind))


@jit
def reverse_words(data: Bytes, n_rows: int, n_columns: int, words: Bytes) -> None:
    """Write the 4-mer that ends at base x to words[n_columns + n_rows - x], for all rows x.

    So on an antidiagonal, where y ascends as x falls, both sequences ascend.
    """
    for x in range(4, n_rows + 1):
        words[n_columns + n_rows - x] = four_bases(data, x - 4)


@jit
def fill_lines(words: Bytes, target: Bytes, n_rows: int, costs: GapCosts, lines: GapLines) -> int:
    """Compute all antidiagonals; return the best score, or MOST_16 or more if int16 may overflow.

    Parameters
    ----------
    words : (n_rows + 2 n_columns + SPARE,) uint8, 4-mer that ends at each row, reversed
    target : (n_columns + SPARE,) uint8, bytes of four bases, from index 1 on
    """
    n_columns = target.size - SPARE
    is_short = lines.most.itemsize == 2
    for step in range(1, n_rows + n_columns + 1):
        low, end = max(1, step - n_rows), min(n_columns, step - 4) + 1  # rows of 4 and more
        _do_line(words, target, (low, end, step, n_rows + n_columns - step), costs, lines)
        for x in range(max(0, step - n_columns), min(3, step - 1, n_rows) + 1):
            _set_border(lines, step, step - x, 0 if x == 0 else lines.none[1])
        if is_short and step % LOOKS == 0 and lines.most.max() >= MOST_16:
            return MOST_16
    return int(lines.most.max())


@jit(inline=True, part=True)
def _set_border(lines: GapLines, step: int, y: int, best: int) -> None:
    """Set score and gap of the cell in column y of antidiagonal `step`, in rows 0 to 3."""
    lines.best[step % 6, y] = best
    lines.gap[step & 1, y] = lines.none[0]


@jit(part=True)
def _do_line(
    words: Bytes, target: Bytes, line: tuple[int, int, int, int], costs: GapCosts, lines: GapLines
) -> None:
    """Compute an antidiagonal's cells of rows 4 and more.

    Padding overwrites cells of rows 0 to 3.
    """
    low, end, step, at = line
    best, source = lines.best[step % 6], lines.best[(step + 1) % 6]
    gap, gap_before = lines.gap[step & 1], lines.gap[1 - (step & 1)]
    opened, longer = costs.gap_open + costs.gap_extend, costs.gap_extend
    most, numbers = load(lines.most, 0, _CELLS), load(lines.numbers, 0, _CELLS)
    for y in range(low, end, CELLS):
        unequal = load(words, at + y, _CELLS) ^ load(target, y, _CELLS)
        unequal = (unequal | logical_shift_right(unequal, 1)) & 0x55
        unequal = (unequal & 0x33) + (logical_shift_right(unequal, 2) & 0x33)
        unequal = (unequal + logical_shift_right(unequal, 4)) & 7
        loss = resize_to(unequal, source) * costs.factor
        scored = load(source, y - 1, _CELLS) + 4 - loss
        high = load(gap_before, y - 1, _CELLS) - 3 * longer
        high = maximum(load(gap_before, y, _CELLS), high)
        found = maximum(maximum(scored, high), lines.none[1])
        store(gap, y, maximum(scored - opened, high - longer))
        store(best, y, found)
        most = maximum(most, select(numbers < end - y, found, 0))
    store(lines.most, 0, most)
