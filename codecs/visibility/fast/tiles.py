"""Tiles of "fast", 32 rows of 32 lanes: the choice of a mode, headers, planes (SPEC.md, fast)."""

from __future__ import annotations

from typing import Any

from gangsaw.codecs.core.numba.jit import jit_norefs, jit_norefs_inline, jit_norefs_part
from gangsaw.codecs.core.numba.simd import (
    any_lane,
    load,
    minimum,
    resize_to,
    select,
    spread,
    store,
    value_of,
)
from gangsaw.codecs.core.numba.simd_logic import logical_shift_right
from gangsaw.codecs.core.numba.tiles import NO, YES, copy_octets
from gangsaw.codecs.visibility.fast.groups import (
    EXPONENTS,
    GRID,
    PREDICTED,
    Column,
    Header,
    bit_length,
    exponent_group,
    extremes,
    grid_group,
    restore_values,
    store_residuals,
    store_values,
    width_of,
)
from gangsaw.codecs.visibility.fast.planes import PLANES, SLACK, load_planes, store_planes
from gangsaw.codecs.visibility.lanes.table import LANES, ROWS

HEAD_BYTES = 2  # kind, mode
LORENZO, FREQUENCY, TIME = 1, 2, 3  # predictors of a mode; the last two are second differences
WITH_GRIDS = 4  # added to the predictor
MODES = 8
SAMPLED, FEW = 8, 4  # one of so many tiles is tried, or about so many in all if they are less
FIRST_SAMPLED = 3
GAIN = 16  # a mode has to save one part of so many: it takes time
WRONG_SIZE, WRONG_MODE, WRONG_END, WRONG_KIND, WRONG_WIDTH = range(1, 6)


