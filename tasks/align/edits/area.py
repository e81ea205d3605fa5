"""Which tiles of a pair are done, and what it costs at least to go around them.

Row w of tiles has those of columns low[w] and more, column t those of rows top[t] and more: neither
falls, and a row ends where the next columns begin below it.

Outside of these tiles a path is bounded from below: by where it went out, and by one edit for each
seed on its way, of some bases, that has no equal out there. So a distance of all paths is bounded
from below as well, and where the best one never leaves, it is the distance.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.numba.bits import count_ones
from gangsaw.codecs.core.numba.jit import jit_part
from gangsaw.tasks.align.edits.tiles import ALL, MINUS, PLUS, WORD, least, rise_along
from gangsaw.tasks.align.sets.pairs import Places

NEVER = 1 << 40  # edits, more than any path has


class Area(NamedTuple):
    """Tiles of a pair.

    Attributes
    ----------
    low, high : (words of the query,) int64, the first and the last tile of each row
    top : (words of the target,) int64, the first tile of each column
    left : (words of the query,) uint64, the last base of seeds of each row that have no equal on
        the left outside, the first base in the lowest bit
    above : (words of the target,) uint64, the same of seeds of the target that have none above, the
        first base in the highest bit
    is_open : 1 where paths go outside, 0 where none does
    free_start, free_end : 1 where bases of the target before or behind the query cost nothing
    """

    low: Places
    high: Places
    top: Places
    left: NDArray[np.uint64]
    above: NDArray[np.uint64]
    is_open: int
    free_start: int
    free_end: int

    @property
    def tiles(self) -> int:
        """How many there are."""
        return int((self.high - self.low + 1).sum())


class Edge(NamedTuple):
    """How far borders of an area are done, on the left of its rows or above its columns.

    Attributes
    ----------
    corner : the score where the next row or column begins
    outside : the least score of paths that are outside there
    """

    corner: int
    outside: int


class KeptBorders(NamedTuple):
    """Borders of tiles as they were entered, those of one antidiagonal behind the other.

    Attributes
    ----------
    sides, downs : (2, tiles + lanes) uint64, or none: plus and minus on the left, and on top
    starts : (antidiagonals,) int64, where the tiles of each begin
    firsts : as many, the row of the first one
    """

    sides: NDArray[np.uint64]
    downs: NDArray[np.uint64]
    starts: Places
    firsts: Places


def area_of(low: Places, high: Places, n_columns: int) -> Area:
    """Return a closed area of tiles of rows."""
    top = np.searchsorted(high, np.arange(n_columns))
    left, above = np.zeros(low.size, np.uint64), np.zeros(n_columns, np.uint64)
    return Area(low, high, top, left, above, 0, 0, 0)


@jit_part
def enter_row(tiles: Any, area: Any, edge: Any, row: int) -> Any:
    """Set the left border of a row's first tile; return the edge behind it."""
    if row:
        last = area.top.size - 1
        leaving = last - area.low[row - 1], last - area.low[row], -1
        edge = _leave(tiles.downs, leaving, edge, area.left[row - 1], area.is_open)
        if area.low[row]:
            _border(tiles.sides, row, edge, (area.left[row], 0))
    rise = rise_along(tiles.sides[PLUS, row], tiles.sides[MINUS, row], WORD)
    return Edge(edge.corner + rise, edge.outside)


@jit_part
def enter_column(tiles: Any, area: Any, edge: Any, column: int) -> Any:
    """Set the upper border of a column's first tile; return the edge behind it."""
    at = area.top.size - 1 - column
    if column:
        leaving = area.top[column - 1], area.top[column], 1
        edge = _leave(tiles.sides, leaving, edge, area.above[column - 1], area.is_open)
        if area.top[column]:
            _border(tiles.downs, at, edge, (area.above[column], WORD - 1))
    rise = rise_along(tiles.downs[PLUS, at], tiles.downs[MINUS, at], WORD)
    return Edge(edge.corner + rise, edge.outside)


@jit_part
def _leave(borders: Any, leaving: Any, edge: Any, seeds: Any, is_open: int) -> Any:
    """Go along borders from which paths go outside; return the edge at their end."""
    begin, end, step = leaving
    corner, outside = edge.corner, min(edge.outside + np.int64(count_ones(seeds)), NEVER)
    if is_open:
        outside = min(outside, corner)
    for at in range(begin, end, step):
        plus, minus = borders[PLUS, at], borders[MINUS, at]
        before, corner = corner, corner + rise_along(plus, minus, WORD)
        if is_open and step < 0:
            outside = least(before, outside, plus, minus, WORD)
        elif is_open:  # rows have their first bit at the other end
            outside = least(corner, outside, minus, plus, WORD)
    return Edge(corner, outside)


@jit_part
def _border(borders: Any, at: int, edge: Any, seeds: Any) -> None:
    """Set a border: scores go by one a cell to what is outside, which rises with the seeds.

    seeds : their last cells, and the bit of the first cell
    """
    ends, first = seeds
    plus, minus, rest = np.uint64(0), np.uint64(0), np.uint64(ALL)
    score, outside = edge.corner, edge.outside
    for i in range(WORD):
        if score == outside:
            break
        bit = np.uint64(1) << np.uint64(abs(first - i))
        rest ^= bit
        outside += (ends & bit) != 0
        if outside > score:
            plus |= bit
            score += 1
        elif outside < score:
            minus |= bit
            score -= 1
    borders[PLUS, at], borders[MINUS, at] = plus | (ends & rest), minus
