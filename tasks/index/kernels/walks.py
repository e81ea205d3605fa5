"""Places of rows: walks through the text towards its beginning, to the next row that is sampled."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.numba.jit import jit_norefs, jit_norefs_inline
from gangsaw.tasks.index.kernels import bases, tree
from gangsaw.tasks.index.kernels.bits import fetch, is_set, rank, set_bit

AT_ONCE = 32  # walks in turn: while one waits for memory, the others go on
NOWHERE = -1  # of a walk that meets no sampled row: the index is damaged
ROW, STEPS, WHICH, NODE = range(4)  # of a walk; at a node, ROW is a place in it
WALK = 4
AT_ROW = -1  # no node


class Samples(NamedTuple):
    """The places of some rows.

    Attributes
    ----------
    marks : (8 l,) uint64, bits of the sampled rows
    places : (k,) uint32, their places in the text, in the order of the rows
    rate : a walk takes fewer steps than this
    """

    marks: npt.NDArray[np.uint64]
    places: npt.NDArray[np.uint32]
    rate: int


@jit_norefs
def fill_marks(text: Any, suffixes: Any, rate: int, has_breaks: bool, marks: Any) -> None:
    """Mark rows at every `rate`-th place, the end, and behind breaks if code 0 of the text is one.

    text : (n,) uint8
    suffixes : (n,) int32, its suffix array; a row before them is that of the empty suffix
    marks : (8 l,) uint64, zeros; counts are not filled
    """
    for row in range(text.size + 1):
        place = text.size if row == 0 else np.int64(suffixes[row - 1])
        if row == 0 or place % rate == 0 or (has_breaks and text[place - 1] == 0):
            set_bit(marks, row)


@jit_norefs
def fill_places(suffixes: Any, marks: Any, places: Any) -> None:
    """Fill the places of marked rows."""
    used = 0
    for row in range(suffixes.size + 1):
        if is_set(marks, row):
            places[used] = suffixes.size if row == 0 else suffixes[row - 1]
            used += 1


@jit_norefs
def locate_bases(of: Any, samples: Any, rows: Any, walks: Any, out: Any) -> None:
    """Fill the places (k,) int64 of rows (k,) int64, NOWHERE where no walk leads to one.

    walks : (AT_ONCE, WALK) int64, scratch
    """
    live = started = _begin(rows, walks)
    while live:
        lane = 0
        while lane < live:
            if _has_arrived(samples, walks, lane, out):
                live, started = _next(rows, walks, lane, live, started)
            else:
                row = walks[lane, ROW]
                row = bases.step(of, bases.base_at(of.words, row), row)
                bases.fetch(of.words, row)
                fetch(samples.marks, row)
                walks[lane, ROW] = row
                lane += 1


@jit_norefs
def locate_bytes(of: Any, samples: Any, rows: Any, walks: Any, out: Any) -> None:
    """Do the same in the rows of bytes, a level of the tree a turn."""
    live = started = _begin(rows, walks)
    while live:
        lane = 0
        while lane < live:
            if walks[lane, NODE] != AT_ROW:
                _go_down(of, samples, walks, lane)
                lane += 1
            elif _has_arrived(samples, walks, lane, out):
                live, started = _next(rows, walks, lane, live, started)
            else:
                _begin_step(of, walks, lane)
                lane += 1


@jit_norefs_inline
def _begin_step(of: Any, walks: Any, lane: int) -> None:
    """Begin at the root; the primary row is sampled, unless the index is damaged."""
    row = walks[lane, ROW]
    if row == of.primary:
        return
    at = row - (row > of.primary)
    if of.root < 0:
        walks[lane, ROW] = of.firsts[~of.root] + at
        return
    walks[lane, ROW], walks[lane, NODE] = at, of.root
    tree.fetch_node(of, of.root, at)


@jit_norefs_inline
def _go_down(of: Any, samples: Any, walks: Any, lane: int) -> None:
    """Go one level down, or from a leaf to the row of a suffix that is one byte longer."""
    node, at = tree.down(of, walks[lane, NODE], walks[lane, ROW])
    if node >= 0:
        walks[lane, ROW], walks[lane, NODE] = at, node
        tree.fetch_node(of, node, at)
    else:
        walks[lane, ROW], walks[lane, NODE] = of.firsts[~node] + at, AT_ROW
        fetch(samples.marks, walks[lane, ROW])


@jit_norefs_inline
def _begin(rows: Any, walks: Any) -> Any:
    """Begin the first walks; return how many."""
    live = min(rows.size, len(walks))
    for lane in range(live):
        walks[lane, ROW], walks[lane, STEPS] = rows[lane], 0
        walks[lane, WHICH], walks[lane, NODE] = lane, AT_ROW
    return live


@jit_norefs_inline
def _has_arrived(samples: Any, walks: Any, lane: int, out: Any) -> Any:
    """Whether a walk ends; write its place. Otherwise the step that follows is counted."""
    row, steps = walks[lane, ROW], walks[lane, STEPS]
    if is_set(samples.marks, row):
        out[walks[lane, WHICH]] = np.int64(samples.places[rank(samples.marks, row)]) + steps
        return True
    if steps >= samples.rate:
        out[walks[lane, WHICH]] = NOWHERE
        return True
    walks[lane, STEPS] = steps + 1
    return False


@jit_norefs_inline
def _next(rows: Any, walks: Any, lane: int, live: int, started: int) -> Any:
    """Put the next walk in a lane, or the last one that goes on; return how many go and began."""
    if started < rows.size:
        walks[lane, ROW], walks[lane, STEPS] = rows[started], 0
        walks[lane, WHICH], walks[lane, NODE] = started, AT_ROW
        return live, started + 1
    for i in range(WALK):
        walks[lane, i] = walks[live - 1, i]
    return live - 1, started
