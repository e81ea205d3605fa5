"""Tiles of `fast`, 32 rows of 32 lanes: headers and planes (SPEC.md, fast)."""

from __future__ import annotations

from typing import Any

from gangsaw.codecs.core.arrays import Bytes, Int64s, NumpyArray
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.tiles import NO, YES, copy_tail
from gangsaw.codecs.core.numba.vectors.integers import (
    Vector,
    any_lane,
    load,
    minimum,
    resize_to,
    store,
    value_of,
)
from gangsaw.codecs.core.numba.vectors.logic import logical_shift_right
from gangsaw.codecs.visibility.fast.tiling.groups import (
    EXPONENTS,
    GRID,
    PREDICTED,
    GroupHeaders,
    LaneColumn,
    exponent_group,
    extremes,
    grid_group,
    narrower,
    residual_width,
    restore_values,
    store_values,
    width_of,
)
from gangsaw.codecs.visibility.fast.tiling.modes import (
    MODES,
    WITH_GRIDS,
    cheapest,
    set_neighbours,
    try_modes,
    used_lanes,
)
from gangsaw.codecs.visibility.fast.tiling.planes import PLANES, SLACK, load_planes, store_planes
from gangsaw.codecs.visibility.fast.tiling.scratch import CallMemory, Extents, TileScratch
from gangsaw.codecs.visibility.lanes.table import LANES, ROWS

HEAD_BYTES = 2  # kind, mode
WRONG_SIZE, WRONG_MODE, WRONG_END, WRONG_KIND, WRONG_WIDTH = range(1, 6)


@jit(part=True, norefs=True)
def encode_tiles(
    table: NumpyArray, extents: Extents, scratch: TileScratch, most: int, out: Bytes
) -> int:
    """Write mode, group headers and bit planes of a table after the kind; return their end.

    If the end exceeds `most`, the rest is not written; up to a vector's planes and SLACK bytes are
    written past `most`.

    Parameters
    ----------
    table : rows of 32 words, flat, with the padding rows of the last tile, then a row of zeros
    extents, scratch : `Extents` and `TileScratch` of scratch.py
    """
    try_modes(table, extents, scratch)
    mode = cheapest(scratch.totals, extents, scratch.lanes)
    out[1] = mode
    return _write_tiles(table, extents, scratch, mode, most, out)


