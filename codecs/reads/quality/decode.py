"""Decoder of qualities: several lanes side by side, so that their waits overlap."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.numba.jit import jit_norefs, jit_norefs_inline, jit_norefs_part
from gangsaw.codecs.core.numba.rans import LOWEST, PRECISION, TOTAL
from gangsaw.codecs.core.numba.vectors.gather import count_lanes
from gangsaw.codecs.core.numba.vectors.integers import load, static
from gangsaw.codecs.reads.entropy.rans import begin_lane, get, get_number, get_small, is_whole
from gangsaw.codecs.reads.entropy.tables import ABSENT, SYMBOLS, RansTables
from gangsaw.codecs.reads.lines import NEWLINE, SPAN_BEGIN, SPAN_END, SPAN_LINES, Places, Text
from gangsaw.codecs.reads.quality.contexts import (
    ONE,
    ZERO,
    Past,
    Strides,
    U,
    after,
    context_of,
    place_step,
)
from gangsaw.codecs.reads.quality.syntax import LENGTH, MORE, NUMBER, SAME

SIDE = 4  # lanes side by side
# of a lane that is read, see `Lane` for the first
STATE, AT, STOP, OUT, BEFORE, SECOND, THIRD, CHANGED, PLACE, GROWS = range(10)
WINDOW, LINES, LENGTH_NOW, LEFT = range(10, 14)
FIELDS = 14
NONE = -1
SLOT, SHIFT = U(TOTAL - 1), U(PRECISION)
ROWS = 64, 256  # places of a row, known when kernels are compiled
VECTOR = static(64)
PAD = 64  # bytes behind the lanes: others may read on while one is at its end
WRONG = -1


class DecoderModel(NamedTuple):
    """What a decoder looks up.

    Attributes
    ----------
    syntax : tables of what are no values
    strides : of contexts
    table_of : (n_contexts + 2,) uint16, the table of each
    lows : (n_tables * n,) uint16, the first slot of each value, 4096 behind the last one
    row : `static(n)`, places of a row of those: more than there are values
    letters : (256,) uint8, of values
    n_values : at least 1
    """

    syntax: RansTables
    strides: Strides
    table_of: npt.NDArray[np.uint16]
    lows: npt.NDArray[np.uint16]
    row: tuple[None, ...]
    letters: Text
    n_values: int


class LaneSource(NamedTuple):
    """Where lanes are, and what they have to fill.

    Attributes
    ----------
    data : (n + PAD,) uint8
    begins, ends : (n_windows,) int64, of lanes in `data`
    lane : bytes of a window
    used : bytes of the text
    is_open : whether the last line has no newline
    """

    data: Text
    begins: Places
    ends: Places
    lane: int
    used: int
    is_open: bool


class Lane(NamedTuple):
    """A lane within a line, uint64: the state, the place of its next word, what was before."""

    state: np.uint64
    at: np.uint64
    past: Past


def lows_of(frequencies: npt.NDArray[np.uint16], n_values: int) -> npt.NDArray[np.uint16]:
    """Return `DecoderModel.lows` of (n_tables, 256) frequencies; a missing table has only 0."""
    n = next(lanes for lanes in ROWS if lanes > n_values)
    lows = np.cumsum(frequencies[:, : n - 1], axis=1, dtype=np.uint16)
    lows[lows[:, -1] == 0] = TOTAL
    return np.pad(lows, ((0, 0), (1, 0))).ravel()


def padded_letters(letters: Text) -> Text:
    """Return `DecoderModel.letters`."""
    return np.concatenate((letters, np.zeros(SYMBOLS - letters.size, np.uint8)))


def decode_windows(
    source: LaneSource, model: DecoderModel, first: int, spans: Places, out: Text
) -> None:
    """Decode windows from `first` on into a block.

    Parameters
    ----------
    spans : (n, 3) int64, filled for each: where its text begins and ends, and its lines; WRONG ends
    """
    lanes = np.zeros((SIDE, FIELDS), np.int64)
    lanes[:, WINDOW] = NONE
    read_windows(source, model, first, spans, lanes, out)


@jit_norefs
def read_windows(source: Any, model: Any, first: int, spans: Any, lanes: Any, out: Any) -> None:
    """As `decode_windows`, with lanes none of which has a window yet."""
    queue = 0
    while True:
        n = 1 << 62
        for k in range(SIDE):
            if lanes[k, LEFT] == 0:
                queue = to_letters(source, model.syntax, first, spans, queue, lanes, k, out)
            n = min(n, lanes[k, LEFT], source.data.size - lanes[k, AT] >> 1)
        if n <= 0:
            break
        read_side_by_side(source.data, model, n, lanes, out)
    for k in range(SIDE):  # the last ones of the group, of the data, or wrong ones
        while lanes[k, LEFT]:
            read_line(source.data, model, lanes, k, out)
            queue = to_letters(source, model.syntax, first, spans, queue, lanes, k, out)


@jit_norefs_part
def to_letters(
    source: Any, syntax: Any, first: int, spans: Any, queue: int, lanes: Any, k: int, out: Any
) -> int:
    """Read what stands between letters until there are some; return which window comes next.

    None are LEFT where there are no more windows.
    """
    while lanes[k, LEFT] == 0:
        if lanes[k, WINDOW] == NONE:
            while queue < len(spans) and source.begins[first + queue] == source.ends[first + queue]:
                queue += 1
            if queue == len(spans):
                return queue
            begin_window(source, syntax, first, queue, spans, lanes, k)
            queue += 1
        else:
            end_line(source, lanes, k, out)
        window = lanes[k, WINDOW]
        if lanes[k, LINES] == 0:
            is_right = is_whole(lanes[k, STATE], lanes[k, AT], lanes[k, STOP])
            spans[window, SPAN_END] = lanes[k, OUT] if is_right else WRONG
            lanes[k, WINDOW] = NONE
        elif not begin_line(source, syntax, first + window, lanes, k):
            spans[window, SPAN_END] = WRONG
            lanes[k, WINDOW] = NONE
    return queue


@jit_norefs_part
def begin_window(
    source: Any, syntax: Any, first: int, window: int, spans: Any, lanes: Any, k: int
) -> None:
    """Read what a lane begins with."""
    stop = source.ends[first + window]
    x, at = begin_lane(source.data, source.begins[first + window], stop)
    lead, x, at = get_number(syntax, NUMBER, x, at, source.data, stop)
    n_lines, x, at = get_number(syntax, NUMBER, x, at, source.data, stop)
    place = (first + window) * source.lane + lead
    lanes[k, WINDOW], lanes[k, LINES], lanes[k, OUT] = window, n_lines, place
    at |= 0 if n_lines else ABSENT  # it has one line at least
    lanes[k, STATE], lanes[k, AT], lanes[k, STOP] = x, at, stop
    lanes[k, LENGTH_NOW], lanes[k, GROWS] = 0, place_step(0)
    spans[window, SPAN_BEGIN], spans[window, SPAN_LINES] = place, n_lines


@jit_norefs_inline
def begin_line(source: Any, syntax: Any, window: int, lanes: Any, k: int) -> bool:
    """Read what a line begins with; whether it has room."""
    x, at, stop = lanes[k, STATE], lanes[k, AT], lanes[k, STOP]
    is_same, x, at = get(syntax, SAME, x, at, source.data, stop)
    if not is_same:
        length, x, at = get_small(syntax, LENGTH, MORE, x, at, source.data, stop)
        lanes[k, LENGTH_NOW], lanes[k, GROWS] = length, place_step(length)
    begin, end = lanes[k, OUT], lanes[k, OUT] + lanes[k, LENGTH_NOW]
    if at > stop:  # wrong, and a place that grew on at each missing table would overflow
        return False
    if begin >= min(source.used, (window + 1) * source.lane) or end > source.used:
        return False
    if end == source.used and not source.is_open:
        return False
    lanes[k, STATE], lanes[k, AT], lanes[k, LEFT] = x, at, end - begin
    lanes[k, BEFORE], lanes[k, SECOND], lanes[k, THIRD], lanes[k, CHANGED] = 0, 0, 0, 1
    lanes[k, PLACE] = 0
    return True


@jit_norefs_inline
def end_line(source: Any, lanes: Any, k: int, out: Any) -> None:
    """Write the newline of a line, unless it is open."""
    place = lanes[k, OUT]
    if place < source.used:
        out[place] = NEWLINE
        lanes[k, OUT] = place + 1
    lanes[k, LINES] -= 1


@jit_norefs_inline
def loaded(lanes: Any, k: int) -> Lane:
    """Return a lane within a line."""
    values = U(lanes[k, BEFORE]), U(lanes[k, SECOND]), U(lanes[k, THIRD])
    past = Past(*values, U(lanes[k, CHANGED]), U(lanes[k, PLACE]))
    return Lane(U(lanes[k, STATE]), U(lanes[k, AT]), past)


@jit_norefs_inline
def store(lane: Lane, n: int, lanes: Any, k: int) -> None:
    """Store a lane that has gone on by n letters."""
    lanes[k, STATE], lanes[k, AT] = lane.state, lane.at
    lanes[k, BEFORE], lanes[k, SECOND], lanes[k, THIRD] = lane.past[:3]
    lanes[k, CHANGED], lanes[k, PLACE] = lane.past.changed, lane.past.place
    lanes[k, OUT] += n
    lanes[k, LEFT] -= n


@jit_norefs_inline
def take_letter(lane: Lane, model: Any) -> Any:
    """Return the value that a lane says next, and the state, which may be too low."""
    x, table = lane.state, U(model.table_of[context_of(lane.past, model.strides)])
    slot, row = x & SLOT, table * U(len(model.row))
    value, above = ZERO - ONE, np.int64(slot + ONE)
    for first in range(0, len(model.row), len(VECTOR)):
        value += U(count_lanes(load(model.lows, np.int64(row) + first, VECTOR) < above))
    low, end = U(model.lows[row + value]), U(model.lows[row + value + ONE])
    return value, (end - low) * (x >> SHIFT) + slot - low


@jit_norefs_inline
def read_letter(
    lane: Lane, i: Any, word_at: Any, data: Any, model: Any, lanes: Any, k: int, out: Any
) -> Lane:
    """Read the letter i of lane k; its next word is at a place that is in `data`."""
    value, x = take_letter(lane, model)
    word = U(data[word_at]) | U(data[word_at + ONE]) << U(8)
    taken = ZERO - U(x < U(LOWEST))  # a mask: a branch would be a toss-up
    x = x << (taken & U(16)) | word & taken
    out[U(lanes[k, OUT]) + i] = model.letters[value]
    return Lane(x, lane.at + (taken & U(2)), after(lane.past, value, U(lanes[k, GROWS])))


@jit_norefs_part
def read_line(data: Any, model: Any, lanes: Any, k: int, out: Any) -> None:
    """Read what is left of a line of any lane, also of a wrong one."""
    lane, n, last = loaded(lanes, k), lanes[k, LEFT], U(lanes[k, STOP] - 2)
    for i in range(U(n)):
        lane = read_letter(lane, i, min(lane.at, last), data, model, lanes, k, out)
    store(lane, n, lanes, k)


@jit_norefs_part
def read_side_by_side(data: Any, model: Any, n: int, lanes: Any, out: Any) -> None:
    """Read n letters of each lane; 2 n bytes must follow the place of each."""
    a, b, c, d = loaded(lanes, 0), loaded(lanes, 1), loaded(lanes, 2), loaded(lanes, 3)
    for i in range(U(n)):
        a = read_letter(a, i, a.at, data, model, lanes, 0, out)
        b = read_letter(b, i, b.at, data, model, lanes, 1, out)
        c = read_letter(c, i, c.at, data, model, lanes, 2, out)
        d = read_letter(d, i, d.at, data, model, lanes, 3, out)
    store(a, n, lanes, 0)
    store(b, n, lanes, 1)
    store(c, n, lanes, 2)
    store(d, n, lanes, 3)
