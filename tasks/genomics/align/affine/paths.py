"""CIGARs of global alignments, with bounded memory for long pairs.

If marks of all cells would take too much memory, the borders of tiles are stored. The marks of
tiles that the traceback crosses are recomputed, smaller tiles within larger ones. So the path is
that of all marks, and takes little more time than the score.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.memory.threads import run_blocks
from gangsaw.codecs.core.numba.vectors.integers import static
from gangsaw.tasks.genomics.align.affine.batches import (
    ROWS,
    build_strip_run,
    count_mark_bytes,
    empty_tile,
    init_tile,
)
from gangsaw.tasks.genomics.align.affine.rectangles import Rectangles
from gangsaw.tasks.genomics.align.affine.strips import StripRun, StripTile, forward
from gangsaw.tasks.genomics.align.affine.traces import (
    COLUMN,
    LETTER,
    PLACE,
    ROW,
    WRITTEN,
    trace,
    trace_each,
    trace_to_corner,
)
from gangsaw.tasks.genomics.align.sets.alignments import texts_of_steps
from gangsaw.tasks.genomics.align.sets.pairs import Codes, Places
from gangsaw.tasks.genomics.align.sets.scores import Scores

MARKS = 1 << 23  # bytes of marks of a pair in memory; more than a tile takes
SIDE = 1 << 11  # rows and columns of the smallest tiles
BORDERS = 1 << 27  # bytes of borders in memory; tiles are as large as that requires
BORDER_BYTES = 16  # per row and column of a tile: H and a gap on two sides
GROUP = 1 << 22  # cells of the pairs in one thread's task


def trace_cigars(parts: Rectangles, scores: Scores) -> list[str]:
    """Return the CIGAR of the best global alignment of each pair.

    The traceback starts at the end. Of steps with equal scores it prefers a pair of bases, then a
    deletion, then an insertion. A gap ends as soon as that loses no score.
    """
    made = [""] * parts.rows.size
    cells = parts.rows * parts.columns
    is_long = count_mark_bytes(parts.rows, parts.columns) > MARKS
    short, long = np.flatnonzero(~is_long), np.flatnonzero(is_long)
    borders = np.flatnonzero(np.diff(np.cumsum(cells[short]) // GROUP)) + 1
    groups = np.split(short, borders) if short.size else []

    def group(i: int) -> None:
        for pair, text in zip(groups[i].tolist(), _short(parts, groups[i], scores), strict=True):
            made[pair] = text

    def single(i: int) -> None:
        made[int(long[i])] = _long(parts, int(long[i]), scores)

    run_blocks(group, len(groups))
    run_blocks(single, long.size)
    return made


def _short(parts: Rectangles, chosen: Places, scores: Scores) -> list[str]:
    rows, columns = parts.rows[chosen], parts.columns[chosen]
    run = build_strip_run(scores, is_local=False, has_marks=True)
    marks = int(count_mark_bytes(rows, columns).max())
    work = empty_tile(int(rows.max()), int(columns.max()), run, marks)
    out = np.empty(int((rows + columns).sum()), np.uint8)
    ends = np.zeros(chosen.size + PLACE, np.int64)
    trace_each(parts, chosen, static(ROWS), run, work, out, ends)
    return texts_of_steps(out, ends[:-PLACE])


class Way(NamedTuple):
    """Unfinished traceback: position and operations so far, in the arrays that `trace` takes."""

    place: NDArray[np.int64]
    out: Codes


def _long(parts: Rectangles, pair: int, scores: Scores) -> str:
    rows, columns = int(parts.rows[pair]), int(parts.columns[pair])
    way = Way(np.array([rows - 1, columns - 1, 0, 0]), np.empty(rows + columns, np.uint8))
    _go(_whole_tile(parts, pair, scores), scores, way)
    trace_to_corner(way.place, way.out)
    return texts_of_steps(way.out, way.place[WRITTEN:])[0]


def _whole_tile(parts: Rectangles, pair: int, scores: Scores) -> StripTile:
    """Return the whole alignment matrix of a pair as a tile."""
    run = build_strip_run(scores, is_local=False)
    work = empty_tile(int(parts.rows[pair]), int(parts.columns[pair]), run)
    init_tile(parts, pair, ROWS, run, work)
    return work


def _go(tile: StripTile, scores: Scores, way: Way) -> None:
    """Trace the path `way` back from a cell of a tile to the first cell outside the tile."""
    i, j = int(way.place[ROW]), int(way.place[COLUMN])
    tile = _part(tile, (0, i + 1), (0, j + 1))
    size = tile.query.size * (tile.top_gap.size + ROWS - 1)
    if size <= MARKS:
        run = build_strip_run(scores, is_local=False, has_marks=True)
        marked = tile._replace(marks=np.empty(size, np.uint8))
        forward(marked, static(ROWS), run)
        trace(marked, ROWS, way.place, way.out)
        return
    side = _side(tile.query.size, tile.top_gap.size)
    tiles = _borders(tile, side, build_strip_run(scores, is_local=False))
    while way.place[ROW] >= 0 and way.place[COLUMN] >= 0:
        row, column = (int(p) // side for p in way.place[:LETTER])
        way.place[:LETTER] -= row * side, column * side
        _go(tiles.pop((row, column)), scores, way)
        way.place[:LETTER] += row * side, column * side


def _side(rows: int, columns: int) -> int:
    """Return the rows and columns of the square sub-tiles into which a tile is split."""
    least = -(-rows * columns * BORDER_BYTES // BORDERS)
    return max(SIDE, -(-least // ROWS) * ROWS)


def _part(tile: StripTile, rows: tuple[int, int], columns: tuple[int, int]) -> StripTile:
    """Return a part of a tile with copies of its top and left borders, padded to whole strips."""
    (i, end), (j, last) = rows, columns
    end = min(-(-end // ROWS) * ROWS, tile.query.size)
    width = tile.top_gap.size
    return tile._replace(
        query=tile.query[i:end],
        target=tile.target[width - last : width - j + 2 * ROWS],
        top=tile.top[j : last + 1].copy(),
        top_gap=tile.top_gap[j:last].copy(),
        left=tile.left[i:end].copy(),
        left_gap=tile.left_gap[i:end].copy(),
    )


def _borders(tile: StripTile, side: int, run: StripRun) -> dict[tuple[int, int], StripTile]:
    """Compute a tile; return its sub-tiles, by their row and column, with top and left borders."""
    rows, width = tile.query.size, tile.top_gap.size
    entered: dict[tuple[int, int], StripTile] = {}
    for j in range(0, width, side):
        last = min(j + side, width)
        top, top_gap = tile.top[j : last + 1].copy(), tile.top_gap[j:last].copy()
        for i in range(0, rows, side):
            end = min(i + side, rows)
            part = _part(tile, (i, end), (j, last))._replace(top=top, top_gap=top_gap)
            entered[i // side, j // side] = part._replace(top=top.copy(), top_gap=top_gap.copy())
            part = part._replace(left=tile.left[i:end], left_gap=tile.left_gap[i:end])
            forward(part, static(ROWS), run)
    return entered
