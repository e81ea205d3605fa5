"""Alignment of one pair by strips of rows, one row per lane, on antidiagonals (Wozniak, 1997).

Neighbouring cells differ by at most the match score + the cost of a gap's first base. So lanes have
16-bit differences to a nearby base value, which changes with each block of steps, and scores of any
size are exact.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from gangsaw.codecs.core.arrays import Bytes, Int16s, Int32s, Int64s
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.integers import (
    any_lane,
    load,
    maximum,
    resize_to,
    select,
    spread,
    store,
)
from gangsaw.codecs.core.numba.vectors.logic import both
from gangsaw.codecs.core.numba.vectors.shift import push_lane, signed_last_lane

BLOCK = 512  # steps between two changes of the base value of the lanes
LARGEST_16 = 30000  # relative score: additions before a maximum stay within 16 bits
SCORE, ROW, COLUMN = range(3)  # items of `StripTile.found`
FOUND = 3
PAIRED, DELETED, INSERTED, DELETION_GOES_ON, INSERTION_GOES_ON = 0, 1, 2, 4, 8  # bits of marks
StripItems: TypeAlias = "Int16s | Int32s"


class StripTile(NamedTuple):
    """Part (tile) of the alignment matrix, computed by strips of one row per SIMD lane.

    H and gap scores at its borders are replaced as strips advance.

    Attributes
    ----------
    query : (rows,) codes, 16 or 32 bits; rows is a multiple of the lanes
    target : (columns + 2 * lanes,) codes of the target, reversed, from index `lanes` on
    top, top_gap : (columns + 1,), (columns,) int32, H of the row above, from the diagonal on, and F
    left, left_gap : (rows,) int32, H of the previous column, and E
    near, near_gap : (BLOCK,) scratch of the dtype of query: top and top_gap as relative scores
    lane : (8 * lanes,) same dtype: lane numbers, then H and E that
        enter and leave each row, and its best score with its step
    found : (FOUND,) int64, the best score of local alignment so far, its row and its column
    marks : (strips * (columns + lanes - 1) * lanes,) uint8, source of each cell, or empty
    """

    query: StripItems
    target: StripItems
    top: Int32s
    top_gap: Int32s
    left: Int32s
    left_gap: Int32s
    near: StripItems
    near_gap: StripItems
    lane: StripItems
    found: Int64s
    marks: Bytes


class StripRun(NamedTuple):
    """Parameters of all strips; flags are `static` 1 or 0.

    Attributes
    ----------
    is_local, has_marks : flags: cells are clamped at 0, and marks are written
    has_positions : flag: the steps of the highest scores are recorded, too
    most : every relative score lies in -most..most
    scores : match, mismatch penalty, cost of a gap's first and further bases
    column : column of the whole target where the tile begins
    row : row of the whole query where the tile begins
    """

    is_local: tuple[None, ...]
    has_marks: tuple[None, ...]
    has_positions: tuple[None, ...]
    most: int
    scores: tuple[int, int, int, int]
    column: int
    row: int


@jit(inline=True, part=True, norefs=True)
def _step(state: Any, is_equal: Any, costs: Any, run: StripRun) -> Any:
    """Compute the cells of one antidiagonal; return H, and E and F of the next cells (Gotoh, 1982).

    H = max(diagonal + score of the pair, E, F), and at least 0 if local; E' = max(H - first, E -
    further), and F' likewise.
    """
    diagonal, gap, gap_above = state
    match, mismatch, first, further, zero = costs
    here = maximum(maximum(diagonal + select(is_equal, match, mismatch), gap), gap_above)
    if len(run.is_local):
        here = maximum(here, zero)
    opened = here - first
    return here, maximum(opened, gap - further), maximum(opened, gap_above - further)


@jit(inline=True, part=True, norefs=True)
def _mark(tile: StripTile, at: int, state: Any, here: Any, costs: Any) -> None:
    """Write the source of each cell's score, of one antidiagonal, for the traceback."""
    diagonal, gap, gap_above, paired = state
    first, further = costs[2], costs[3]
    nothing, opened = first ^ first, here - first
    source = select(here == gap, nothing + DELETED, nothing + INSERTED)
    source = select(here == diagonal + paired, nothing + PAIRED, source)
    source = source | select(gap - further > opened, nothing + DELETION_GOES_ON, nothing)
    source = source | select(gap_above - further > opened, nothing + INSERTION_GOES_ON, nothing)
    store(tile.marks, at, resize_to(source, tile.marks))


@jit(inline=True, part=True, norefs=True)
def _enter_columns(tile: StripTile, first: int, end: int, base: int) -> None:
    """Convert H and F of the row above, of columns first..end - 1, to scores relative to `base`."""
    for k in range(first, end):
        tile.near[k - first] = tile.top[k + 1] - base
        tile.near_gap[k - first] = tile.top_gap[k] - base


@jit(inline=True, part=True, norefs=True)
def _enter_rows(tile: StripTile, row: int, n: int, base: int) -> None:
    """Convert H and E of the column to the left of n rows to scores relative to `base`."""
    for k in range(n):
        before = tile.left[row + k - 1] if k else tile.top[0]
        tile.lane[n + k] = before - base
        tile.lane[2 * n + k] = tile.left_gap[row + k] - base


@jit(inline=True, part=True, norefs=True)
def _leave_rows(tile: StripTile, row: int, n: int, part: tuple[int, int, int]) -> None:
    """Write H and E of the last column, of the rows that reach it in a block of antidiagonals."""
    first, end, base = part
    for k in range(max(first, 0), min(end, n)):
        tile.left[row + k] = tile.lane[3 * n + k] + base
        tile.left_gap[row + k] = tile.lane[4 * n + k] + base


