"""Vector decoder of qualities, for processors with gathers: one value of each lane at a time.

It has the same result as `decode`, which also reads the syntax elements between values.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes, Int64, Int64s, UInt32s
from gangsaw.codecs.core.entropy.rans_tables import PRECISION, TOTAL
from gangsaw.codecs.core.entropy.sparse_tables import RansTables
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.gather import gather
from gangsaw.codecs.core.numba.vectors.integers import (
    Vector,
    lane_leading_zeros,
    load,
    maximum,
    minimum,
    select,
    static,
    store,
)
from gangsaw.codecs.reads.lines import SPAN_END, Text
from gangsaw.codecs.reads.quality import decode
from gangsaw.codecs.reads.quality.contexts import CHANGES, Strides, U
from gangsaw.codecs.reads.quality.decode import (
    LEFT,
    LENGTH_NOW,
    NONE,
    OUT,
    PAD,
    STOP,
    WINDOW,
    WRONG,
    DecoderModel,
    LaneSource,
    read_syntax,
)
from gangsaw.codecs.reads.quality.line_contexts import PART_BITS, TOP_BIT, part_step

SIDE = 32  # lanes in several registers, which hide each other's latency
LANES = static(SIDE)
STATE, AT, BEFORE, SECOND, THIRD, CHANGED, COUNTS, PLACE, GROWS, FIELDS = range(10)
LOW, FREQUENCY = 8, 20  # first bits of both in an entry, above the quality byte
AT_ONCE = 4  # values per write
NO_LIMIT = 1 << 40
MOST_CHANGED = 1 << CHANGES
OCTET, HALF, WORD_BITS = (1 << 8) - 1, (1 << 16) - 1, 16


class WideModel(NamedTuple):
    """Tables of the vector decoder, see `decode.DecoderModel`.

    Attributes
    ----------
    slots : (n_tables * 4096 + 4,) uint8, the value of each rANS slot
    entries : (n_tables << row_bits,) uint32 of each value: its quality byte, from bit LOW on its
        first slot, from bit FREQUENCY on its frequency - 1
    row_bits : log2 of the entries of a table
    """

    syntax: RansTables
    strides: Strides
    table_of: npt.NDArray[np.uint16]
    slots: Text
    entries: npt.NDArray[np.uint32]
    row_bits: int


class Wide(NamedTuple):
    """State of many lanes within their lines, one lane per element of 32-bit vectors.

    Attributes
    ----------
    x : rANS states
    at : offsets of the next words
    before, second, third, changed, place : as in `contexts.Past`, with parts of lines from
        `line_contexts.part_step`
    counts : -1 where changes count, 0 at first values
    """

    x: Any
    at: Any
    before: Any
    second: Any
    third: Any
    changed: Any
    counts: Any
    place: Any


class Board(NamedTuple):
    """State of all lanes in memory, between calls.

    Attributes
    ----------
    lanes : (SIDE, decode.FIELDS) int64, window and line of each lane, as in `decode`
    fields : (FIELDS * SIDE,) int32, contents of `Wide` between calls
    words : (SIDE,) int32, AT_ONCE quality bytes of each lane
    """

    lanes: npt.NDArray[np.int64]
    fields: npt.NDArray[np.int32]
    words: npt.NDArray[np.int32]


def wide_model(model: DecoderModel) -> WideModel:
    """Return the vector decoder's tables for a model.

    They are separate from `DecoderModel`, whose `row` takes that many words as an argument of
    kernels.
    """
    row, row_bits = len(model.row), (model.n_values - 1).bit_length()
    lows = model.lows.reshape(-1, row).astype(np.uint32)
    frequencies = np.diff(lows, axis=1, append=np.uint32(TOTAL))
    packed = lows % TOTAL << LOW | (frequencies - 1) % TOTAL << FREQUENCY | model.alphabet[:row]
    slots = np.zeros(len(lows) * TOTAL + 4, np.uint8)
    fill_value_slots(lows, slots)
    entries = packed[:, : 1 << row_bits].astype(np.uint32).ravel()
    return WideModel(model.syntax, model.strides, model.table_of, slots, entries, row_bits)


@jit
def fill_value_slots(lows: UInt32s, out: Bytes) -> None:
    """Write the quality value of each rANS slot of all tables.

    lows : first slot of each value, see `DecoderModel`
    """
    for table in range(len(lows)):
        for value in range(lows.shape[1] - 1):
            for slot in range(lows[table, value], lows[table, value + 1]):
                out[table * TOTAL + slot] = value


def decode_wide_windows(
    source: LaneSource, model: WideModel, first: int, spans: Int64s, out: Text
) -> None:
    """Decode windows like `decode.decode_windows`."""
    lanes = np.zeros((SIDE, decode.FIELDS), np.int64)
    lanes[:, WINDOW] = NONE
    board = Board(lanes, np.zeros(FIELDS * SIDE, np.int32), np.zeros(SIDE, np.int32))
    fill_wide_windows(source, model, first, spans, board, out)


@jit(norefs=True)
def fill_wide_windows(
    source: LaneSource, model: WideModel, first: int, spans: Int64s, board: Board, out: Bytes
) -> None:
    """Decode windows like `decode_wide_windows`; the lanes of `board` have no window yet."""
    queue, lanes, fields = 0, board.lanes, board.fields
    while True:
        n = np.int64(NO_LIMIT)
        for k in range(SIDE):
            at = np.int64(fields[AT * SIDE + k])
            if lanes[k, WINDOW] != NONE and at > lanes[k, STOP]:
                spans[lanes[k, WINDOW], SPAN_END] = WRONG
                lanes[k, WINDOW], lanes[k, LEFT] = NONE, 0
            if lanes[k, LEFT] == 0:
                queue = read_wide_syntax(source, model.syntax, first, spans, queue, board, k, out)
                at = np.int64(fields[AT * SIDE + k])
            if lanes[k, WINDOW] != NONE:
                n = min(n, lanes[k, LEFT], (source.data.size - at >> 1) - PAD // 4)
        if n == NO_LIMIT:
            break
        read_wide_values(source.data, model, n, board, out)
        for k in range(SIDE):
            if lanes[k, WINDOW] != NONE:
                lanes[k, OUT] += n
                lanes[k, LEFT] -= n


@jit(inline=True, part=True, norefs=True)
def read_wide_syntax(
    source: LaneSource,
    syntax: RansTables,
    first: int,
    spans: Int64s,
    queue: int,
    board: Board,
    k: int,
    out: Bytes,
) -> int:
    """Read syntax elements like `read_syntax`; reset lanes without a window.

    Such a lane reads `source.data` from offset 0 on, as far as the others, and writes nothing.
    """
    lanes, fields = board.lanes, board.fields
    if lanes[k, WINDOW] != NONE:
        lanes[k, decode.STATE] = np.uint32(fields[STATE * SIDE + k])
        lanes[k, decode.AT] = fields[AT * SIDE + k]
    queue = read_syntax(source, syntax, first, spans, queue, lanes, k, out)
    for field in range(FIELDS):
        fields[field * SIDE + k] = 0
    fields[CHANGED * SIDE + k] = 1
    if lanes[k, WINDOW] != NONE:
        fields[STATE * SIDE + k] = lanes[k, decode.STATE]
        fields[AT * SIDE + k] = lanes[k, decode.AT]
        fields[GROWS * SIDE + k] = part_step(lanes[k, LENGTH_NOW])
    return queue


@jit(part=True, norefs=True)
def read_wide_values(data: Bytes, model: WideModel, n: Int64, board: Board, out: Bytes) -> None:
    """Decode n values of each lane; 2 n + 2 bytes must follow the offset of each."""
    fields, grows = board.fields, load(board.fields, GROWS * SIDE, LANES)
    wide = Wide(
        load(fields, STATE * SIDE, LANES),
        load(fields, AT * SIDE, LANES),
        load(fields, BEFORE * SIDE, LANES),
        load(fields, SECOND * SIDE, LANES),
        load(fields, THIRD * SIDE, LANES),
        load(fields, CHANGED * SIDE, LANES),
        load(fields, COUNTS * SIDE, LANES),
        load(fields, PLACE * SIDE, LANES),
    )
    for i in range(0, n, AT_ONCE):
        m, alphabet = min(AT_ONCE, n - i), wide.x & 0
        for j in range(m):
            entry, wide = read_wide_value(wide, grows, data, model)
            alphabet = alphabet | (entry & OCTET) << 8 * j
        wide = with_few_changes(wide)
        store(board.words, 0, alphabet)
        write_words(board, i, m, out)
    store(fields, STATE * SIDE, wide.x)
    store(fields, AT * SIDE, wide.at)
    store(fields, BEFORE * SIDE, wide.before)
    store(fields, SECOND * SIDE, wide.second)
    store(fields, THIRD * SIDE, wide.third)
    store(fields, CHANGED * SIDE, wide.changed)
    store(fields, COUNTS * SIDE, wide.counts)
    store(fields, PLACE * SIDE, wide.place)


@jit(inline=True, part=True, norefs=True)
def with_few_changes(wide: Wide) -> Wide:
    """Return lanes with limited sums of changes: same contexts, no overflow in long lines."""
    changed = minimum(wide.changed, MOST_CHANGED)
    values = wide.before, wide.second, wide.third
    return Wide(wide.x, wide.at, *values, changed, wide.counts, wide.place)


@jit(inline=True, part=True, norefs=True)
def write_words(board: Board, i: Int64, m: Int64, out: Bytes) -> None:
    """Write m quality bytes of each lane that has a window, from value i on."""
    for k in range(SIDE):
        if board.lanes[k, WINDOW] != NONE:
            word, to = U(board.words[k]), U(board.lanes[k, OUT] + i)
            if m == AT_ONCE:
                out[to], out[to + U(1)] = word & U(OCTET), word >> U(8) & U(OCTET)
                out[to + U(2)], out[to + U(3)] = word >> U(16) & U(OCTET), word >> U(24) & U(OCTET)
            else:
                for j in range(U(m)):
                    out[to + j] = word >> U(8) * j & U(OCTET)


@jit(inline=True, part=True, norefs=True)
def context_numbers(wide: Wide, strides: Strides) -> Any:
    """Return the context number of each lane, see `contexts.number_context`."""
    pair = (maximum(wide.second, wide.third) >> np.int64(strides.shift)) << 1
    pair = select(wide.second == wide.third, pair + 1, pair)
    level = minimum(TOP_BIT - lane_leading_zeros(wide.changed), CHANGES - 1)
    row = (wide.place >> PART_BITS) * np.int64(strides.part)
    return row + wide.before * np.int64(strides.before) + pair * CHANGES + level


@jit(inline=True, part=True, norefs=True)
def read_wide_value(wide: Wide, grows: Vector, data: Bytes, model: WideModel) -> Any:
    """Return the table entry of each lane's next value, and the lanes after it.

    grows : increment of each lane's `place`
    """
    table = gather(model.table_of, context_numbers(wide, model.strides)) & HALF
    slot = wide.x & (TOTAL - 1)
    value = gather(model.slots, table << PRECISION | slot) & OCTET
    entry = gather(model.entries, (table << model.row_bits) + value)
    frequency = (entry >> FREQUENCY & (TOTAL - 1)) + 1
    above = wide.x >> PRECISION & ((1 << 32 - PRECISION) - 1)
    x = frequency * above + slot - (entry >> LOW & (TOTAL - 1))
    is_low = x >> WORD_BITS == 0  # signed 32 bits: a negative state is not low
    word = gather(data, wide.at) & HALF
    x = select(is_low, x << WORD_BITS | word, x)
    at = select(is_low, wide.at + 2, wide.at)
    change = maximum(value - wide.before, wide.before - value) & wide.counts
    counts = wide.counts | -1
    behind = value, wide.before, wide.second, wide.changed + change, counts, wide.place + grows
    return entry, Wide(x, at, *behind)
