"""Area of computed tiles of a pair, and a lower bound of the cost of paths outside it.

Row w of tiles has the tiles from column low[w] on, column t those from row top[t] on. Neither
decreases, and a row ends where the next columns begin below it.

The cost of a path outside these tiles has a lower bound: the score where it left the area, plus one
edit for each seed (some bases) on its way that has no equal out there. So the distance of all paths
has a lower bound, too. If the best path never leaves the area, the bound is the distance.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.arrays import Int64s, UInt64s
from gangsaw.codecs.core.numba.bits import count_ones
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.genomics.align.edits.tiles import ALL, MINUS, PLUS, WORD, least, rise_along
from gangsaw.tasks.genomics.align.sets.pairs import Places

NEVER = 1 << 40  # edits: more than any path has


class Area(NamedTuple):
    """Part of a pair's matrix that is computed, in tiles of 64 by 64 cells (a word by a word).

    Attributes
    ----------
    low, high : (words of the query,) int64, the first and the last tile of each row
    top : (words of the target,) int64, the first tile of each column
    left : (words of the query,) uint64, mask of the last bases of each row's seeds without an equal
        to the left of the area; the first base is in the lowest bit
    above : (words of the target,) uint64, mask of the last bases of target seeds without an equal
        above the area; the first base is in the highest bit
    is_open : 1 if paths may leave the area, else 0
    free_start, free_end : 1 if bases of the target before or behind the query cost nothing
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
        """Number of tiles."""
        return int((self.high - self.low + 1).sum())


class Edge(NamedTuple):
    """Scores at a position on the border of an area, left of its rows or above its columns.

    Attributes
    ----------
    corner : the score where the next row or column begins
    outside : lower bound of the score of paths that left the area before this position
    """

    corner: int
    outside: int


class Tiles(NamedTuple):
    """Bit planes of the bases of a pair, and score differences along tile borders (Myers, 1999).

    Each array has padding at its end.

    Attributes
    ----------
    rows : (3, words + lanes) uint64, planes of the query
    sides : (2, words + lanes) uint64, masks of +1 and -1 along the right border
        of each row's last tile
    columns : (3, words + lanes) uint64, planes of the target, its last word first
    downs : (2, words + lanes) uint64, masks along the lower border of each column's last tile,
        columns in the same order
    lanes : (lanes,) int64, lane numbers
    """

    rows: UInt64s
    sides: UInt64s
    columns: UInt64s
    downs: UInt64s
    lanes: Int64s


class StoredBorders(NamedTuple):
    """Score differences along the left and top borders of tiles, antidiagonal by antidiagonal.

    Attributes
    ----------
    sides, downs : (2, tiles + lanes) or (2, 0) uint64: masks of +1 and -1 at
        the left border, and at the top one
    starts : (antidiagonals,) int64, index of the first tile of each antidiagonal
    firsts : (antidiagonals,) int64, row of that tile
    """

    sides: NDArray[np.uint64]
    downs: NDArray[np.uint64]
    starts: Places
    firsts: Places


def area_of(low: Places, high: Places, n_columns: int) -> Area:
    """Return a closed area with tiles low[w] to high[w] of each row w."""
    top = np.searchsorted(high, np.arange(n_columns))
    left, above = np.zeros(low.size, np.uint64), np.zeros(n_columns, np.uint64)
    return Area(low, high, top, left, above, 0, 0, 0)


@jit(part=True)
def enter_row(tiles: Tiles, area: Area, edge: Edge, row: int) -> Edge:
    """Set the left border of a row's first tile; return the scores at the border's lower end."""
    if row:
        last = area.top.size - 1
        leaving = last - area.low[row - 1], last - area.low[row], -1
        edge = _leave(tiles.downs, leaving, edge, area.left[row - 1], area.is_open)
        if area.low[row]:
            _border(tiles.sides, row, edge, (area.left[row], 0))
    rise = rise_along(tiles.sides[PLUS, row], tiles.sides[MINUS, row], WORD)
    return Edge(edge.corner + rise, edge.outside)


@jit(part=True)
def enter_column(tiles: Tiles, area: Area, edge: Edge, column: int) -> Edge:
    """Set the upper border of a column's first tile.

    Return the scores at the border's right end.
    """
    at = area.top.size - 1 - column
    if column:
        leaving = area.top[column - 1], area.top[column], 1
        edge = _leave(tiles.sides, leaving, edge, area.above[column - 1], area.is_open)
        if area.top[column]:
            _border(tiles.downs, at, edge, (area.above[column], WORD - 1))
    rise = rise_along(tiles.downs[PLUS, at], tiles.downs[MINUS, at], WORD)
    return Edge(edge.corner + rise, edge.outside)


@jit(part=True)
def _leave(
    borders: UInt64s, leaving: tuple[int, int, int], edge: Any, seeds: np.uint64, is_open: int
) -> Edge:
    """Update the outside score along tile borders where paths may leave the area.

    The result is the scores at the end of these borders.
    """
    begin, end, step = leaving
    corner, outside = edge.corner, min(edge.outside + np.int64(count_ones(seeds)), NEVER)
    if is_open:
        outside = min(outside, corner)
    for at in range(begin, end, step):
        plus, minus = borders[PLUS, at], borders[MINUS, at]
        before, corner = corner, corner + rise_along(plus, minus, WORD)
        if is_open and step < 0:
            outside = least(before, outside, plus, minus, WORD)
        elif is_open:  # rows have their first base in the lowest bit
            outside = least(corner, outside, minus, plus, WORD)
    return Edge(corner, outside)


@jit(part=True)
def _border(borders: UInt64s, at: int, edge: Edge, seeds: tuple[np.uint64, int]) -> None:
    """Set the differences along a border of the area, whose scores are unknown.

    Scores move by one per cell towards those of outside paths, which rise with the seeds.

    Parameters
    ----------
    seeds : mask of their last cells, and the bit of the first cell
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
