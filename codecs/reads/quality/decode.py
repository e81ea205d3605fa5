"""Decoder of qualities that interleaves several lanes, so that their latencies overlap."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes, Int64s, UInt64
from gangsaw.codecs.core.entropy.rans_lanes import begin_lane, get, get_number, get_small, is_whole
from gangsaw.codecs.core.entropy.rans_tables import LOWEST, PRECISION, TOTAL
from gangsaw.codecs.core.entropy.sparse_tables import ABSENT, SYMBOLS, RansTables
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.gather import count_lanes
from gangsaw.codecs.core.numba.vectors.integers import load, static
from gangsaw.codecs.reads.lines import NEWLINE, SPAN_BEGIN, SPAN_END, SPAN_LINES, Text
from gangsaw.codecs.reads.quality.contexts import (
    ONE,
    ZERO,
    Past,
    Strides,
    U,
    number_context,
    place_step,
    update_past,
)
from gangsaw.codecs.reads.quality.syntax import LENGTH, MORE, NUMBER, SAME

SIDE = 4  # interleaved lanes
# fields of a lane; for the first ones see `Lane`
STATE, AT, STOP, OUT, BEFORE, SECOND, THIRD, CHANGED, PLACE, GROWS = range(10)
WINDOW, LINES, LENGTH_NOW, LEFT = range(10, 14)
FIELDS = 14
NONE = -1
SLOT, SHIFT = U(TOTAL - 1), U(PRECISION)
ROWS = 64, 256  # possible lengths of a row, constants at compile time
VECTOR = static(64)
PAD = 64  # bytes after the lanes: other lanes may read further when one is at its end
WRONG = -1


class DecoderModel(NamedTuple):
    """Tables for decoding the qualities of one block.

    Attributes
    ----------
    syntax : rANS tables of syntax elements: numbers and lengths of lines
    strides : factors of context numbers
    table_of : (n_contexts + 2,) uint16, the table of each context
    lows : (n_tables * n,) uint16, the first slot of each value, 4096 after the last one
    row : `static(n)`, length of a row of `lows`: more than the number of values
    alphabet : (256,) uint8, quality byte of each value
    n_values : number of quality values, at least 1
    """

    syntax: RansTables
    strides: Strides
    table_of: npt.NDArray[np.uint16]
    lows: npt.NDArray[np.uint16]
    row: tuple[None, ...]
    alphabet: Text
    n_values: int


class LaneSource(NamedTuple):
    """Lanes to decode, and the text to fill.

    Attributes
    ----------
    data : (n + PAD,) uint8
    begins, ends : (n_windows,) int64, range of each window's lane in `data`
    lane : bytes of a window
    used : bytes of the text
    is_open : True if the last line has no newline
    """

    data: Text
    begins: Int64s
    ends: Int64s
    lane: int
    used: int
    is_open: bool


class Lane(NamedTuple):
    """State of one lane within a line: rANS state, offset of its next word, earlier values."""

    state: np.uint64
    at: np.uint64
    past: Past


def lows_of(frequencies: npt.NDArray[np.uint16], n_values: int) -> npt.NDArray[np.uint16]:
    """Return `DecoderModel.lows` of (n_tables, 256) frequencies; an empty table has value 0."""
    n = next(lanes for lanes in ROWS if lanes > n_values)
    lows = np.cumsum(frequencies[:, : n - 1], axis=1, dtype=np.uint16)
    lows[lows[:, -1] == 0] = TOTAL
    return np.pad(lows, ((0, 0), (1, 0))).ravel()


def pad_alphabet(alphabet: Text) -> Text:
    """Return the quality bytes padded to 256, as `DecoderModel.alphabet`."""
    return np.concatenate((alphabet, np.zeros(SYMBOLS - alphabet.size, np.uint8)))


def decode_windows(
    source: LaneSource, model: DecoderModel, first: int, spans: Int64s, out: Text
) -> None:
    """Decode windows of qualities from number `first` on into a block's text.

    Parameters
    ----------
    spans : (n, 3) int64, filled for each window: start and end of its text, and its lines; the end
        is WRONG on errors
    """
    lanes = np.zeros((SIDE, FIELDS), np.int64)
    lanes[:, WINDOW] = NONE
    fill_quality_windows(source, model, first, spans, lanes, out)


@jit(norefs=True)
def fill_quality_windows(
    source: LaneSource, model: DecoderModel, first: int, spans: Int64s, lanes: Int64s, out: Bytes
) -> None:
    """Decode windows like `decode_windows`.

    lanes : (SIDE, FIELDS) int64, state of the interleaved lanes, which have no window yet
    """
    queue = 0
    while True:
        n = 1 << 62
        for k in range(SIDE):
            if lanes[k, LEFT] == 0:
                queue = read_syntax(source, model.syntax, first, spans, queue, lanes, k, out)
            n = min(n, lanes[k, LEFT], source.data.size - lanes[k, AT] >> 1)
        if n <= 0:
            break
        read_side_by_side(source.data, model, n, lanes, out)
    for k in range(SIDE):  # the last lanes of the group or of the data, or corrupt ones
        while lanes[k, LEFT]:
            read_line(source.data, model, lanes, k, out)
            queue = read_syntax(source, model.syntax, first, spans, queue, lanes, k, out)


@jit(part=True, norefs=True)
def read_syntax(
    source: LaneSource,
    syntax: RansTables,
    first: int,
    spans: Int64s,
    queue: int,
    lanes: Int64s,
    k: int,
    out: Bytes,
) -> int:
    """Read lane k up to the next quality values, past ends of lines and windows.

    Return the index of the next window that no lane has; `queue` is the one before the call.

    LEFT is 0 if there are no more windows.
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


