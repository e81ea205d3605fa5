"""Edit distance of one long pair: lanes are tiles of one antidiagonal, in a band (Ukkonen, 1985).

An alignment of k edits stays on diagonals near those of its ends. So only tiles in such a band are
done, with borders that rise by one a cell: what comes out is the distance where it is k or less,
and never below it. Where it is more, the band is doubled.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gangsaw.codecs.core.numba.jit import jit, jit_inline_part, jit_part
from gangsaw.codecs.core.numba.vectors.integers import load, select, static, store
from gangsaw.tasks.align.edits.tiles import (
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
from gangsaw.tasks.align.sets.pairs import Codes

LANES = 8
_OF_LANES = static(LANES)
FIRST_BAND = 768  # edits besides the difference of lengths: tiles of its antidiagonals fill 8 lanes


class Band(NamedTuple):
    """Which tiles are done: those of row w and column t with low <= t - w <= high.

    Attributes
    ----------
    low, high : the first at most 0, the second at least 0; both reach the last tile
    free_start, free_end : 1 where bases of the target before or behind the query cost nothing
    """

    low: int
    high: int
    free_start: int
    free_end: int


class Tiles(NamedTuple):
    """A pair, and differences along borders of tiles; 8 words behind the last are spare.

    Attributes
    ----------
    rows : (3, words + 8) uint64, planes of the query
    sides : (2, words + 8) uint64, plus and minus along the right border of each row's last tile
    columns : (3, words + 8) uint64, planes of the target, its last word first
    downs : (2, words + 8) uint64, along the lower border of each column's last tile, so too
    lanes : (8,) int64, their numbers
    """

    rows: Any
    sides: Any
    columns: Any
    downs: Any
    lanes: Any


def distance(query: Codes, target: Codes, free: tuple[bool, bool]) -> int:
    """Return the distance of two sequences of codes, one base each or more."""
    m, n = query.size, target.size
    free_start, free_end = map(int, free)
    wide = max(m, n)
    if free_start:
        return fill_tiles(query, target, _band(m, n, -wide, wide, (1, free_end)))
    apart = 0 if free_end else n - m
    edits = abs(apart) + FIRST_BAND
    while True:
        slack = edits if free_end else (edits - abs(apart)) // 2
        band = _band(m, n, min(0, apart) - slack, max(0, apart) + slack, (0, free_end))
        found = fill_tiles(query, target, band)
        if found <= edits or edits >= wide:
            return found
        edits = min(2 * edits, found)


def _band(m: int, n: int, low: int, high: int, free: tuple[int, int]) -> Band:
    """Return the tiles that have cells of column - row from low to high."""
    words, above = -(-m // WORD), -m % WORD
    first = -((WORD - 1 + above - low) // WORD)
    last = (high + WORD - 1 - above) // WORD
    return Band(max(first, 1 - words), min(last, (n - 1) // WORD), *free)


@jit
def fill_tiles(query: Any, target: Any, band: Any) -> int:
    """Return the distance, or what is more where its alignment leaves the band.

    query, target : (bases,) uint8, one base each or more
    """
    words, above = (query.size + WORD - 1) // WORD, -query.size % WORD
    n_columns = (target.size + WORD - 1) // WORD
    tiles = _tiles_of(query, target, words, n_columns, band)
    row, score = 0, WORD - (0 if band.free_start else above)  # at the start of tiles of this row
    best, last = score, words - 1
    for step in range(words + n_columns - 1):
        _do_antidiagonal(tiles, step, words, n_columns, band)
        if row < last and step == row + max(0, row + band.low):
            if row + 1 + band.low > 0:
                score += _rise(tiles, n_columns, step - row, WORD)
            row += 1
            score += WORD
            best = score
        column = step - last
        if row == last and max(0, last + band.low) <= column <= last + band.high:
            columns = min(WORD, target.size - column * WORD)
            at = n_columns - 1 - column
            if band.free_end:
                best = least(score, best, tiles.downs[PLUS, at], tiles.downs[MINUS, at], columns)
            score += _rise(tiles, n_columns, column, columns)
    return (best if band.free_end else score) - (above if band.free_start else 0)


@jit_inline_part
def _rise(tiles: Any, n_columns: int, column: int, columns: int) -> int:
    at = n_columns - 1 - column
    return rise_along(tiles.downs[PLUS, at], tiles.downs[MINUS, at], columns)


@jit_part
def _tiles_of(query: Any, target: Any, words: int, n_columns: int, band: Any) -> Any:
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
        downs[PLUS, at] = np.uint64(ALL) * np.uint64(1 - band.free_start)
    if not band.free_start:
        sides[PLUS, 0] = np.uint64(ALL) << np.uint64(above)
    return Tiles(rows, sides, columns, downs, np.arange(LANES))


@jit_part
def _do_antidiagonal(tiles: Any, step: int, words: int, n_columns: int, band: Any) -> None:
    """Do the tiles of one antidiagonal, row + column = step, from the top."""
    row = max(0, step - n_columns + 1, -((band.high - step) // 2))
    end = 1 + min(words - 1, step, (step - band.low) // 2)
    while row < end:
        _do_lanes(tiles, row, n_columns - 1 - step + row, end - row)
        row += LANES


@jit_part
def _do_lanes(tiles: Any, w: int, t: int, n_lanes: int) -> None:
    """Do tiles of rows w, w + 1, ... and of columns at t, t + 1, ...; lanes beyond stay."""
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
