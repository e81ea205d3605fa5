"""Decoder of names: windows one by one, each line from the tokens of the one before it.

Bytes are not trusted: the size of the output bounds writes, and offsets are checked before use. An
invalid line ends its window with -1.
"""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.arrays import Bytes, Int64s
from gangsaw.codecs.core.entropy import rans_lanes
from gangsaw.codecs.core.entropy.rans_lanes import ESCAPE, MOST_BITS, get, get_raw
from gangsaw.codecs.core.entropy.sparse_tables import ABSENT
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.words import load_le64, store_le64
from gangsaw.codecs.reads.lines import NEWLINE
from gangsaw.codecs.reads.name.contexts import CLASSES, SYMBOLS, context, remember
from gangsaw.codecs.reads.name.decoder_state import NameLane, NameModel
from gangsaw.codecs.reads.name.streams import (
    DOWN,
    END,
    FIRST_LINES,
    HEX,
    HEX_DIGITS,
    HEX_REST,
    LONG,
    LONG_BITS,
    MATCH,
    MATCHES,
    MOST_DIGITS,
    MOST_TOKENS,
    NUMBER,
    PADDED,
    PARTS,
    PER_COLUMN,
    RAW,
    REST,
    SAME,
    TEXT,
    TEXT_BYTES,
    TEXT_END,
    UP,
    UUID,
    UUID_LENGTH,
    VARIANT,
    VERSION,
    WIDTHS,
)

STATE, PLACE = range(2)  # of a lane's coder


@jit(inline=True, part=True, norefs=True)
def _take(model: NameModel, lane: NameLane, stream: int) -> int:
    """Decode and return the next byte of a stream."""
    mode = np.int64(model.modes[stream])
    x, at = lane.state[STATE], lane.state[PLACE]
    if mode == RAW:
        symbol, x, at = get_raw(8, x, at, lane.data, lane.stop)
    else:
        seen = context(lane.memory, stream, mode)
        table = model.base[stream] + CLASSES[mode * SYMBOLS + seen]
        symbol, x, at = get(model.tables, table, x, at, lane.data, lane.stop)
    lane.state[STATE], lane.state[PLACE] = x, at
    remember(lane.memory, stream, symbol)
    return int(symbol)


@jit(inline=True, part=True, norefs=True)
def _take_raw(lane: NameLane, bits: int) -> int:
    """Return the next raw bits of a lane."""
    value, x, at = get_raw(bits, lane.state[STATE], lane.state[PLACE], lane.data, lane.stop)
    lane.state[STATE], lane.state[PLACE] = x, at
    return int(value)


@jit(inline=True, part=True, norefs=True)
def _take_number(model: NameModel, lane: NameLane, stream: int) -> int:
    """Decode a number whose bit length is the next byte of a stream."""
    bits = _take(model, lane, stream)
    if bits > MOST_BITS:
        lane.state[PLACE] |= ABSENT
        return 0
    if bits < 2:
        return bits
    return 1 << bits - 1 | _take_raw(lane, bits - 1)


@jit(norefs=True)
def read_window(
    model: NameModel,
    lane: NameLane,
    out: Bytes,
    begin: int,
    end: int,
    is_open: bool,
    offset_buffers: tuple[Int64s, Int64s],
) -> tuple[int, int, int]:
    """Decode a window of names into out; return start and end of its text, and its line count.

    Parameters
    ----------
    begin, end : range of the window in the block, cut at the end of the text; its lines begin there
    is_open : True if no newline follows the last line of the block
    offset_buffers : two arrays of (MOST_TOKENS + 1,) int64, token offsets of a line and of the one
        before

    Returns
    -------
    Three numbers; -1 for the end if the lane is invalid for such a window.
    """
    x, at = rans_lanes.begin_lane(lane.data, lane.state[PLACE], lane.stop)
    lane.state[STATE], lane.state[PLACE] = x, at
    lane.memory.streams[:] = 0
    lane.memory.line[:] = 0
    lead = _take_number(model, lane, FIRST_LINES)
    n_lines = _take_number(model, lane, FIRST_LINES + 1)
    at, old, new = begin + lead, offset_buffers[0], offset_buffers[1]
    if at >= end or n_lines == 0 or lane.state[PLACE] > lane.stop:
        return begin, -1, 0
    n_old = model.cuts.size - 1
    at, n_old = _read_line(model, lane, model.template, model.cuts, n_old, out, at, new)
    for _ in range(1, n_lines):
        if at < 0 or at + 1 >= end:
            return begin, -1, 0
        out[at] = NEWLINE
        old, new = new, old
        at, n_old = _read_line(model, lane, out, old, n_old, out, at + 1, new)
    if at >= 0 and not (is_open and at == out.size):
        if at == out.size:
            return begin, -1, 0
        out[at] = NEWLINE
        at += 1
    if not rans_lanes.is_whole(lane.state[STATE], lane.state[PLACE], lane.stop):
        at = -1
    return begin + lead, at, n_lines


