"""Lines of names as operations on the tokens of the line before (SPEC.md, Names)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes, Int64s
from gangsaw.codecs.core.entropy.rans_lanes import Tokens, put, put_number, put_raw, put_small
from gangsaw.codecs.core.numba.bits import trailing_zeros
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.reads.name.split import Token, common_prefix, is_same_token, next_token
from gangsaw.codecs.reads.name.streams import (
    COLUMNS,
    DIGITS,
    END,
    FIRST_LINES,
    HEX,
    HEX_DIGITS,
    HEX_LOWER,
    HEX_REST,
    HEX_UPPER,
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
    REST,
    SAME,
    TEXT,
    TEXT_BYTES,
    TEXT_END,
    UP,
    UUID,
    UUID_UPPER,
    VARIANT,
    VERSION,
    WIDTHS,
    WORD,
    Cuts,
)

ALL = (1 << MOST_TOKENS) - 1
LEAST_MATCH = 3  # digits: a shorter number equals another one by chance
DIFFERENCES = 4  # UP, UP + 1, DOWN, DOWN + 1
TOKENS_A_WINDOW = 10  # two numbers: bit length, and up to 40 bits


def _values() -> npt.NDArray[np.int64]:
    """Return the value of each byte as a hexadecimal digit, (256,), 0 for other bytes."""
    out = np.zeros(256, np.int64)
    for digits in (b"0123456789abcdef", b"0123456789ABCDEF"):
        out[list(digits)] = np.arange(16)
    return out


VALUES = _values()


class NameLines(NamedTuple):
    """Lines of names, and the encoder's choices for them.

    Attributes
    ----------
    text : (used,) uint8, names with their newlines
    starts, ends : (n,) int64 of lines, see `Lines`
    windows : (n_windows + 1,) int64, first line of each window, see `Lines`
    lane : bytes of a window
    template : tokens of the line that precedes each window's first one
    n_template : number of these tokens
    differences : (COLUMNS, DIFFERENCES) bool, True if a number is written as a difference from the
        line before, see `chosen_differences`
    most : largest number of lines to write of each window
    both : True in sample windows: with a difference, also the operand of the plain number is
        written
    """

    text: npt.NDArray[np.uint8]
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    windows: npt.NDArray[np.int64]
    lane: int
    template: Cuts
    n_template: int
    differences: npt.NDArray[np.bool_]
    most: int
    both: bool


def most_tokens(source: NameLines, first: int, stop: int) -> int:
    """Return an upper bound on the coder tokens of windows first to stop - 1: three per byte.

    A name token of one byte takes an operation, the byte and the end of a text, or an operation and
    one or two operands.
    """
    lo, hi = int(source.windows[first]), int(source.windows[stop])
    if lo == hi:
        return 0
    n_bytes = int(source.ends[hi - 1] - source.starts[lo])
    return 3 * n_bytes + (hi - lo) + TOKENS_A_WINDOW * (stop - first)


@jit(norefs=True)
def write_name_tokens(
    source: NameLines, first: int, stop: int, cuts: Cuts, tokens: Tokens, ends: Int64s
) -> int:
    """Write the coder tokens of windows first to stop - 1; return their number.

    The tables of the tokens are stream numbers.

    Parameters
    ----------
    cuts : scratch memory for the tokens of a name
    tokens : output, with capacity for `most_tokens`
    ends : (stop - first,) int64, filled with the end of each window's tokens
    """
    n = 0
    for window in range(first, stop):
        n = _write_window(source, window, cuts, tokens, n)
        ends[window - first] = n
    return n


@jit(inline=True, part=True, norefs=True)
def _write_window(source: NameLines, window: int, cuts: Cuts, tokens: Tokens, n: int) -> int:
    """Append the coder tokens of a window; one without lines has none."""
    first, stop = source.windows[window], source.windows[window + 1]
    if first == stop:
        return n
    n = put_number(tokens, n, FIRST_LINES, source.starts[first] - window * source.lane)
    n = put_number(tokens, n, FIRST_LINES + 1, stop - first)
    for k in range(COLUMNS):
        cuts.places[k], cuts.kinds[k] = source.template.places[k], source.template.kinds[k]
        cuts.values[k] = source.template.values[k]
    n_tokens, wide, before = source.n_template, ALL, 0
    for line in range(first, min(stop, first + source.most)):
        n_tokens, wide, n = _write_line(source, line, before, cuts, n_tokens, wide, tokens, n)
        before = source.starts[line]
    return n


@jit(inline=True, part=True, norefs=True)
def _write_line(
    source: NameLines,
    line: int,
    before: int,
    cuts: Cuts,
    n_old: int,
    wide: int,
    tokens: Tokens,
    n: int,
) -> tuple[int, int, int]:
    """Append the coder tokens of a line.

    Return its number of name tokens, the new `wide`, and the number of all coder tokens so far.

    Parameters
    ----------
    before : start of the line before
    cuts : the n_old name tokens of the line before, replaced one by one by those of this line
    wide : bit mask of the name tokens that may be numbers of at least LEAST_MATCH digits
    """
    text, begin, end = source.text, source.starts[line], source.ends[line]
    k = _count_same(text, begin, end, before, cuts, n_old)
    run, old_at = 0, cuts.places[k]  # column from which on tokens have been the same
    at = begin + old_at
    while at < end:
        old_end = cuts.places[k + 1] if k < n_old else old_at
        old = Token(before + old_at, before + old_end, cuts.kinds[k], cuts.values[k])
        if k < n_old and is_same_token(text, at, end, old, k):
            at += old_end - old_at
        else:
            token = next_token(text, at, end, k)
            n = _put_same(tokens, n, run, k)
            n = _write_token(source, old, cuts, k, token, wide & (1 << k) - 1, tokens, n)
            cuts.kinds[k], cuts.values[k] = token.kind, token.value
            is_wide: Any = np.int64(token.kind == DIGITS) & np.int64(token.end - at >= LEAST_MATCH)
            wide = wide & ~(1 << k) | is_wide << k
            at, run = token.end, k + 1
        k, old_at = k + 1, old_end
        cuts.places[k] = at - begin
    if k == n_old:
        return k, wide, put(tokens, n, run * PER_COLUMN, REST)
    n = _put_same(tokens, n, run, k)
    return k, wide, put(tokens, n, k * PER_COLUMN, END)


@jit(inline=True, part=True, norefs=True)
def _count_same(text: Bytes, at: int, end: int, before: int, cuts: Cuts, n_old: int) -> int:
    """Return how many leading tokens of the line before also begin this line.

    at, before : starts of this line and of the line before
    """
    old_size = cuts.places[n_old]
    prefix = common_prefix(text, at, before, min(end - at, old_size))
    stop = prefix + (prefix == end - at and prefix == old_size)
    k = 0
    while k < n_old and cuts.places[k + 1] < stop:  # the last one may continue
        k += 1
    return k


@jit(inline=True, part=True, norefs=True)
def _put_same(tokens: Tokens, n: int, run: int, k: int) -> int:
    """Append an operation that repeats the tokens of the line before from column `run` up to k."""
    if run < k:
        n = put(tokens, n, run * PER_COLUMN, SAME + k - run)
    return n


@jit(inline=True, part=True, norefs=True)
def _write_token(
    source: NameLines,
    old: Token,
    cuts: Cuts,
    k: int,
    token: Token,
    wide: int,
    tokens: Tokens,
    n: int,
) -> int:
    """Append the coder tokens of name token k, which differs from that of the line before, `old`.

    `old` may be empty.

    wide : bit mask of the earlier tokens of this line that it may equal
    """
    text, column = source.text, k * PER_COLUMN
    if token.kind == DIGITS:
        match = _match(text, cuts, k, token, wide)
        if match >= 0:
            n = put(tokens, n, column, MATCH)
            return put(tokens, n, column + MATCHES, match)
        padded = _padding(text, old, token)
        if padded >= 0:
            plain = _number(token.value)
            operation, operand = _changed(source, old, k, token, plain)
            if source.both and operation != plain and plain < LONG:
                n = _put_operand(tokens, n, column, plain, token.value)
            if operation != TEXT:
                return _put_number(tokens, n, column, operation, padded, operand)
    elif token.kind != WORD:
        return _put_hexadecimal(text, token, column, tokens, n)
    n = put(tokens, n, column, TEXT)
    for i in range(token.at, token.end):
        n = put(tokens, n, column + TEXT_BYTES, text[i])
    return put(tokens, n, column + TEXT_BYTES, TEXT_END)


@jit(inline=True, part=True, norefs=True)
def _match(text: Bytes, cuts: Cuts, k: int, token: Token, wide: int) -> int:
    """Return the index of an earlier number of the line that equals token k, or -1."""
    size, begin = token.end - token.at, token.at - cuts.places[k]
    left = np.uint64(wide if size >= LEAST_MATCH else 0)
    while left:
        j = trailing_zeros(left)
        a = cuts.places[j]
        is_like = cuts.values[j] == token.value and cuts.places[j + 1] - a == size
        # values of long ones wrap
        if is_like and common_prefix(text, begin + a, token.at, size) == size:
            return int(j)
        left &= left - np.uint64(1)
    return -1


@jit(inline=True, part=True, norefs=True)
def _padding(text: Bytes, old: Token, token: Token) -> int:
    """Return the addend of a number's operation: PADDED for leading zeros, else 0.

    It is -1 if no operation can write the digits of the token.
    """
    size = token.end - token.at
    if size > MOST_DIGITS:
        return -1
    if size == 1 or text[token.at] != 48:
        return 0
    return PADDED if old.end - old.at == size else -1


@jit(inline=True, part=True, norefs=True)
def _number(value: int) -> int:
    """Return the operation that writes a plain number of this size; TEXT if it is too large."""
    for width in range(1, 4):
        if value < 1 << 8 * width:
            return NUMBER + width - 1
    return LONG if value < 1 << 40 else TEXT


@jit(inline=True, part=True, norefs=True)
def _changed(
    source: NameLines, old: Token, k: int, token: Token, operation: int
) -> tuple[int, int]:
    """Return operation and operand of a number: a difference to `old`, or the given operation."""
    if old.end > old.at and old.kind == DIGITS and old.end - old.at <= MOST_DIGITS:
        change = token.value - old.value
        which = _difference(change)
        if which >= 0 and source.differences[k, which]:
            return UP + which, abs(change)
    return operation, token.value


@jit(inline=True, part=True, norefs=True)
def _difference(change: int) -> int:
    """Return the index, from UP on, of the operation for a difference; -1 above 16 bits."""
    size = abs(change)
    if size >= 1 << 16:
        return -1
    return (2 if change < 0 else 0) + (size >= 1 << 8)


@jit(inline=True, part=True, norefs=True)
def _put_number(
    tokens: Tokens, n: int, column: int, operation: int, padded: int, value: int
) -> int:
    """Append a number's operation and its operand.

    column : first stream of the token's column
    """
    n = put(tokens, n, column, operation + padded)
    if operation == LONG:
        return put_number(tokens, n, column + LONG_BITS, value)
    return _put_operand(tokens, n, column, operation, value)


@jit(inline=True, part=True, norefs=True)
def _put_operand(tokens: Tokens, n: int, column: int, operation: int, value: int) -> int:
    """Append the bytes of an operand, high byte first."""
    which = operation - UP
    stream = column + PARTS[which]
    for i in range(WIDTHS[which] - 1, -1, -1):
        n = put(tokens, n, stream, value >> 8 * i & 255)
        stream += 1
    return n


@jit(part=True, norefs=True)
def _put_hexadecimal(text: Bytes, token: Token, column: int, tokens: Tokens, n: int) -> int:
    """Append the operation and the digits of a hexadecimal word or a UUID."""
    at, end, kind = token.at, token.end, token.kind
    if kind in (HEX_LOWER, HEX_UPPER):
        n = put(tokens, n, column, HEX + (kind == HEX_UPPER))
        n = put_small(tokens, n, column + HEX_DIGITS, column + HEX_REST, end - at)
        return _put_digits(text, at, end, tokens, n)
    n = put(tokens, n, column, UUID + (kind == UUID_UPPER))
    n = _put_digits(text, at, at + 8, tokens, n)
    n = _put_digits(text, at + 9, at + 13, tokens, n)
    n = put(tokens, n, column + VERSION, VALUES[text[at + 14]])
    n = _put_digits(text, at + 15, at + 18, tokens, n)
    n = put(tokens, n, column + VARIANT, VALUES[text[at + 19]])
    n = _put_digits(text, at + 20, at + 23, tokens, n)
    return _put_digits(text, at + 24, at + 36, tokens, n)


@jit(inline=True, part=True, norefs=True)
def _put_digits(text: Bytes, at: int, end: int, tokens: Tokens, n: int) -> int:
    """Append the hexadecimal digits text[at:end] as raw bits, three digits at a time."""
    while at < end:
        some = min(3, end - at)
        value = np.int64(0)
        for i in range(at, at + some):
            value = value << 4 | VALUES[text[i]]
        n = put_raw(tokens, n, 4 * some, value)
        at += some
    return n
