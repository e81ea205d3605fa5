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
# of a walk; at a node, ROW is a place in it. Indices without sign cost no test for negative ones
ROW, STEPS, WHICH, NODE = map(np.uint64, range(4))
WALK = 4
STRIDE = np.uint64(WALK)
STEP_BITS = 17  # of the steps of a walk, fewer than the largest rate
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

    walks : (AT_ONCE * WALK,) int64, scratch
    """
    live = started = _begin(rows, walks)
    while live:
        lane = np.uint64(0)
        while lane < live:
            if _has_arrived(samples, walks, lane, out):
                live, started = _next(rows, walks, lane, live, started)
            else:
                row = np.uint64(walks[lane * STRIDE + ROW])
                row = np.uint64(bases.step(of, bases.base_at(of.words, row), row))
                bases.fetch(of.words, row)
                fetch(samples.marks, row)
                walks[lane * STRIDE + ROW] = np.int64(row)
                lane += np.uint64(1)
    _fill_found(samples, out)


@jit_norefs
def locate_bytes(of: Any, samples: Any, rows: Any, walks: Any, out: Any) -> None:
    """Do the same in the rows of bytes, a level of the tree a turn."""
    live = started = _begin(rows, walks)
    while live:
        lane = np.uint64(0)
        while lane < live:
            if walks[lane * STRIDE + NODE] != AT_ROW:
                _go_down(of, samples, walks, lane)
                lane += np.uint64(1)
            elif _has_arrived(samples, walks, lane, out):
                live, started = _next(rows, walks, lane, live, started)
            else:
                _begin_step(of, walks, lane)
                lane += np.uint64(1)
    _fill_found(samples, out)


@jit_norefs_inline
def _begin_step(of: Any, walks: Any, lane: Any) -> None:
    """Begin at the root; the primary row is sampled, unless the index is damaged."""
    walk = lane * STRIDE
    row = walks[walk + ROW]
    if row == of.primary:
        return
    at = row - (row > of.primary)
    if of.root < 0:
        walks[walk + ROW] = of.firsts[~of.root] + at
        return
    walks[walk + ROW], walks[walk + NODE] = at, of.root
    tree.fetch_node(of, of.root, at)


@jit_norefs_inline
def _go_down(of: Any, samples: Any, walks: Any, lane: Any) -> None:
    """Go one level down, or from a leaf to the row of a suffix that is one byte longer."""
    walk = lane * STRIDE
    node, at = tree.down(of, walks[walk + NODE], walks[walk + ROW])
    if node >= 0:
        walks[walk + ROW], walks[walk + NODE] = at, node
        tree.fetch_node(of, node, at)
    else:
        walks[walk + ROW], walks[walk + NODE] = of.firsts[~node] + at, AT_ROW
        fetch(samples.marks, walks[walk + ROW])


@jit_norefs_inline
def _begin(rows: Any, walks: Any) -> Any:
    """Begin the first walks; return how many."""
    live = np.uint64(min(rows.size, AT_ONCE))
    for lane in range(live):
        _put(walks, lane, rows, lane)
    return live


@jit_norefs_inline
def _put(walks: Any, lane: Any, rows: Any, which: Any) -> None:
    walk = lane * STRIDE
    walks[walk + ROW], walks[walk + STEPS] = rows[which], 0
    walks[walk + WHICH], walks[walk + NODE] = np.int64(which), AT_ROW


@jit_norefs_inline
def _has_arrived(samples: Any, walks: Any, lane: Any, out: Any) -> Any:
    """Whether a walk ends; note its row and steps. Otherwise the step that follows is counted.

    Its place is looked up later: here the loop would run out of registers.
    """
    walk = lane * STRIDE
    row, steps = walks[walk + ROW], walks[walk + STEPS]
    if is_set(samples.marks, row):
        out[np.uint64(walks[walk + WHICH])] = row << STEP_BITS | steps
        return True
    if steps >= samples.rate:
        out[np.uint64(walks[walk + WHICH])] = NOWHERE
        return True
    walks[walk + STEPS] = steps + 1
    return False


@jit_norefs_inline
def _next(rows: Any, walks: Any, lane: Any, live: Any, started: Any) -> Any:
    """Put the next walk in a lane, or the last one that goes on; return how many go and began."""
    if started < np.uint64(rows.size):
        _put(walks, lane, rows, started)
        return live, started + np.uint64(1)
    live -= np.uint64(1)
    for i in range(STRIDE):
        walks[lane * STRIDE + i] = walks[live * STRIDE + i]
    return live, started


@jit_norefs_inline
def _fill_found(samples: Any, out: Any) -> None:
    """Put places where rows and steps were noted."""
    for i in range(out.size):
        if out[i] != NOWHERE:
            row, steps = out[i] >> STEP_BITS, out[i] & ((1 << STEP_BITS) - 1)
            out[i] = np.int64(samples.places[rank(samples.marks, row)]) + steps