@jit(part=True, norefs=True)
def _read_line(
    model: NameModel,
    lane: NameLane,
    source: Bytes,
    old: Int64s,
    n_old: int,
    out: Bytes,
    at: int,
    new: Int64s,
) -> tuple[int, int]:
    """Decode a line to out[at:]; return its end and its number of tokens.

    Parameters
    ----------
    source : (n,) uint8 that contains the line before
    old : offsets in `source` of the n_old tokens of that line, and the end of the last one
    new : offsets in `out` of this line's tokens, filled in the same way
    """
    k = 0
    new[0] = at
    while True:
        operation = _take(model, lane, k * PER_COLUMN)
        if operation == END or lane.state[PLACE] > lane.stop:
            return at if lane.state[PLACE] <= lane.stop else -1, k
        n = 1
        if operation == REST or operation >= SAME:
            n = n_old - k if operation == REST else operation - SAME
            if n < 0 or (n == 0 and operation != REST) or k + n > n_old:
                return -1, 0
            at = _copy(source, old, k, n, out, at, new)
        elif k < MOST_TOKENS:
            width = old[k + 1] - old[k] if k < n_old else 0
            before = old[k] if k < n_old else 0
            at = _read_token(model, lane, operation, k, source, before, width, out, at, new)
            new[k + 1] = at
        else:
            at = -1
        k += n
        if at < 0 or operation == REST:
            return at, k


@jit(inline=True, part=True, norefs=True)
def _copy(source: Bytes, old: Int64s, k: int, n: int, out: Bytes, at: int, new: Int64s) -> int:
    """Copy n tokens of the line before; return the offset after them, -1 if they do not fit."""
    begin, size = old[k], old[k + n] - old[k]
    if size > out.size - at:
        return -1
    for i in range(k + 1, k + n + 1):
        new[i] = old[i] + at - begin
    _copy_bytes(source, begin, out, at, size)
    return int(at + size)


@jit(inline=True, part=True, norefs=True)
def _copy_bytes(source: Bytes, begin: int, out: Bytes, at: int, size: int) -> None:
    """Copy bytes to a later offset without overlap; no byte after them is written."""
    if size >= 8:
        for i in range(0, size - 8, 8):
            store_le64(out, at + i, load_le64(source, begin + i))
        store_le64(out, at + size - 8, load_le64(source, begin + size - 8))
    else:
        for i in range(size):
            out[at + i] = source[begin + i]


@jit(part=True, norefs=True)
def _read_token(
    model: NameModel,
    lane: NameLane,
    operation: int,
    k: int,
    source: Bytes,
    before: int,
    width: int,
    out: Bytes,
    at: int,
    new: Int64s,
) -> int:
    """Decode a token to out[at:]; return its end, -1 if it is invalid.

    Parameters
    ----------
    before, width : start of the token of the line before, and its bytes
    new : offsets of this line's tokens, up to token k
    """
    column = k * PER_COLUMN
    if operation == TEXT:
        return _read_text(model, lane, column + TEXT_BYTES, out, at)
    if operation < MATCH:
        padded = operation - UP >= PADDED
        value = _read_value(model, lane, operation - PADDED * padded, column, source, before, width)
        return _print(value, width if padded else 1, out, at)
    if operation == MATCH:
        j = _take(model, lane, column + MATCHES)
        if j >= k or new[j + 1] - new[j] > out.size - at:
            return -1
        _copy_bytes(out, new[j], out, at, new[j + 1] - new[j])
        return int(at + new[j + 1] - new[j])
    if operation < HEX:
        return _read_uuid(model, lane, column, operation > UUID, out, at)
    if operation <= HEX + 1:
        return _read_hexadecimal(model, lane, column, operation > HEX, out, at)
    return -1


