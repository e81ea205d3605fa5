"""Local alignment of many pairs at once, one pair per vector lane (Rognes, 2011).

Gotoh's recurrence (1982) in saturating unsigned integers: where H is clamped at 0, gaps below 0
have no effect. A strip of four columns runs down all rows, with its F and H in registers. Column
and row of the highest score are found afterwards: of a run of strips each lane's best one is
computed again, all lanes together. Tracking the rows of maxima in the strip itself takes twice as
many registers, and half as many instructions again, most of them spills.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gangsaw.codecs.core.arrays import Bytes, UInt16s
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.integers import (
    any_lane,
    load,
    select,
    spread,
    store,
    subtract_saturated,
    unsigned_maximum,
)

COLUMNS = 4  # columns of a strip: with eight, vectors spill
RUN_BYTES = 1 << 20  # borders of strips in memory: fits the L2 cache
LEAST_RUN, MOST_RUN = 8, 200  # strips: few are computed again, and their numbers fit 8 bits
CHUNK = 256  # rows whose numbers fit 8 bits; the chunk's number is another vector
LaneItems: TypeAlias = "Bytes | UInt16s"


class PairLanes(NamedTuple):
    """Pairs of sequences, interleaved for SIMD: item i * lanes + k belongs to pair k.

    All arrays are uint8 or all uint16. A strip is four columns of the matrix; a run is some
    consecutive strips.

    Attributes
    ----------
    queries, targets : (rows * lanes,), (columns * lanes,) codes; bases other than ACGT and padding
        behind the end have codes that the other sequence lacks; columns is a multiple of 4
    before, gap : ((strips + 2) * rows * lanes,) scratch: H of the previous column and E of the next
        one at the left border of each strip in a run, then those of recomputed strips
    codes : (4 * lanes,) scratch: target codes of recomputed strips
    best : (6 * lanes,) results: score, row, chunk of rows, column modulo and over 256; then
        scratch: number of the strip in a run with a higher score
    """

    queries: LaneItems
    targets: LaneItems
    before: LaneItems
    gap: LaneItems
    codes: LaneItems
    best: LaneItems


@jit(inline=True, part=True, norefs=True)
def _cell(diagonal: Any, gap_above: Any, gap: Any, is_equal: Any, costs: Any) -> Any:
    """Return H, and E and F of the next cells (Gotoh, 1982).

    H = max(0, diagonal + score of the pair, E, F), E' = max(H - first, E - further), and F'
    likewise.
    """
    gained, mismatch, first, further, nothing = costs
    paired = subtract_saturated(diagonal + select(is_equal, gained, nothing), mismatch)
    here = unsigned_maximum(unsigned_maximum(paired, gap), gap_above)
    opened = subtract_saturated(here, first)
    gap = unsigned_maximum(opened, subtract_saturated(gap, further))
    return here, gap, unsigned_maximum(opened, subtract_saturated(gap_above, further))


@jit(inline=True, part=True, norefs=True)
def _strip(work: PairLanes, lanes: tuple[None, ...], at: int, bases: Any, costs: Any) -> Any:
    """Compute a strip of 4 columns and the left border of the next.

    Return each lane's best score.
    """
    n, size, nothing = len(lanes), work.queries.size, costs[4]
    f0, f1, f2, f3 = nothing, nothing, nothing, nothing
    above0, above1, above2, diagonal, most = nothing, nothing, nothing, nothing, nothing
    for i in range(0, size, n):
        base, left = load(work.queries, i, lanes), load(work.before, at + i, lanes)
        gap = load(work.gap, at + i, lanes)
        h0, gap, f0 = _cell(diagonal, f0, gap, base == bases[0], costs)
        h1, gap, f1 = _cell(above0, f1, gap, base == bases[1], costs)
        h2, gap, f2 = _cell(above1, f2, gap, base == bases[2], costs)
        h3, gap, f3 = _cell(above2, f3, gap, base == bases[3], costs)
        most = unsigned_maximum(unsigned_maximum(most, h0), h1)
        most = unsigned_maximum(unsigned_maximum(most, h2), h3)
        diagonal, above0, above1, above2 = left, h0, h1, h2
        store(work.before, at + size + i, h3)
        store(work.gap, at + size + i, gap)
    return most


@jit(inline=True, part=True, norefs=True)
def _column(state: Any, cell: Any, is_equal: Any, costs: Any, row: Any) -> Any:
    """Compute a cell as `_cell`; return H, E, and the column's F, maximum and its first row."""
    diagonal, gap = cell
    here, gap, gap_above = _cell(diagonal, state[0], gap, is_equal, costs)
    higher = unsigned_maximum(state[1], here)
    return here, gap, (gap_above, higher, select(higher == state[1], state[2], row))


