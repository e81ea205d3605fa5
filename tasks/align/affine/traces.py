"""The way back through marks: a letter of the CIGAR for each step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.numba.jit import jit_norefs
from gangsaw.tasks.align.affine.batches import lay
from gangsaw.tasks.align.affine.rectangles import Rectangles
from gangsaw.tasks.align.affine.strips import (
    DELETED,
    DELETION_GOES_ON,
    INSERTED,
    INSERTION_GOES_ON,
    StripRun,
    StripTile,
    forward,
)
from gangsaw.tasks.align.sets.pairs import Codes, Places

EQUAL, OTHER, INSERT, DELETE = b"=XID"


@jit_norefs
def trace(tile: StripTile, n: int, place: NDArray[np.int64], out: Codes) -> None:
    """Go back from a cell to the first one outside of the tile.

    Parameters
    ----------
    n : lanes of the strips
    place : (4,) int64, row and column in the tile, the letter of the step that led to the cell
        (another one for none), letters written yet; replaced by where this ends
    out : letters, the last step first
    """
    columns = tile.top_gap.size
    i, j, letter, at = place[0], place[1], place[2], place[3]
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
            is_equal = tile.query[i] == tile.letters[n + columns - 1 - j]
            letter = EQUAL if is_equal else OTHER
            i -= 1
            j -= 1
        out[at] = letter
        at += 1
    place[0], place[1], place[2], place[3] = i, j, letter, at


@jit_norefs
def trace_to_corner(place: NDArray[np.int64], out: Codes) -> None:
    """Write the steps from outside of the matrix to its corner."""
    i, j, at = place[0], place[1], place[3]
    for _ in range(i + 1):
        out[at] = INSERT
        at += 1
    for _ in range(j + 1):
        out[at] = DELETE
        at += 1
    place[3] = at


@jit_norefs
def trace_each(
    parts: Rectangles,
    chosen: Places,
    lanes: Any,
    run: StripRun,
    work: StripTile,
    out: Codes,
    ends: Places,
) -> None:
    """Write the steps of whole pairs to `out`, one pair behind the other, each from its end.

    ends : (pairs + 4,) int64, replaced by where the steps of each pair end; the last 4 are scratch
    """
    at = 0
    place = ends[chosen.size :]
    for k in range(chosen.size):
        pair = chosen[k]
        tile = lay(parts, pair, len(lanes), run, work)
        forward(tile, lanes, run)
        place[0] = parts.query_end[pair] - parts.query_start[pair] - 1
        place[1] = parts.target_end[pair] - parts.target_start[pair] - 1
        place[2], place[3] = 0, at
        trace(tile, len(lanes), place, out)
        trace_to_corner(place, out)
        at = place[3]
        ends[k] = at