@jit(inline=True, part=True, norefs=True)
def _read_text(model: NameModel, lane: NameLane, stream: int, out: Bytes, at: int) -> int:
    """Decode the bytes of a text token up to TEXT_END; return its end, -1 if it is invalid."""
    while lane.state[PLACE] <= lane.stop:
        symbol = _take(model, lane, stream)
        if symbol == TEXT_END:
            return at
        if at == out.size:
            break
        out[at] = symbol
        at += 1
    return -1


@jit(inline=True, part=True, norefs=True)
def _read_value(
    model: NameModel,
    lane: NameLane,
    operation: int,
    column: int,
    source: Bytes,
    before: int,
    width: int,
) -> int:
    """Return the number that a number or difference operation writes, -1 if it is invalid."""
    if operation == LONG:
        return _take_number(model, lane, column + LONG_BITS)
    which = operation - UP
    value = 0
    for part in range(PARTS[which], PARTS[which] + WIDTHS[which]):
        value = value << 8 | _take(model, lane, column + part)
    if operation >= NUMBER:
        return value
    base = _parsed(source, before, width)
    if base < 0:
        return -1
    return base - value if operation >= DOWN else base + value


@jit(inline=True, part=True, norefs=True)
def _parsed(source: Bytes, at: int, width: int) -> int:
    """Return the decimal number in a token of `width` bytes, -1 if it is none."""
    if width > MOST_DIGITS:
        return -1
    value = np.int64(0)
    for i in range(at, at + width):
        digit = np.int64(source[i]) - 48
        if digit < 0 or digit > 9:
            return -1
        value = 10 * value + digit
    return int(value)


@jit(inline=True, part=True, norefs=True)
def _print(value: int, width: int, out: Bytes, at: int) -> int:
    """Write a decimal number with at least `width` digits; return its end, -1 if it is invalid."""
    if value < 0:
        return -1
    n, power = 1, np.int64(10)
    while value >= power and n < 19:  # 10^19 is no int64
        n += 1
        power *= 10
    n = max(n, width)
    if n > out.size - at:
        return -1
    rest = np.uint64(value)
    for i in range(at + n - 1, at - 1, -1):
        quotient = rest // np.uint64(10)
        out[i] = np.uint64(48) + rest - quotient * np.uint64(10)
        rest = quotient
    return at + n


@jit(inline=True, part=True, norefs=True)
def _hexadecimal(digit: int, is_upper: bool) -> int:
    """Return the character of a hexadecimal digit."""
    return digit + (48 if digit < 10 else 55 if is_upper else 87)


@jit(part=True, norefs=True)
def _read_hexadecimal(
    model: NameModel, lane: NameLane, column: int, is_upper: bool, out: Bytes, at: int
) -> int:
    """Decode a hexadecimal word to out[at:]; return its end, -1 if it is invalid."""
    n = _take(model, lane, column + HEX_DIGITS)
    if n == ESCAPE:
        n += _take_number(model, lane, column + HEX_REST)
    if n > out.size - at:
        return -1
    _read_digits(lane, n, is_upper, out, at)
    return at + n


@jit(inline=True, part=True, norefs=True)
def _read_digits(lane: NameLane, n: int, is_upper: bool, out: Bytes, at: int) -> None:
    """Decode n hexadecimal digits to out[at:] from raw bits, three digits at a time."""
    for i in range(at, at + n, 3):
        some = min(3, at + n - i)
        value = _take_raw(lane, 4 * some)
        for j in range(some):
            out[i + j] = _hexadecimal(value >> 4 * (some - 1 - j) & 15, is_upper)


@jit(part=True, norefs=True)
def _read_uuid(
    model: NameModel, lane: NameLane, column: int, is_upper: bool, out: Bytes, at: int
) -> int:
    """Decode a UUID to out[at:]; return its end, -1 if it is invalid."""
    if out.size - at < UUID_LENGTH:
        return -1
    for i in range(8, 24, 5):
        out[at + i] = 45
    _read_digits(lane, 8, is_upper, out, at)
    _read_digits(lane, 4, is_upper, out, at + 9)
    version = _take(model, lane, column + VERSION)
    _read_digits(lane, 3, is_upper, out, at + 15)
    variant = _take(model, lane, column + VARIANT)
    _read_digits(lane, 3, is_upper, out, at + 20)
    _read_digits(lane, 12, is_upper, out, at + 24)
    if version > 15 or variant > 15:
        return -1
    out[at + 14] = _hexadecimal(version, is_upper)
    out[at + 19] = _hexadecimal(variant, is_upper)
    return at + UUID_LENGTH