@jit(part=True, norefs=True)
def begin_window(
    source: LaneSource,
    syntax: RansTables,
    first: int,
    window: int,
    spans: Int64s,
    lanes: Int64s,
    k: int,
) -> None:
    """Read the syntax elements at the start of a lane."""
    stop = source.ends[first + window]
    x, at = begin_lane(source.data, source.begins[first + window], stop)
    lead, x, at = get_number(syntax, NUMBER, x, at, source.data, stop)
    n_lines, x, at = get_number(syntax, NUMBER, x, at, source.data, stop)
    place = (first + window) * source.lane + lead
    lanes[k, WINDOW], lanes[k, LINES], lanes[k, OUT] = window, n_lines, place
    at |= 0 if n_lines else ABSENT  # it has at least one line
    lanes[k, STATE], lanes[k, AT], lanes[k, STOP] = x, at, stop
    lanes[k, LENGTH_NOW], lanes[k, GROWS] = 0, place_step(0)
    spans[window, SPAN_BEGIN], spans[window, SPAN_LINES] = place, n_lines


@jit(inline=True, part=True, norefs=True)
def begin_line(source: LaneSource, syntax: RansTables, window: int, lanes: Int64s, k: int) -> bool:
    """Read the syntax elements at the start of a line; return True if the line fits."""
    x, at, stop = lanes[k, STATE], lanes[k, AT], lanes[k, STOP]
    is_same, x, at = get(syntax, SAME, x, at, source.data, stop)
    if not is_same:
        length, x, at = get_small(syntax, LENGTH, MORE, x, at, source.data, stop)
        lanes[k, LENGTH_NOW], lanes[k, GROWS] = length, place_step(length)
    begin, end = lanes[k, OUT], lanes[k, OUT] + lanes[k, LENGTH_NOW]
    # corrupt; without this, an offset that grows at each missing table would overflow
    if at > stop:
        return False
    if begin >= min(source.used, (window + 1) * source.lane) or end > source.used:
        return False
    if end == source.used and not source.is_open:
        return False
    lanes[k, STATE], lanes[k, AT], lanes[k, LEFT] = x, at, end - begin
    lanes[k, BEFORE], lanes[k, SECOND], lanes[k, THIRD], lanes[k, CHANGED] = 0, 0, 0, 1
    lanes[k, PLACE] = 0
    return True


@jit(inline=True, part=True, norefs=True)
def end_line(source: LaneSource, lanes: Int64s, k: int, out: Bytes) -> None:
    """Write the newline at the end of a line, unless it is the open one."""
    place = lanes[k, OUT]
    if place < source.used:
        out[place] = NEWLINE
        lanes[k, OUT] = place + 1
    lanes[k, LINES] -= 1