@jit(inline=True, part=True, norefs=True)
def _rows(
    work: PairLanes, lanes: tuple[None, ...], part: Any, bases: Any, columns: Any, costs: Any
) -> Any:
    """Compute some rows of a strip of 4 columns; return H above the next row, and column states."""
    first, end, strip, corner = part
    n = len(lanes)
    c0, c1, c2, c3 = columns
    diagonal, above0, above1, above2, one = corner
    row = one ^ one
    for i in range(first * n, end * n, n):
        base, left = load(work.queries, i, lanes), load(work.before, strip + i, lanes)
        gap = load(work.gap, strip + i, lanes)
        h0, gap, c0 = _column(c0, (diagonal, gap), base == bases[0], costs, row)
        h1, gap, c1 = _column(c1, (above0, gap), base == bases[1], costs, row)
        h2, gap, c2 = _column(c2, (above1, gap), base == bases[2], costs, row)
        _, gap, c3 = _column(c3, (above2, gap), base == bases[3], costs, row)
        diagonal, above0, above1, above2 = left, h0, h1, h2
        row = row + one
    return (diagonal, above0, above1, above2, one), (c0, c1, c2, c3)


@jit(inline=True, part=True, norefs=True)
def _chunks_of(old: Any, new: Any, chunks: Any, number: Any) -> Any:
    """Return for each of 4 columns the number of the chunk of rows that has the column's maximum.

    It is `number`, the current chunk, if the maximum rose from `old` to `new`.
    """
    return (
        select(old[0][1] == new[0][1], chunks[0], number),
        select(old[1][1] == new[1][1], chunks[1], number),
        select(old[2][1] == new[2][1], chunks[2], number),
        select(old[3][1] == new[3][1], chunks[3], number),
    )


@jit(inline=True, part=True, norefs=True)
def _keep(work: PairLanes, lanes: tuple[None, ...], column: Any, chunk: Any, number: int) -> None:
    """Store score and position of a column's maximum in the lanes where it exceeds earlier ones.

    Parameters
    ----------
    column : E, maximum and row of the maximum, of each lane
    chunk : number of the maximum's chunk of rows
    number : number of the column in each lane's strip
    """
    n, best = len(lanes), work.best
    most = load(best, 0, lanes)
    higher = unsigned_maximum(most, column[1])
    is_old = higher == most
    store(best, 0, higher)
    store(best, n, select(is_old, load(best, n, lanes), column[2]))
    store(best, 2 * n, select(is_old, load(best, 2 * n, lanes), chunk))
    low = load(work.codes, 0, lanes) + number
    high = load(work.codes, n, lanes)
    store(best, 3 * n, select(is_old, load(best, 3 * n, lanes), low))
    store(best, 4 * n, select(is_old, load(best, 4 * n, lanes), high))


@jit(inline=True, part=True, norefs=True)
def _load_bases(codes: LaneItems, lanes: tuple[None, ...], at: int) -> Any:
    n = len(lanes)
    return (
        load(codes, at, lanes),
        load(codes, at + n, lanes),
        load(codes, at + 2 * n, lanes),
        load(codes, at + 3 * n, lanes),
    )


@jit(inline=True, part=True, norefs=True)
def _strip_of(work: PairLanes, n: int, k: int) -> Any:
    """Return the index in its run of the strip with lane k's new highest score; 0 without one."""
    return max(np.int64(work.best[5 * n + k]) - 1, 0)


@jit(inline=True, part=True, norefs=True)
def _take(work: PairLanes, n: int, first: int, again: int) -> None:
    """Copy each lane's best strip of a run to one strip of scratch, where it is recomputed."""
    size = work.queries.size
    for k in range(n):
        strip = _strip_of(work, n, k)
        to, of = np.uint64(again + k), np.uint64(strip * size + k)
        for _ in range(0, size, n):
            work.before[to], work.gap[to] = work.before[of], work.gap[of]
            to, of = to + np.uint64(n), of + np.uint64(n)
        for i in range(COLUMNS):
            work.codes[i * n + k] = work.targets[((first + strip) * COLUMNS + i) * n + k]