@jit(inline=True, part=True, norefs=True)
def _write_tiles(
    table: NumpyArray, extents: Extents, scratch: TileScratch, mode: int, most: int, out: Bytes
) -> int:
    """Write group headers and bit planes of all tiles; return their end, like `encode_tiles`."""
    n_tiles = -(-extents.n_rows // ROWS)
    place: int = HEAD_BYTES + n_tiles * LANES * header_bytes(table)
    for tile in range(n_tiles):
        header = HEAD_BYTES + tile * LANES * header_bytes(table)
        if mode % WITH_GRIDS:
            set_neighbours(tile, mode % WITH_GRIDS, extents, scratch.neighbours)
        used = used_lanes(tile, extents)
        for lane in range(0, used, value_of(scratch.lanes)):
            column = LaneColumn(lane, tile * ROWS * LANES + lane)
            place = _encode_columns(table, column, mode, scratch, out, header, place)
            if place > most:
                return place
        _write_empty(out, header, used, table, scratch.lanes)
    return place


@jit(inline=True, part=True, norefs=True)
def _write_empty(
    out: Bytes, header: int, used: int, table: NumpyArray, lanes: tuple[None, ...]
) -> None:
    """Write headers for lanes without words: kind EXPONENTS, no planes."""
    for octet in range(header_bytes(table)):
        for lane in range(-(-used // value_of(lanes)) * value_of(lanes), LANES):
            out[header + octet * LANES + lane] = 0


@jit(inline=True, part=True, norefs=True)
def header_bytes(table: NumpyArray) -> int:
    """Return the bytes of a group header."""
    return 3 if width_of(table) == 64 else 2


@jit(inline=True, part=True, norefs=True)
def _encode_columns(
    table: NumpyArray,
    column: LaneColumn,
    mode: int,
    scratch: TileScratch,
    out: Bytes,
    place_of_header: int,
    place: int,
) -> int:
    header = _choose_groups(table, column, mode, scratch)
    kind = header.kind
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
    store(scratch.counts, 0, _planes_of(header.width, scratch.rows))
    end: int = store_planes(scratch.columns, out, place, scratch.column_counts)
    return end


@jit(inline=True, part=True, norefs=True)
def _choose_groups(table: NumpyArray, column: LaneColumn, mode: int, scratch: TileScratch) -> Any:
    """Return the group headers with the fewest bit planes among the kinds of a mode."""
    rows, lanes, at = scratch.rows, scratch.lanes, column.at
    least, most = extremes(table, at, rows, lanes)
    header = exponent_group(least, most, table, rows, lanes)
    if mode & WITH_GRIDS:
        header = narrower(header, grid_group(table, at, most, rows, lanes))
    if mode % WITH_GRIDS:
        header = narrower(
            header, GroupHeaders(residual_width(table, column, scratch), PREDICTED, 0)
        )
    return header


@jit(inline=True, part=True, norefs=True)
def _write_header(out: Bytes, at: int, header: GroupHeaders, table: NumpyArray) -> None:
    width, kind, base = header
    if width_of(table) == 64:
        store(out, at, resize_to(width, out))
        store(out, at + LANES, resize_to(base, out))
        store(out, at + 2 * LANES, resize_to(logical_shift_right(base, 8) | kind << 6, out))
    else:
        store(out, at, resize_to(width | kind << 6, out))
        store(out, at + LANES, resize_to(base, out))


@jit(inline=True, part=True, norefs=True)
def _planes_of(width: Vector, rows: NumpyArray) -> Any:
    """Return the bit planes of each column; a 64-bit word is two columns, the low one first."""
    if width_of(rows) == 64:
        low = minimum(width, PLANES)
        width = low | (width - low) << PLANES
    return width


@jit(part=True, norefs=True)
def decode_tiles(data: Bytes, behind: int, extents: Extents, work: CallMemory) -> int:
    """Fill a table from a payload; return 0, or the error code of `check`.

    Up to SLACK bytes are read past the planes of a tile. If fewer may be read after the payload,
    the tiles that end within SLACK bytes of its end are decoded from a padded copy: at most SLACK
    bytes and a tile.

    Parameters
    ----------
    data, behind : payload, and number of readable bytes after it
    extents, work : `Extents` and `CallMemory` of scratch.py
    """
    table, ends = work.table, work.ends
    n_tiles = -(-extents.n_rows // ROWS)
    wrong = check(data, n_tiles, table, ends)
    if wrong:
        return wrong
    zeros = n_tiles * ROWS * LANES
    table[zeros : zeros + LANES] = 0
    place = HEAD_BYTES + n_tiles * LANES * header_bytes(table)
    near = n_tiles
    while behind < SLACK and near > 0 and ends[near - 1] + SLACK > ends[n_tiles - 1]:
        near -= 1
    _decode_run(data, data, (0, near, place), extents, work)
    if near < n_tiles:
        place += ends[near - 1] if near > 0 else 0
        copy_tail(data, place, work.tail)
        _decode_run(data, work.tail, (near, n_tiles, 0), extents, work)
    return 0


@jit(part=True, norefs=True)
def _decode_run(
    headers: Bytes, planes: Bytes, tiles: tuple[int, int, int], extents: Extents, work: CallMemory
) -> None:
    """Decode a range of tiles to the table.

    tiles : first tile, end, and the offset of the first one's planes
    """
    first, end, place = tiles
    table, ends, scratch = work.table, work.ends, work.scratch
    before = ends[first - 1] - place if first > 0 else -place
    mode = int(headers[1])
    for tile in range(first, end):
        header = HEAD_BYTES + tile * LANES * header_bytes(table)
        if mode % WITH_GRIDS:
            set_neighbours(tile, mode % WITH_GRIDS, extents, scratch.neighbours)
        for lane in range(0, used_lanes(tile, extents), value_of(scratch.lanes)):
            head = _read_header(headers, header + lane, table, scratch.rows, scratch.lanes)
            column = LaneColumn(lane, tile * ROWS * LANES + lane)
            place = _decode_columns(table, column, scratch, head, planes, place)
        place = ends[tile] - before


@jit(inline=True, part=True, norefs=True)
def _decode_columns(
    table: NumpyArray,
    column: LaneColumn,
    scratch: TileScratch,
    header: GroupHeaders,
    data: Bytes,
    place: int,
) -> int:
    kind = header.kind
    store(scratch.counts, 0, _planes_of(header.width, scratch.rows))
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


@jit(inline=True, part=True, norefs=True)
def _read_header(
    data: Bytes, at: int, table: NumpyArray, rows: NumpyArray, lanes: tuple[None, ...]
) -> Any:
    first = resize_to(load(data, at, lanes), rows)
    base = resize_to(load(data, at + LANES, lanes), rows)
    if width_of(table) == 64:
        last = resize_to(load(data, at + 2 * LANES, lanes), rows)
        return GroupHeaders(first, logical_shift_right(last, 6), base | (last & 63) << 8)
    return GroupHeaders(first & 63, logical_shift_right(first, 6), base)


@jit(norefs=True)
def check(data: Bytes, n_tiles: int, table: NumpyArray, ends: Int64s) -> int:
    """Check a payload, and fill the end offsets of each tile's planes, relative to the first plane.

    Return 0, or the error code of an invalid payload for a table of such words.
    """
    head = HEAD_BYTES + n_tiles * LANES * header_bytes(table)
    if data.size < head:
        return WRONG_SIZE
    mode = int(data[1])
    if mode >= MODES:
        return WRONG_MODE
    wrong = _add_planes(data, n_tiles, mode, table, ends)
    if wrong == 0 and head + ends[n_tiles - 1] != data.size:
        return WRONG_END
    return wrong


@jit(inline=True, part=True, norefs=True)
def _add_planes(data: Bytes, n_tiles: int, mode: int, table: NumpyArray, ends: Int64s) -> int:
    bits, total, wrong = width_of(table), 0, 0
    for tile in range(n_tiles):
        widest, kinds, count = 0, 0, 0
        for lane in range(LANES):
            group = HEAD_BYTES + tile * LANES * header_bytes(table) + lane
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


def allowed(mode: int) -> int:
    """Return the kinds that a mode allows, one bit each."""
    grids = 1 << GRID if mode & WITH_GRIDS else 0
    return 1 << EXPONENTS | grids | (1 << PREDICTED if mode % WITH_GRIDS else 0)


_allowed = jit(inline=True, part=True, norefs=True)(allowed)
