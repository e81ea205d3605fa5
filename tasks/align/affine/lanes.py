"""Local alignment of many pairs at once, one pair to a lane of vectors (Rognes, 2011).

Gotoh's recurrence (1982) in numbers without sign that saturate at 0: where H is clamped at 0, gaps
below 0 have no effect. A strip of four columns goes down all rows, its F and H in registers. Of
each column the first row with its maximum is kept, so that the end is known exactly.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.numba.jit import jit_norefs, jit_norefs_inline
from gangsaw.codecs.core.numba.vectors.integers import (
    load,
    select,
    spread,
    store,
    unsigned_maximum,
)

COLUMNS = 4  # of a strip: with eight, vectors spill
CHUNK = 256  # rows whose number fits 8 bits; their chunk's number is another vector


class PairLanes(NamedTuple):
    """Pairs side by side: item i * lanes + k is of pair k. All of one type, 8 or 16 bits.

    Attributes
    ----------
    queries, targets : (rows * lanes,), (columns * lanes,) codes; letters that match none, and what
        is behind the end, have codes that the other side does not have; columns is a multiple of 4
    before, gap : (rows * lanes,) scratch: H of the column before, E of the next one
    best : (5 * lanes,) found: score, row, chunk of rows, column modulo and over 256
    """

    queries: NDArray[Any]
    targets: NDArray[Any]
    before: NDArray[Any]
    gap: NDArray[Any]
    best: NDArray[Any]


@jit_norefs_inline
def _cell(diagonal: Any, above: Any, gap: Any, is_equal: Any, costs: Any, row: Any) -> Any:
    """Return H, E of the next column, and what is kept of the column: F, maximum and its row."""
    match, mismatch, first, further, zero = costs
    gap_above, most, at = above
    paired = unsigned_maximum(diagonal + select(is_equal, match, mismatch), zero)
    here = unsigned_maximum(unsigned_maximum(paired, gap), gap_above)
    opened = here - first
    gap = unsigned_maximum(opened, gap - further)
    gap_above = unsigned_maximum(opened, gap_above - further)
    higher = unsigned_maximum(most, here)
    return here, gap, (gap_above, higher, select(higher == most, at, row))


@jit_norefs_inline
def _rows(work: PairLanes, lanes: Any, part: Any, letters: Any, columns: Any, costs: Any) -> Any:
    """Go down some rows of a strip; return H of the row above the next one, and the columns."""
    first, end, corner = part
    n = len(lanes)
    c0, c1, c2, c3 = columns
    above0, above1, above2, above3, one = corner[1], corner[2], corner[3], corner[4], corner[5]
    diagonal, row = corner[0], one ^ one
    for i in range(first * n, end * n, n):
        base, left = load(work.queries, i, lanes), load(work.before, i, lanes)
        gap = load(work.gap, i, lanes)
        h0, gap, c0 = _cell(diagonal, c0, gap, base == letters[0], costs, row)
        h1, gap, c1 = _cell(above0, c1, gap, base == letters[1], costs, row)
        h2, gap, c2 = _cell(above1, c2, gap, base == letters[2], costs, row)
        h3, gap, c3 = _cell(above2, c3, gap, base == letters[3], costs, row)
        diagonal, above0, above1, above2, above3 = left, h0, h1, h2, h3
        store(work.before, i, h3)
        store(work.gap, i, gap)
        row = row + one
    return (diagonal, above0, above1, above2, above3, one), (c0, c1, c2, c3)


@jit_norefs_inline
def _chunks_of(old: Any, new: Any, chunks: Any, number: Any) -> Any:
    """Return the chunk of rows of each column's maximum, where this one has a higher one."""
    return (
        select(old[0][1] == new[0][1], chunks[0], number),
        select(old[1][1] == new[1][1], chunks[1], number),
        select(old[2][1] == new[2][1], chunks[2], number),
        select(old[3][1] == new[3][1], chunks[3], number),
    )


@jit_norefs_inline
def _keep(work: PairLanes, lanes: Any, column: Any, chunk: Any, number: int) -> None:
    """Keep the maximum of a column where it is higher than those before."""
    n, best = len(lanes), work.best
    most = load(best, 0, lanes)
    higher = unsigned_maximum(most, column[1])
    is_old = higher == most
    store(best, 0, higher)
    store(best, n, select(is_old, load(best, n, lanes), column[2]))
    store(best, 2 * n, select(is_old, load(best, 2 * n, lanes), chunk))
    low, high = spread(number & 255, best, lanes), spread(number >> 8, best, lanes)
    store(best, 3 * n, select(is_old, load(best, 3 * n, lanes), low))
    store(best, 4 * n, select(is_old, load(best, 4 * n, lanes), high))


@jit_norefs
def local_lanes(work: PairLanes, lanes: Any, scores: Any) -> None:
    """Find score and end of each lane's best local alignment; `lanes` is a `static`.

    Of equal scores the end has the lowest column, then the lowest row. A score that is the
    largest number may be too low. before, gap and best begin with zeros.
    """
    n = len(lanes)
    rows = work.queries.size // n
    nothing, one = spread(0, work.best, lanes), spread(1, work.best, lanes)
    zero = spread(scores[4], work.best, lanes)
    costs = (
        spread(scores[0], work.best, lanes),
        spread(-scores[1], work.best, lanes),
        spread(scores[2], work.best, lanes),
        spread(scores[3], work.best, lanes),
        zero,
    )
    for j in range(0, work.targets.size // n, 4):
        letters = (
            load(work.targets, j * n, lanes),
            load(work.targets, (j + 1) * n, lanes),
            load(work.targets, (j + 2) * n, lanes),
            load(work.targets, (j + 3) * n, lanes),
        )
        column = (zero, zero, nothing)
        columns = (column, column, column, column)
        corner = (zero, zero, zero, zero, zero, one)
        chunks = (nothing, nothing, nothing, nothing)
        for first in range(0, rows, 256):
            part = (first, min(first + 256, rows), corner)
            old = columns
            corner, columns = _rows(work, lanes, part, letters, columns, costs)
            chunks = _chunks_of(old, columns, chunks, spread(first >> 8, work.best, lanes))
        _keep(work, lanes, columns[0], chunks[0], j)
        _keep(work, lanes, columns[1], chunks[1], j + 1)
        _keep(work, lanes, columns[2], chunks[2], j + 2)
        _keep(work, lanes, columns[3], chunks[3], j + 3)


def scratch(rows: int, columns: int, lanes: int, item: type) -> PairLanes:
    """Return empty lanes of that size."""
    sizes = rows, columns, rows, rows, 5
    return PairLanes(*(np.zeros(size * lanes, item) for size in sizes))