@jit(inline=True, part=True, norefs=True)
def _number(work: PairLanes, n: int, first: int) -> None:
    """Replace scratch `codes` by the first column of each lane's best strip, mod and over 256."""
    for k in range(n):
        column = (first + _strip_of(work, n, k)) * COLUMNS
        work.codes[k], work.codes[n + k] = column & 255, column >> 8


@jit(inline=True, part=True, norefs=True)
def _locate_best(
    work: PairLanes, lanes: tuple[None, ...], first: int, again: int, costs: Any
) -> None:
    """Find row and column of each lane's new highest score: recompute the strip that has it."""
    n, rows, nothing = len(lanes), work.queries.size // len(lanes), costs[4]
    _take(work, n, first, again)
    bases = _load_bases(work.codes, lanes, 0)
    _number(work, n, first)
    column = (nothing, nothing, nothing)
    columns = (column, column, column, column)
    corner = (nothing, nothing, nothing, nothing, spread(1, work.best, lanes))
    chunks = (nothing, nothing, nothing, nothing)
    for begin in range(0, rows, CHUNK):
        part = (begin, min(begin + CHUNK, rows), again, corner)
        old = columns
        corner, columns = _rows(work, lanes, part, bases, columns, costs)
        chunks = _chunks_of(old, columns, chunks, spread(begin >> 8, work.best, lanes))
    _keep(work, lanes, columns[0], chunks[0], 0)
    _keep(work, lanes, columns[1], chunks[1], 1)
    _keep(work, lanes, columns[2], chunks[2], 2)
    _keep(work, lanes, columns[3], chunks[3], 3)


@jit(norefs=True)
def local_lanes(
    work: PairLanes, lanes: tuple[None, ...], scores: tuple[int, int, int, int]
) -> None:
    """Find score and end of each lane's best local alignment.

    Of equal scores the end has the lowest column, then the lowest row. A score equal to the largest
    integer may be too low. `best` and the first borders must be zeros.

    Parameters
    ----------
    lanes : number of lanes, a `static`
    scores : match, mismatch penalty, cost of a gap's first and further bases
    """
    n, size = len(lanes), work.queries.size
    strips = work.targets.size // (COLUMNS * n)
    run = min(work.before.size // size - 2, MOST_RUN)
    nothing = spread(0, work.best, lanes)
    costs = (
        spread(scores[0] + scores[1], work.best, lanes),
        spread(scores[1], work.best, lanes),
        spread(scores[2], work.best, lanes),
        spread(scores[3], work.best, lanes),
        nothing,
    )
    for first in range(0, strips, run):
        most, where = load(work.best, 0, lanes), nothing
        for strip in range(min(run, strips - first)):
            bases = _load_bases(work.targets, lanes, (first + strip) * COLUMNS * n)
            higher = unsigned_maximum(most, _strip(work, lanes, strip * size, bases, costs))
            where = select(higher == most, where, spread(strip + 1, work.best, lanes))
            most = higher
        store(work.best, 5 * n, where)
        if any_lane(unsigned_maximum(where, nothing + 1) == where):
            _locate_best(work, lanes, first, (run + 1) * size, costs)
        for i in range(0, size, n):
            store(work.before, i, load(work.before, run * size + i, lanes))
            store(work.gap, i, load(work.gap, run * size + i, lanes))


@jit(inline=True, part=True, norefs=True)
def carve_lanes(work: PairLanes, rows: int, columns: int, n: int) -> PairLanes:
    """Return a `PairLanes` for fewer rows and columns, in the memory of a larger one."""
    size, strips = rows * n, columns // COLUMNS
    borders = min(work.before.size // size, strips + 2) * size
    made = PairLanes(
        work.queries[:size],
        work.targets[: columns * n],
        work.before[:borders],
        work.gap[:borders],
        work.codes,
        work.best,
    )
    made.before[:size] = 0  # the rest is written before it is read
    made.gap[:size] = 0
    made.best[:] = 0
    return made


def scratch(rows: int, columns: int, lanes: int, item: type) -> PairLanes:
    """Return a `PairLanes` of that size, as memory for `carve_lanes`.

    The memory is left unwritten: first access to new pages takes as long as the strips.
    """
    run = RUN_BYTES // (2 * rows * lanes * np.dtype(item).itemsize)
    run = min(max(run, LEAST_RUN), MOST_RUN, columns // COLUMNS)
    sizes = rows, columns, (run + 2) * rows, (run + 2) * rows, COLUMNS, 6
    return PairLanes(*(np.empty(size * lanes, item) for size in sizes))