@jit(inline=True, part=True, norefs=True)
def load_lane(lanes: Int64s, k: int) -> Lane:
    """Return lane k within a line, from its stored fields."""
    values = U(lanes[k, BEFORE]), U(lanes[k, SECOND]), U(lanes[k, THIRD])
    past = Past(*values, U(lanes[k, CHANGED]), U(lanes[k, PLACE]))
    return Lane(U(lanes[k, STATE]), U(lanes[k, AT]), past)


@jit(inline=True, part=True, norefs=True)
def store_lane(lane: Lane, n: int, lanes: Int64s, k: int) -> None:
    """Store lane k after n more values."""
    lanes[k, STATE], lanes[k, AT] = lane.state, lane.at
    lanes[k, BEFORE], lanes[k, SECOND], lanes[k, THIRD] = lane.past[:3]
    lanes[k, CHANGED], lanes[k, PLACE] = lane.past.changed, lane.past.place
    lanes[k, OUT] += n
    lanes[k, LEFT] -= n


@jit(inline=True, part=True, norefs=True)
def take_value(lane: Lane, model: DecoderModel) -> tuple[np.uint64, np.uint64]:
    """Decode the next value of a lane; return it, and the rANS state before renormalisation."""
    x, table = lane.state, U(model.table_of[number_context(lane.past, model.strides)])
    slot, row = x & SLOT, table * U(len(model.row))
    value, above = ZERO - ONE, np.int64(slot + ONE)
    for first in range(0, len(model.row), len(VECTOR)):
        value += U(count_lanes(load(model.lows, np.int64(row) + first, VECTOR) < above))
    low, end = U(model.lows[row + value]), U(model.lows[row + value + ONE])
    return value, (end - low) * (x >> SHIFT) + slot - low


@jit(inline=True, part=True, norefs=True)
def read_value(
    lane: Lane,
    i: UInt64,
    word_at: np.uint64,
    data: Bytes,
    model: DecoderModel,
    lanes: Int64s,
    k: int,
    out: Bytes,
) -> Lane:
    """Decode value i of lane k into its text; return the new state of the lane.

    word_at : offset of its next word, which must be within `data`
    """
    value, x = take_value(lane, model)
    word = U(data[word_at]) | U(data[word_at + ONE]) << U(8)
    is_low = ZERO - U(x < U(LOWEST))  # a mask, as a branch would be unpredictable
    x = x << (is_low & U(16)) | word & is_low
    out[U(lanes[k, OUT]) + i] = model.alphabet[value]
    return Lane(x, lane.at + (is_low & U(2)), update_past(lane.past, value, U(lanes[k, GROWS])))


@jit(part=True, norefs=True)
def read_line(data: Bytes, model: DecoderModel, lanes: Int64s, k: int, out: Bytes) -> None:
    """Decode the rest of the line of lane k, corrupt or not."""
    lane, n, last = load_lane(lanes, k), lanes[k, LEFT], U(lanes[k, STOP] - 2)
    for i in range(U(n)):
        lane = read_value(lane, i, min(lane.at, last), data, model, lanes, k, out)
    store_lane(lane, n, lanes, k)


@jit(part=True, norefs=True)
def read_side_by_side(data: Bytes, model: DecoderModel, n: int, lanes: Int64s, out: Bytes) -> None:
    """Decode n values of each interleaved lane; 2 n bytes must follow the offset of each."""
    a, b, c, d = load_lane(lanes, 0), load_lane(lanes, 1), load_lane(lanes, 2), load_lane(lanes, 3)
    for i in range(U(n)):
        a = read_value(a, i, a.at, data, model, lanes, 0, out)
        b = read_value(b, i, b.at, data, model, lanes, 1, out)
        c = read_value(c, i, c.at, data, model, lanes, 2, out)
        d = read_value(d, i, d.at, data, model, lanes, 3, out)
    store_lane(a, n, lanes, 0)
    store_lane(b, n, lanes, 1)
    store_lane(c, n, lanes, 2)
    store_lane(d, n, lanes, 3)
