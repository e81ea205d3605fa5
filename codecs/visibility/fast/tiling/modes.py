"""Modes of `fast`, predictor and grids, and their choice from sampled tiles (SPEC.md, fast)."""

from __future__ import annotations

from gangsaw.codecs.core.arrays import Int64s, NumpyArray
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.integers import Vector, load, minimum, store, value_of
from gangsaw.codecs.visibility.fast.tiling.groups import (
    LaneColumn,
    exponent_group,
    extremes,
    grid_group,
    narrower,
    residual_width,
)
from gangsaw.codecs.visibility.fast.tiling.scratch import Extents, TileScratch
from gangsaw.codecs.visibility.lanes.table import LANES, ROWS

LORENZO, FREQUENCY, TIME = 1, 2, 3  # predictors of a mode; the last two are second differences
WITH_GRIDS = 4  # added to the predictor
MODES = 8
# step between sampled tiles, if less than n_tiles // FEW; that step gives about FEW tiles
SAMPLED, FEW = 8, 4
FIRST_SAMPLED = 3
GAIN = 16  # a mode must save one GAIN-th of the bits, as it takes time


@jit(inline=True, part=True, norefs=True)
def used_lanes(tile: int, extents: Extents) -> int:
    """Return the lanes of a tile with words; in the last strip, lanes after them are all 0."""
    is_last = tile * ROWS >= extents.n_rows - extents.n_strip_rows
    return extents.n_series % LANES or LANES if is_last else LANES


@jit(inline=True, part=True, norefs=True)
def set_neighbours(tile: int, predictor: int, extents: Extents, neighbours: Int64s) -> None:
    """Fill the offsets of the three words that predict each row: first plus second minus third.

    A missing neighbour is in the row of zeros. Padding rows are predicted by the last row.
    """
    n_times, n_rows = extents.n_times, extents.n_rows
    zeros = -(-n_rows // ROWS) * ROWS
    row = tile * ROWS % extents.n_strip_rows
    time = row % n_times
    first_time, first_row, back = _inner(predictor, n_times)
    for i in range(ROWS):
        here = tile * ROWS + i
        places = here - back[0], here - back[1], here - back[2]
        if here >= n_rows:
            places = n_rows - 1, zeros, zeros
        elif time < first_time or row < first_row:
            places = _at_border(here, row, time, n_times, zeros, predictor)
        neighbours[3 * i] = places[0] * LANES
        neighbours[3 * i + 1] = places[1] * LANES
        neighbours[3 * i + 2] = places[2] * LANES
        row, time = row + 1, time + 1
        if time == n_times:
            time = 0
        if row == extents.n_strip_rows:
            row = 0


@jit(inline=True, part=True, norefs=True)
def _inner(predictor: int, n_times: int) -> tuple[int, int, tuple[int, int, int]]:
    """Return the first time and row that have all neighbours, and how many rows back these lie."""
    if predictor == LORENZO:
        return 1, n_times, (1, n_times, n_times + 1)
    if predictor == FREQUENCY:
        return 0, 2 * n_times, (n_times, n_times, 2 * n_times)
    return 2, 0, (1, 1, 2)


@jit(inline=True, part=True, norefs=True)
def _at_border(
    here: int, row: int, time: int, n_times: int, zeros: int, predictor: int
) -> tuple[int, int, int]:
    earlier = here - 1 if time > 0 else zeros
    lower = here - n_times if row >= n_times else zeros
    if predictor == LORENZO:
        return earlier, lower, zeros
    if predictor == FREQUENCY:
        return lower if row >= n_times else earlier, zeros, zeros
    return earlier if time > 0 else lower, zeros, zeros


@jit(inline=True, part=True, norefs=True)
def _second_predictor(extents: Extents) -> int:
    """Return the second predictor to try, after Lorenzo."""
    return FREQUENCY if extents.n_strip_rows > 2 * extents.n_times else TIME


@jit(inline=True, part=True, norefs=True)
def try_modes(table: NumpyArray, extents: Extents, scratch: TileScratch) -> None:
    """Sum the group widths of sampled tiles under each mode, in `scratch.totals`."""
    n_tiles = -(-extents.n_rows // ROWS)
    scratch.totals[:] = 0
    step = max(SAMPLED, n_tiles // FEW)
    for tile in range(min(FIRST_SAMPLED, n_tiles - 1), n_tiles, step):
        _try_kinds(table, tile, used_lanes(tile, extents), scratch)
        for predictor in (LORENZO, _second_predictor(extents)):
            _try_predictor(table, tile, predictor, extents, scratch)


@jit(inline=True, part=True, norefs=True)
def cheapest(totals: NumpyArray, extents: Extents, lanes: tuple[None, ...]) -> int:
    """Return the mode with the fewest bits in the sampled tiles, from `try_modes`'s totals."""
    best, least = 0, GAIN * _sum_of_lanes(totals, 0, lanes)
    second = _second_predictor(extents)
    for mode in range(1, MODES):
        if mode % WITH_GRIDS in (0, LORENZO, second):
            cost = (GAIN + 1) * _sum_of_lanes(totals, mode, lanes)
            if cost < least:
                best, least = mode, cost
    return best


@jit(inline=True, part=True, norefs=True)
def _try_kinds(table: NumpyArray, tile: int, used: int, scratch: TileScratch) -> None:
    """Add the group widths of a tile without prediction to the totals; store each lane's, too."""
    rows, totals, lanes = scratch.rows, scratch.totals, scratch.lanes
    for lane in range(0, used, value_of(lanes)):
        at = tile * ROWS * LANES + lane
        least, most = extremes(table, at, rows, lanes)
        group = exponent_group(least, most, table, rows, lanes)
        grid = grid_group(table, at, most, rows, lanes)
        for grids in (0, 1):
            width = narrower(group, grid).width if grids else group.width
            store(totals, MODES * value_of(lanes) + LANES * grids + lane, width)
            _add_cost(totals, WITH_GRIDS * grids, width, lanes)


@jit(inline=True, part=True, norefs=True)
def _try_predictor(
    table: NumpyArray, tile: int, predictor: int, extents: Extents, scratch: TileScratch
) -> None:
    totals, lanes = scratch.totals, scratch.lanes
    set_neighbours(tile, predictor, extents, scratch.neighbours)
    for lane in range(0, used_lanes(tile, extents), value_of(lanes)):
        column = LaneColumn(lane, tile * ROWS * LANES + lane)
        residual = residual_width(table, column, scratch)
        for grids in (0, 1):
            width = load(totals, MODES * value_of(lanes) + LANES * grids + lane, lanes)
            width = minimum(width, residual)
            _add_cost(totals, WITH_GRIDS * grids + predictor, width, lanes)


@jit(inline=True, part=True, norefs=True)
def _add_cost(totals: NumpyArray, mode: int, width: Vector, lanes: tuple[None, ...]) -> None:
    at = mode * value_of(lanes)
    store(totals, at, load(totals, at, lanes) + width)


@jit(inline=True, part=True, norefs=True)
def _sum_of_lanes(totals: NumpyArray, mode: int, lanes: tuple[None, ...]) -> int:
    total = 0
    for lane in range(value_of(lanes)):
        total += int(totals[mode * value_of(lanes) + lane])
    return total
