"""Edit distance of one long pair: lanes are tiles of one antidiagonal, in a band (Ukkonen, 1985).

An alignment with k edits stays on diagonals near those of its ends. So only tiles in such a band
are computed, with borders that rise by one per cell. The result is the distance if that is k or
less, and never below it. If the result is more than k, the band is doubled.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gangsaw.codecs.core.arrays import Bytes
from gangsaw.codecs.core.numba.jit import HAS_AVX512, jit
from gangsaw.codecs.core.numba.vectors.integers import load, select, static, store
from gangsaw.tasks.genomics.align.edits.area import (
    NEVER,
    Area,
    Edge,
    StoredBorders,
    Tiles,
    area_of,
    enter_column,
    enter_row,
)
from gangsaw.tasks.genomics.align.edits.tiles import (
    ALL,
    DIFFERENCES,
    HIGH,
    LOW,
    MINUS,
    NONE,
    PLANES,
    PLUS,
    WORD,
    least,
    rise_along,
    tile,
    word_planes,
)
from gangsaw.tasks.genomics.align.sets.pairs import Codes

# with AVX2, 8 lanes spill: no more cells per second, and filling them takes wider bands
LANES = 8 if HAS_AVX512 else 4
_OF_LANES = static(LANES)
FIRST_BAND = 96 * LANES  # edits besides the difference of lengths: its antidiagonals fill the lanes


class FilledTiles(NamedTuple):
    """Edit distance of a pair, the area of tiles that was computed, and optionally tile borders."""

    distance: int
    area: Area
    borders: StoredBorders


def in_bands(query: Codes, target: Codes, free: tuple[bool, bool]) -> FilledTiles:
    """Return the distance from bands of doubling width, until one surely has the best alignment."""
    m, n = query.size, target.size
    wide, apart = max(m, n), 0 if free[1] else n - m
    edits = abs(apart) + FIRST_BAND
    while True:
        slack = edits if free[1] else (edits - abs(apart)) // 2
        tiles = _band(m, n, min(0, apart) - slack, max(0, apart) + slack, free)
        found = fill_area(query, target, tiles)
        if found.distance <= edits or edits >= wide:
            return found
        edits = min(2 * edits, found.distance)


def whole_area(m: int, n: int, free: tuple[bool, bool]) -> Area:
    """Return the area of all tiles of a query of m bases and a target of n."""
    return _band(m, n, -max(m, n), max(m, n), free)


def _band(m: int, n: int, low: int, high: int, free: tuple[bool, bool]) -> Area:
    """Return the tiles with cells on diagonals (column - row) low..high and around both ends."""
    words, above = -(-m // WORD), -m % WORD
    first = -((WORD - 1 + above - low) // WORD)
    last = (high + WORD - 1 - above) // WORD
    rows, end = np.arange(words), (n - 1) // WORD
    lows, highs = np.clip(rows + first, 0, end), np.clip(rows + last, 0, end)
    return area_of(lows, highs, end + 1)._replace(free_start=int(free[0]), free_end=int(free[1]))


def fill_area(query: Codes, target: Codes, area: Area, *, has_borders: bool = False) -> FilledTiles:
    """Return the distance of a pair within the tiles of an area."""
    tiles = area.tiles + LANES if has_borders else 0
    sides, downs = (np.empty((DIFFERENCES, tiles), np.uint64) for _ in range(2))
    starts, firsts = (np.empty(area.low.size + area.top.size, np.int64) for _ in range(2))
    borders = StoredBorders(sides, downs, starts, firsts)
    return FilledTiles(int(fill_tiles(query, target, area, borders)), area, borders)


@jit
def fill_tiles(query: Bytes, target: Bytes, area: Area, borders: StoredBorders) -> int:
    """Compute the tiles of an area; return the edit distance within it.

    It is a lower bound of the distance in an open area, an upper bound in a closed one.

    Parameters
    ----------
    query, target : (bases,) uint8, one base each or more
    """
    words, above = (query.size + WORD - 1) // WORD, -query.size % WORD
    n_columns = (target.size + WORD - 1) // WORD
    tiles = _tiles_of(query, target, words, n_columns, area.free_start)
    left, upper = Edge(0, NEVER), Edge(0, NEVER)
    first, end, topped, at = 0, 0, 0, 0
    for step in range(words + n_columns - 1):
        while end < words and end + area.low[end] <= step:
            left = enter_row(tiles, area, left, end)
            end += 1
        while topped < n_columns and topped + area.top[topped] <= step:
            upper = enter_column(tiles, area, upper, topped)
            topped += 1
        while first < end and first + area.high[first] < step:
            first += 1
        borders.starts[step], borders.firsts[step] = at, first
        for row in range(first, end, LANES):
            t = n_columns - 1 - step + row
            if borders.sides.shape[1]:
                _keep(tiles, borders, row, t, at + row - first)
            _do_lanes(tiles, row, t, end - row)
        at += end - first
    return _score(tiles, area, left.corner, target.size) - (above if area.free_start else 0)


@jit(part=True)
def _keep(tiles: Tiles, borders: StoredBorders, w: int, t: int, at: int) -> None:
    for i in range(DIFFERENCES):
        store(borders.sides[i], at, load(tiles.sides[i], w, _OF_LANES))
        store(borders.downs[i], at, load(tiles.downs[i], t, _OF_LANES))


@jit(part=True)
def _score(tiles: Tiles, area: Area, score: int, n: int) -> int:
    """Return the score at the end of the last row or, with a free end, the row's least score.

    Parameters
    ----------
    score : score at the beginning of the row
    n : bases of the target
    """
    n_columns, best = (n + WORD - 1) // WORD, score
    for column in range(area.low[-1], n_columns):
        at, columns = n_columns - 1 - column, min(WORD, n - column * WORD)
        plus, minus = tiles.downs[PLUS, at], tiles.downs[MINUS, at]
        best = least(score, best, plus, minus, columns)
        score += rise_along(plus, minus, columns)
    return best if area.free_end else score


@jit(part=True)
def _tiles_of(query: Bytes, target: Bytes, words: int, n_columns: int, free_start: int) -> Tiles:
    above = -query.size % WORD
    rows = np.zeros((PLANES, words + LANES), np.uint64)
    sides = np.zeros((DIFFERENCES, words + LANES), np.uint64)
    columns = np.zeros((PLANES, n_columns + LANES), np.uint64)
    downs = np.zeros((DIFFERENCES, n_columns + LANES), np.uint64)
    for w in range(words):
        first, n_above = (w * WORD - above, 0) if w else (0, above)
        rows[LOW, w], rows[HIGH, w], rows[NONE, w] = word_planes(query, first, n_above)
        sides[PLUS, w] = np.uint64(ALL)
    for t in range(n_columns):
        at = n_columns - 1 - t
        columns[LOW, at], columns[HIGH, at], columns[NONE, at] = word_planes(target, t * WORD, 0)
        downs[PLUS, at] = np.uint64(ALL) * np.uint64(1 - free_start)
    if not free_start:
        sides[PLUS, 0] = np.uint64(ALL) << np.uint64(above)
    return Tiles(rows, sides, columns, downs, np.arange(LANES))


@jit(part=True)
def _do_lanes(tiles: Tiles, w: int, t: int, n_lanes: int) -> None:
    """Compute n_lanes tiles of one antidiagonal: rows w, w + 1, ... and columns t, t + 1, ...

    Further lanes of the vectors leave their borders unchanged.
    """
    rows, columns = tiles.rows, tiles.columns
    of_rows = (
        load(rows[LOW], w, _OF_LANES),
        load(rows[HIGH], w, _OF_LANES),
        load(rows[NONE], w, _OF_LANES),
    )
    of_columns = (
        load(columns[LOW], t, _OF_LANES),
        load(columns[HIGH], t, _OF_LANES),
        load(columns[NONE], t, _OF_LANES),
    )
    left = load(tiles.sides[PLUS], w, _OF_LANES), load(tiles.sides[MINUS], w, _OF_LANES)
    top = load(tiles.downs[PLUS], t, _OF_LANES), load(tiles.downs[MINUS], t, _OF_LANES)
    right, down = tile(of_rows, of_columns, left, top)
    done = load(tiles.lanes, 0, _OF_LANES) < n_lanes
    store(tiles.sides[PLUS], w, select(done, right[PLUS], left[PLUS]))
    store(tiles.sides[MINUS], w, select(done, right[MINUS], left[MINUS]))
    store(tiles.downs[PLUS], t, select(done, down[PLUS], top[PLUS]))
    store(tiles.downs[MINUS], t, select(done, down[MINUS], top[MINUS]))
