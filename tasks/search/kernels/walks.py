"""Locate rows: walks through the text towards its start, to the next sampled row."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.search.kernels import bases, tree
from gangsaw.tasks.search.kernels.bits import is_set, prefetch_bit, rank, set_bit

AT_ONCE = 32  # walks in turn: while one waits for memory, the others continue
NOWHERE = -1  # result of a walk that meets no sampled row: the index is damaged
# Fields of a walk; at a node, ROW is a position in it. Unsigned indices need no test for negative
# ones.
ROW, STEPS, WHICH, NODE = map(np.uint64, range(4))
WALK = 4
STRIDE = np.uint64(WALK)
STEP_BITS = 17  # bits of the step count, which is below the largest rate
AT_ROW = -1  # no node


class Samples(NamedTuple):
    """Text positions of sampled rows (suffixes in sorted order).

    Attributes
    ----------
    marks : (8 l,) uint64, bit vector of the sampled rows
    positions : (k,) uint32, their positions in the text, in the order of the rows
    rate : upper bound of the steps of a walk to a sampled row
    """

    marks: npt.NDArray[np.uint64]
    positions: npt.NDArray[np.uint32]
    rate: int


@jit(norefs=True)
def fill_marks(text: Any, suffixes: Any, rate: int, has_breaks: bool, marks: Any) -> None:
    """Mark the rows to sample: of every `rate`-th text position, and of the end.

    With `has_breaks`, rows of positions after a break, code 0, are marked, too.

    text : (n,) uint8 suffixes : (n,) int32, its suffix array; a row before them is that of the
    empty suffix marks : (8 l,) uint64, zeros; counts are not filled
    """
    for row in range(text.size + 1):
        place = text.size if row == 0 else np.int64(suffixes[row - 1])
        if row == 0 or place % rate == 0 or (has_breaks and text[place - 1] == 0):
            set_bit(marks, row)


@jit(norefs=True)
def fill_marked_positions(suffixes: Any, marks: Any, positions: Any) -> None:
    """Write the text positions of marked rows, in the order of rows."""
    used = 0
    for row in range(suffixes.size + 1):
        if is_set(marks, row):
            positions[used] = suffixes.size if row == 0 else suffixes[row - 1]
            used += 1


@jit(norefs=True)
def locate_bases(of: Any, samples: Any, rows: Any, walks: Any, out: Any) -> None:
    """Write the text positions (k,) int64 of rows (k,) of an index of bases, by walks to samples.

    NOWHERE is written if no walk reaches a sampled row.

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
                row = np.uint64(bases.step_base(of, bases.base_at(of.words, row), row))
                bases.prefetch_row(of.words, row)
                prefetch_bit(samples.marks, row)
                walks[lane * STRIDE + ROW] = np.int64(row)
                lane += np.uint64(1)
    _fill_found(samples, out)


@jit(norefs=True)
def locate_bytes(of: Any, samples: Any, rows: Any, walks: Any, out: Any) -> None:
    """Write the text positions of rows of an index of bytes, as `locate_bases` does.

    Walks take turns, one level of the wavelet tree each.
    """
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


@jit(inline=True, part=True, norefs=True)
def _begin_step(of: Any, walks: Any, lane: Any) -> None:
    """Start a step of a walk at the root of the wavelet tree.

    The primary row, of the whole text, is sampled, unless the index is damaged.
    """
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


@jit(inline=True, part=True, norefs=True)
def _go_down(of: Any, samples: Any, walks: Any, lane: Any) -> None:
    """Move a walk down one level of the wavelet tree, or from a leaf to the next row.

    The next row is that of the suffix one byte longer.
    """
    walk = lane * STRIDE
    node, at = tree.down(of, walks[walk + NODE], walks[walk + ROW])
    if node >= 0:
        walks[walk + ROW], walks[walk + NODE] = at, node
        tree.fetch_node(of, node, at)
    else:
        walks[walk + ROW], walks[walk + NODE] = of.firsts[~node] + at, AT_ROW
        prefetch_bit(samples.marks, walks[walk + ROW])


@jit(inline=True, part=True, norefs=True)
def _begin(rows: Any, walks: Any) -> Any:
    """Start the first AT_ONCE walks from rows; return their number."""
    live = np.uint64(min(rows.size, AT_ONCE))
    for lane in range(live):
        _put(walks, lane, rows, lane)
    return live


@jit(inline=True, part=True, norefs=True)
def _put(walks: Any, lane: Any, rows: Any, which: Any) -> None:
    walk = lane * STRIDE
    walks[walk + ROW], walks[walk + STEPS] = rows[which], 0
    walks[walk + WHICH], walks[walk + NODE] = np.int64(which), AT_ROW


@jit(inline=True, part=True, norefs=True)
def _has_arrived(samples: Any, walks: Any, lane: Any, out: Any) -> Any:
    """Return True if a walk is at a sampled row or too long, and record its row and steps.

    Otherwise count the next step. The position is looked up later: here the loop would run out of
    registers.
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


@jit(inline=True, part=True, norefs=True)
def _next(rows: Any, walks: Any, lane: Any, live: Any, started: Any) -> Any:
    """Replace an ended walk by the next one or the last active one; return active and started."""
    if started < np.uint64(rows.size):
        _put(walks, lane, rows, started)
        return live, started + np.uint64(1)
    live -= np.uint64(1)
    for i in range(STRIDE):
        walks[lane * STRIDE + i] = walks[live * STRIDE + i]
    return live, started


@jit(inline=True, part=True, norefs=True)
def _fill_found(samples: Any, out: Any) -> None:
    """Replace the recorded rows and steps of walks by text positions."""
    for i in range(out.size):
        if out[i] != NOWHERE:
            row, steps = out[i] >> STEP_BITS, out[i] & ((1 << STEP_BITS) - 1)
            out[i] = np.int64(samples.positions[rank(samples.marks, row)]) + steps