@jit_norefs
def encode_tiles(table: Any, extents: Any, scratch: Any, most: int, out: Any) -> int:
    """Write mode, headers and planes after the kind, return where they end. Once that is beyond
    `most`, the rest is left out: a vector's planes and SLACK are too much then.

    Parameters
    ----------
    table : rows of 32 words, flat; rows that fill up the last tile are there, then one of zeros
    extents, scratch : `Extents` and `Scratch` of fast/plan.py
    """
    n_tiles = -(-extents.n_rows // ROWS)
    mode = _mode(table, extents, n_tiles, scratch)
    out[1] = mode
    place: int = HEAD_BYTES + n_tiles * LANES * header_octets(table)
    for tile in range(n_tiles):
        header = HEAD_BYTES + tile * LANES * header_octets(table)
        if mode % WITH_GRIDS:
            set_neighbours(tile, mode % WITH_GRIDS, extents, scratch.neighbours)
        used = _used_lanes(tile, extents)
        for lane in range(0, used, value_of(scratch.lanes)):
            column = Column(lane, tile * ROWS * LANES + lane)
            place = _encode_columns(table, column, mode, scratch, out, header, place)
            if place > most:
                return place
        _write_empty(out, header, used, table, scratch.lanes)
    return place


@jit_norefs_inline
def _used_lanes(tile: int, extents: Any) -> int:
    """Lanes of a tile with words: after them, in the last strip, all are 0."""
    is_last = tile * ROWS >= extents.n_rows - extents.n_strip_rows
    return extents.n_series % LANES or LANES if is_last else LANES


@jit_norefs_inline
def _write_empty(out: Any, header: int, used: int, table: Any, lanes: Any) -> None:
    """Write headers for vectors of lanes without words: no planes, the kind "exponents"."""
    for octet in range(header_octets(table)):
        for lane in range(-(-used // value_of(lanes)) * value_of(lanes), LANES):
            out[header + octet * LANES + lane] = 0


@jit_norefs_inline
def header_octets(table: Any) -> int:
    """Bytes of the header of a group."""
    return 3 if width_of(table) == 64 else 2


@jit_norefs_inline
def _encode_columns(
    table: Any, column: Column, mode: int, scratch: Any, out: Any, place_of_header: int, place: int
) -> int:
    rows, lanes, at = scratch.rows, scratch.lanes, column.at
    least, most = extremes(table, at, rows, lanes)
    base, width = exponent_group(least, most, table, rows)
    kind = spread(EXPONENTS, rows, lanes)
    if mode & WITH_GRIDS:
        grid_base, grid_width = grid_group(table, at, most, rows, lanes)
        is_grid = grid_width < width
        base, width = select(is_grid, grid_base, base), select(is_grid, grid_width, width)
        kind = select(is_grid, GRID, kind)
    if mode % WITH_GRIDS:
        greatest = store_residuals(table, column, scratch)
        residual_width = bit_length(greatest, rows)
        is_predicted = residual_width < width
        base, width = select(is_predicted, 0, base), select(is_predicted, residual_width, width)
        kind = select(is_predicted, PREDICTED, kind)
    header = Header(width, kind, base)
    if any_lane(kind == GRID):
        if any_lane(kind == PREDICTED):
            store_values(table, column, header, scratch, YES, YES)
        else:
            store_values(table, column, header, scratch, YES, NO)
    elif any_lane(kind == PREDICTED):
        store_values(table, column, header, scratch, NO, YES)
    else:
        store_values(table, column, header, scratch, NO, NO)
    _write_header(out, place_of_header + column.lane, header, table)
    _set_counts(width, scratch.counts, rows)
    end: int = store_planes(scratch.columns, out, place, scratch.column_counts)
    return end


@jit_norefs_inline
def _write_header(out: Any, at: int, header: Header, table: Any) -> None:
    width, kind, base = header
    if width_of(table) == 64:
        store(out, at, resize_to(width, out))
        store(out, at + LANES, resize_to(base, out))
        store(out, at + 2 * LANES, resize_to(logical_shift_right(base, 8) | kind << 6, out))
    else:
        store(out, at, resize_to(width | kind << 6, out))
        store(out, at + LANES, resize_to(base, out))


@jit_norefs_inline
def _set_counts(width: Any, counts: Any, rows: Any) -> None:
    """Set the planes of each column: a word of 64 bits is two of them, the low one first."""
    if width_of(rows) == 64:
        low = minimum(width, PLANES)
        width = low | (width - low) << PLANES
    store(counts, 0, width)


@jit_norefs_inline
def set_neighbours(tile: int, predictor: int, extents: Any, neighbours: Any) -> None:
    """Set where the three words are of which each row's prediction is the sum, the last negative.

    Where there is none it is in the row of zeros; rows that fill up are as the last one.
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


@jit_norefs_inline
def _inner(predictor: int, n_times: int) -> tuple[int, int, tuple[int, int, int]]:
    """Return first time and first row that have all neighbours; how many rows back those are."""
    if predictor == LORENZO:
        return 1, n_times, (1, n_times, n_times + 1)
    if predictor == FREQUENCY:
        return 0, 2 * n_times, (n_times, n_times, 2 * n_times)
    return 2, 0, (1, 1, 2)


@jit_norefs_inline
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


@jit_norefs_inline
def _mode(table: Any, extents: Any, n_tiles: int, scratch: Any) -> int:
    """Return the mode under which the sampled tiles get shortest."""
    totals, lanes = scratch.totals, scratch.lanes
    second = FREQUENCY if extents.n_strip_rows > 2 * extents.n_times else TIME
    totals[:] = 0
    step = max(SAMPLED, n_tiles // FEW)
    for tile in range(min(FIRST_SAMPLED, n_tiles - 1), n_tiles, step):
        _try_kinds(table, tile, _used_lanes(tile, extents), scratch)
        for predictor in (LORENZO, second):
            _try_predictor(table, tile, predictor, extents, scratch)
    best, least = 0, GAIN * _total(totals, 0, lanes)
    for mode in range(1, MODES):
        if mode % WITH_GRIDS in (0, LORENZO, second):
            cost = (GAIN + 1) * _total(totals, mode, lanes)
            if cost < least:
                best, least = mode, cost
    return best


@jit_norefs_inline
def _try_kinds(table: Any, tile: int, used: int, scratch: Any) -> None:
    """Add up the widths of a tile without prediction; leave those of each lane behind the sums."""
    rows, totals, lanes = scratch.rows, scratch.totals, scratch.lanes
    for lane in range(0, used, value_of(lanes)):
        at = tile * ROWS * LANES + lane
        least, most = extremes(table, at, rows, lanes)
        _, width = exponent_group(least, most, table, rows)
        _, grid_width = grid_group(table, at, most, rows, lanes)
        for grids in (0, 1):
            width = select(grid_width < width, grid_width, width) if grids else width
            store(totals, MODES * value_of(lanes) + LANES * grids + lane, width)
            _add(totals, WITH_GRIDS * grids, width, lanes)


@jit_norefs_inline
def _try_predictor(table: Any, tile: int, predictor: int, extents: Any, scratch: Any) -> None:
    rows, totals, lanes = scratch.rows, scratch.totals, scratch.lanes
    set_neighbours(tile, predictor, extents, scratch.neighbours)
    for lane in range(0, _used_lanes(tile, extents), value_of(lanes)):
        column = Column(lane, tile * ROWS * LANES + lane)
        most = store_residuals(table, column, scratch)
        for grids in (0, 1):
            width = load(totals, MODES * value_of(lanes) + LANES * grids + lane, lanes)
            width = minimum(width, bit_length(most, rows))
            _add(totals, WITH_GRIDS * grids + predictor, width, lanes)


@jit_norefs_inline
def _add(totals: Any, mode: int, width: Any, lanes: Any) -> None:
    at = mode * value_of(lanes)
    store(totals, at, load(totals, at, lanes) + width)


@jit_norefs_inline
def _total(totals: Any, mode: int, lanes: Any) -> int:
    total = 0
    for lane in range(value_of(lanes)):
        total += int(totals[mode * value_of(lanes) + lane])
    return total


@jit_norefs
def decode_tiles(data: Any, behind: int, extents: Any, work: Any) -> int:
    """Fill a table; return 0, or why the payload is none, as `check` does.

    The planes of a tile are read up to SLACK bytes too far. Where these may not be read, tiles that
    end within SLACK bytes of the end are decoded from a copy with room: they are those bytes and a
    tile at most.

    Parameters
    ----------
    data, behind : a payload, and how many bytes after it may be read
    extents, work : `Extents` and `Work` of fast/plan.py
    """
    table, ends = work.table, work.ends
    n_tiles = -(-extents.n_rows // ROWS)
    wrong = check(data, n_tiles, table, ends)
    if wrong:
        return wrong
    zeros = n_tiles * ROWS * LANES
    table[zeros : zeros + LANES] = 0
    place = HEAD_BYTES + n_tiles * LANES * header_octets(table)
    near = n_tiles
    while behind < SLACK and near > 0 and ends[near - 1] + SLACK > ends[n_tiles - 1]:
        near -= 1
    _decode_some(data, data, (0, near, place), extents, work)
    if near < n_tiles:
        place += ends[near - 1] if near > 0 else 0
        copy_octets(data, place, work.tail)
        _decode_some(data, work.tail, (near, n_tiles, 0), extents, work)
    return 0


@jit_norefs_part
def _decode_some(headers: Any, planes: Any, tiles: Any, extents: Any, work: Any) -> None:
    """Fill some tiles: the first, the end, the place of the first one's planes."""
    first, end, place = tiles
    table, ends, scratch = work.table, work.ends, work.scratch
    before = ends[first - 1] - place if first > 0 else -place
    mode = int(headers[1])
    for tile in range(first, end):
        header = HEAD_BYTES + tile * LANES * header_octets(table)
        if mode % WITH_GRIDS:
            set_neighbours(tile, mode % WITH_GRIDS, extents, scratch.neighbours)
        for lane in range(0, _used_lanes(tile, extents), value_of(scratch.lanes)):
            head = _read_header(headers, header + lane, table, scratch.rows, scratch.lanes)
            column = Column(lane, tile * ROWS * LANES + lane)
            place = _decode_columns(table, column, scratch, head, planes, place)
        place = ends[tile] - before


@jit_norefs_inline
def _decode_columns(
    table: Any, column: Column, scratch: Any, header: Header, data: Any, place: int
) -> int:
    kind = header.kind
    _set_counts(header.width, scratch.counts, scratch.rows)
    place = load_planes(data, place, scratch.column_counts, scratch.columns)
    if any_lane(kind == GRID):
        if any_lane(kind == PREDICTED):
            restore_values(table, column, header, scratch, YES, YES)
        else:
            restore_values(table, column, header, scratch, YES, NO)
    elif any_lane(kind == PREDICTED):
        restore_values(table, column, header, scratch, NO, YES)
    else:
        restore_values(table, column, header, scratch, NO, NO)
    return place


@jit_norefs_inline
def _read_header(data: Any, at: int, table: Any, rows: Any, lanes: Any) -> Any:
    first = resize_to(load(data, at, lanes), rows)
    base = resize_to(load(data, at + LANES, lanes), rows)
    if width_of(table) == 64:
        last = resize_to(load(data, at + 2 * LANES, lanes), rows)
        return Header(first, logical_shift_right(last, 6), base | (last & 63) << 8)
    return Header(first & 63, logical_shift_right(first, 6), base)


@jit_norefs
def check(data: Any, n_tiles: int, table: Any, ends: Any) -> int:
    """Set where the planes of each tile end, counted from those of the first.

    Return 0, or what is wrong with a payload for a table of such words.
    """
    head = HEAD_BYTES + n_tiles * LANES * header_octets(table)
    if data.size < head:
        return WRONG_SIZE
    mode = int(data[1])
    if mode >= MODES:
        return WRONG_MODE
    wrong = _add_planes(data, n_tiles, mode, table, ends)
    if wrong == 0 and head + ends[n_tiles - 1] != data.size:
        return WRONG_END
    return wrong


@jit_norefs_inline
def _add_planes(data: Any, n_tiles: int, mode: int, table: Any, ends: Any) -> int:
    bits, total, wrong = width_of(table), 0, 0
    for tile in range(n_tiles):
        widest, kinds, count = 0, 0, 0
        for lane in range(LANES):
            group = HEAD_BYTES + tile * LANES * header_octets(table) + lane
            first = int(data[group])
            width = first if bits == 64 else first & 63
            kind = int(data[group + 2 * LANES if bits == 64 else group]) >> 6
            widest, kinds = max(widest, width), kinds | 1 << kind
            count += width
        if widest > bits:
            wrong = WRONG_WIDTH
        elif kinds & ~_allowed(mode):
            wrong = max(wrong, WRONG_KIND)
        total += 4 * count
        ends[tile] = total
    return wrong


@jit_norefs_inline
def _allowed(mode: int) -> int:
    """Kinds that a mode has, a bit each."""
    grids = 1 << GRID if mode & WITH_GRIDS else 0
    return 1 << EXPONENTS | grids | (1 << PREDICTED if mode % WITH_GRIDS else 0)