@jit(inline=True, part=True, norefs=True)
def _find(tile: StripTile, row: int, n: int, place: tuple[int, int, int]) -> None:
    """Update the best cell so far from the lanes' maxima in a block of antidiagonals.

    Of equal scores it has the lowest column, then the lowest row.
    """
    first, base, column = place
    for k in range(n):
        score = tile.lane[5 * n + k] + base
        at = column + first + tile.lane[6 * n + k] - k
        best, best_at = tile.found[SCORE], tile.found[COLUMN]
        is_before = at < best_at or (at == best_at and row + k < tile.found[ROW])
        if score > best or (score == best and is_before):
            tile.found[SCORE], tile.found[ROW], tile.found[COLUMN] = score, row + k, at


@jit(inline=True, part=True, norefs=True)
def _steps(
    tile: StripTile,
    lanes: tuple[None, ...],
    run: StripRun,
    block: tuple[int, int, int, int],
    state: Any,
    costs: Any,
) -> Any:
    """Compute a block of antidiagonals; return lane states, best scores and their antidiagonals."""
    first, end, base, row = block
    n, columns = len(lanes), tile.top_gap.size
    diagonal, here, gap, gap_above = state
    nothing = costs[0] ^ costs[0]
    lane, query = load(tile.lane, 0, lanes), load(tile.query, row, lanes)
    most, at, step, kept, kept_gap = nothing - run.most, nothing, nothing, nothing, nothing
    for s in range(first, end):
        is_edge = s < n or s >= columns - 1
        if is_edge:
            entering = lane == min(s, n)
            diagonal = select(entering, load(tile.lane, n, lanes), diagonal)
            gap = select(entering, load(tile.lane, 2 * n, lanes), gap)
        gap_above = push_lane(gap_above, tile.near_gap[s - first])
        is_equal = query == load(tile.target, columns + n - 1 - s, lanes)
        state, before = (diagonal, gap, gap_above), here
        here, gap, gap_above = _step(state, is_equal, costs, run)
        if len(run.has_marks):
            paired = select(is_equal, costs[0], costs[1])
            marked = state[0], state[1], state[2], paired
            _mark(tile, (row // n * (columns + n - 1) + s) * n, marked, here, costs)
        if is_edge:
            leaving = lane == max(s - columns + 1, -1)
            kept, kept_gap = select(leaving, here, kept), select(leaving, gap, kept_gap)
        if len(run.is_local):
            seen = here
            if is_edge:
                inside = both(lane < min(s + 1, n), lane > max(s - columns, -1))
                seen = select(inside, here, nothing - run.most)
            higher = maximum(most, seen)
            if len(run.has_positions):
                at, step = select(higher == most, at, step), step + 1
            most = higher
        diagonal = push_lane(before, tile.near[s - first])
        if s >= n - 1:
            tile.top[s - n + 2] = signed_last_lane(here) + base
            tile.top_gap[s - n + 1] = signed_last_lane(gap_above) + base
    store(tile.lane, 3 * n, kept)
    store(tile.lane, 4 * n, kept_gap)
    return (diagonal, here, gap, gap_above), most, at


@jit(inline=True, part=True, norefs=True)
def _with_positions(run: StripRun) -> StripRun:
    yes = run.is_local
    return StripRun(yes, run.has_marks, yes, run.most, run.scores, run.column, run.row)


@jit(inline=True, part=True, norefs=True)
def _strip(tile: StripTile, lanes: tuple[None, ...], run: StripRun, row: int) -> None:
    n, columns, base = len(lanes), tile.top_gap.size, 0
    corner = tile.left[row + n - 1]
    nothing = spread(0, tile.lane, lanes)
    match, mismatch = nothing + run.scores[0], nothing - run.scores[1]
    opening, further = nothing + run.scores[2], nothing + run.scores[3]
    state = nothing, nothing, nothing, nothing
    for first in range(0, columns + n - 1, BLOCK):
        end = min(first + BLOCK, columns + n - 1)
        moved = tile.top[min(first, columns)] - base
        base += moved
        _enter_columns(tile, first, min(end, columns), base)
        if first == 0:
            _enter_rows(tile, row, n, base)
        costs = match, mismatch, opening, further, nothing + max(-base, -run.most)
        state = state[0] - moved, state[1] - moved, state[2] - moved, state[3] - moved
        block = first, end, base, row
        made, most, _ = _steps(tile, lanes, run, block, state, costs)
        _leave_rows(tile, row, n, (first - columns + 1, end - columns + 1, base))
        limit = min(max(tile.found[SCORE] - 1 - base, -run.most), run.most)
        if len(run.is_local) and any_lane(most > limit):
            # compute the block again: recording all positions of maxima takes a tenth of the time
            again = _with_positions(run)
            _, most, at = _steps(tile, lanes, again, block, state, costs)
            store(tile.lane, 5 * n, most)
            store(tile.lane, 6 * n, at)
            _find(tile, run.row + row, n, (first, base, run.column))
        state = made
    tile.top[0] = corner


@jit(norefs=True)
def forward(tile: StripTile, lanes: tuple[None, ...], run: StripRun) -> None:
    """Compute all cells of a tile; its borders become those of the tiles below and to the right."""
    n = len(lanes)
    for k in range(n):
        tile.lane[k] = k
    for row in range(0, tile.query.size, n):
        _strip(tile, lanes, run, row)
