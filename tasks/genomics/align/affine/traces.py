"""Traceback through marks: a CIGAR operation for each step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.genomics.align.affine.batches import lay
from gangsaw.tasks.genomics.align.affine.rectangles import Rectangles
from gangsaw.tasks.genomics.align.affine.strips import (
    DELETED,
    DELETION_GOES_ON,
    INSERTED,
    INSERTION_GOES_ON,
    StripRun,
    StripTile,
    forward,
)
from gangsaw.tasks.genomics.align.sets.pairs import Codes, Places

EQUAL, OTHER, INSERT, DELETE = b"=XID"
# items of a traceback position: cell in the tile, last operation, number of operations written
ROW, COLUMN, LETTER, WRITTEN = range(4)
PLACE = 4


@jit(norefs=True)
def trace(tile: StripTile, n: int, place: NDArray[np.int64], out: Codes) -> None:
    """Trace back from a cell to the first cell outside the tile; write the operations to `out`.

    Parameters
    ----------
    n : lanes of the strips
    place : (PLACE,) int64, row, column, last operation (0 before the first step) and number
        of operations; replaced by those of the end
    out : (rows + columns,) uint8, operations, the last step first
    """
    columns = tile.top_gap.size
    i, j, letter, at = place[ROW], place[COLUMN], place[LETTER], place[WRITTEN]
    while i >= 0 and j >= 0:
        row = i % n
        mark = tile.marks[(i // n * (columns + n - 1) + j + row) * n + row]
        source = mark & (DELETED | INSERTED)
        if letter == DELETE and mark & DELETION_GOES_ON:
            source = DELETED
        elif letter == INSERT and mark & INSERTION_GOES_ON:
            source = INSERTED
        if source == DELETED:
            letter = DELETE
            j -= 1
        elif source == INSERTED:
            letter = INSERT
            i -= 1
        else:
            is_equal = tile.query[i] == tile.target[n + columns - 1 - j]
            letter = EQUAL if is_equal else OTHER
            i -= 1
            j -= 1
        out[at] = letter
        at += 1
    place[ROW], place[COLUMN], place[LETTER], place[WRITTEN] = i, j, letter, at


@jit(norefs=True)
def trace_to_corner(place: NDArray[np.int64], out: Codes) -> None:
    """Write the gap steps from a cell on the matrix's first row or column to its origin."""
    i, j, at = place[ROW], place[COLUMN], place[WRITTEN]
    for _ in range(i + 1):
        out[at] = INSERT
        at += 1
    for _ in range(j + 1):
        out[at] = DELETE
        at += 1
    place[WRITTEN] = at


@jit(norefs=True)
def trace_each(
    parts: Rectangles,
    chosen: Places,
    lanes: tuple[None, ...],
    run: StripRun,
    work: StripTile,
    out: Codes,
    ends: Places,
) -> None:
    """Write the traceback operations of whole pairs to `out`, concatenated, each pair from its end.

    Parameters
    ----------
    ends : (pairs + PLACE,) int64, gets the end offset of each pair's steps; scratch follows
    """
    at = 0
    place = ends[chosen.size :]
    for k in range(chosen.size):
        pair = chosen[k]
        tile = lay(parts, pair, len(lanes), run, work)
        forward(tile, lanes, run)
        place[ROW] = parts.query_end[pair] - parts.query_start[pair] - 1
        place[COLUMN] = parts.target_end[pair] - parts.target_start[pair] - 1
        place[LETTER], place[WRITTEN] = 0, at
        trace(tile, len(lanes), place, out)
        trace_to_corner(place, out)
        at = place[WRITTEN]
        ends[k] = at
