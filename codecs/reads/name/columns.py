"""Lines of names as operations on the tokens of the line before (SPEC.md, Names)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.numba.bits import trailing_zeros
from gangsaw.codecs.core.numba.jit import jit_norefs, jit_norefs_inline, jit_norefs_part
from gangsaw.codecs.reads.entropy.rans import put, put_number, put_raw, put_small
from gangsaw.codecs.reads.name.split import CLASSES, DIGIT, common_prefix, cut_token, is_same
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
    N_STREAMS,
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

LEAST_MATCH = 3  # digits: a shorter number is equal to another one by chance
DIFFERENCES = 4  # UP, UP + 1, DOWN, DOWN + 1
TOKENS_A_WINDOW = 10  # two numbers: bit length, and up to 40 bits


class NameLines(NamedTuple):
    """Lines and what an encoder chose for them.

    Attributes
    ----------
    text : (used,) uint8
    starts, ends : (n,) int64 of lines, see `Lines`
    windows : (n_windows + 1,) int64
    lane : bytes of a window
    template : tokens of the line that comes before each window's first one
    n_template : of them
    differences : (COLUMNS, DIFFERENCES) bool, whether each beats the number
    most : lines of a window that are written
    both : whether what is a number is also written without differences, N_STREAMS further on
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
    """Return how many tokens windows first to stop - 1 may take: a byte is three at most."""
    lo, hi = int(source.windows[first]), int(source.windows[stop])
    if lo == hi:
        return 0
    n_bytes = int(source.ends[hi - 1] - source.starts[lo])
    return 3 * n_bytes + (hi - lo) + TOKENS_A_WINDOW * (stop - first)


@jit_norefs
def write_windows(
    source: Any, first: int, stop: int, old: Any, new: Any, tokens: Any, ends: Any
) -> int:
    """Write what windows first to stop - 1 say, its tables being streams; return how many tokens.

    Parameters
    ----------
    old, new : room for cuts
    tokens : room for `most_tokens`
    ends : (stop - first,) int64, filled with where the tokens of each window end
    """
    n = 0
    for window in range(first, stop):
        n = _write_window(source, window, old, new, tokens, n)
        ends[window - first] = n
    return n


@jit_norefs_inline
def _write_window(source: Any, window: int, old: Any, new: Any, tokens: Any, n: int) -> int:
    """Append a window; an empty one says nothing."""
    first, stop = source.windows[window], source.windows[window + 1]
    if first == stop:
        return n
    stop = min(stop, first + source.most)
    n = put_number(tokens, n, FIRST_LINES, source.starts[first] - window * source.lane)
    n = put_number(tokens, n, FIRST_LINES + 1, stop - first)
    for k in range(COLUMNS):
        old.places[k], old.kinds[k] = source.template.places[k], source.template.kinds[k]
        old.values[k] = source.template.values[k]
    n_old = source.n_template
    for line in range(first, stop):
        n_new, n = _write_line(source, line, old, n_old, new, tokens, n)
        old, new, n_old = new, old, n_new
    return n


@jit_norefs_inline
def _write_line(
    source: Any, line: int, old: Any, n_old: int, new: Any, tokens: Any, n: int
) -> tuple[int, int]:
    """Append a line; return its tokens and how many there are in all."""
    text, at, end = source.text, source.starts[line], source.ends[line]
    n_same, wide = _copy_same(text, at, end, old, n_old, new)
    at, run = new.places[n_same], 0  # column from which on tokens have been the same
    k = n_same
    while at < end:
        if k < n_old and is_same(text, at, end, old, k):
            at += old.places[k + 1] - old.places[k]
            new.places[k + 1], new.kinds[k], new.values[k] = at, old.kinds[k], old.values[k]
        else:
            at = cut_token(text, at, end, new, k)
            n = _put_same(tokens, n, run, k)
            n = _write_token(source, old, n_old, new, k, wide, tokens, n)
            run = k + 1
        wide |= _is_wide(new, k) << k
        k += 1
    n_new = k
    if n_new == n_old:
        return n_new, put(tokens, n, run * PER_COLUMN, REST)
    n = _put_same(tokens, n, run, n_new)
    return n_new, put(tokens, n, n_new * PER_COLUMN, END)


@jit_norefs_inline
def _copy_same(text: Any, at: int, end: int, old: Any, n_old: int, new: Any) -> tuple[int, int]:
    """Set the cuts of tokens that lie in what both lines begin with.

    Return how many, and as bits which of them another one may match.
    """
    new.places[0] = at
    most = min(end - at, old.places[n_old] - old.places[0])
    prefix = common_prefix(text, at, old.places[0], most)
    shift, n, wide = at - old.places[0], 0, 0
    is_whole = prefix == end - at and prefix == most and most == old.places[n_old] - old.places[0]
    stop = old.places[0] + prefix + is_whole
    while n < n_old and old.places[n + 1] < stop:  # the last one may go on here
        new.kinds[n], new.values[n] = old.kinds[n], old.values[n]
        wide |= _is_wide(old, n) << n
        n += 1
        new.places[n] = old.places[n] + shift
    return n, wide


@jit_norefs_inline
def _is_wide(cuts: Any, k: int) -> int:
    """Whether a token is a number that another one may match, as 0 or 1."""
    is_digits = cuts.kinds[k] == DIGITS
    return int(is_digits & (cuts.places[k + 1] - cuts.places[k] >= LEAST_MATCH))


@jit_norefs_inline
def _put_same(tokens: Any, n: int, run: int, k: int) -> int:
    """Append that the tokens from column `run` up to k are the same."""
    if run < k:
        n = put(tokens, n, run * PER_COLUMN, SAME + k - run)
    return n


@jit_norefs_inline
def _write_token(
    source: Any, old: Any, n_old: int, new: Any, k: int, wide: int, tokens: Any, n: int
) -> int:
    """Append a token that differs from that of the line before.

    wide : bits of those before it in its line that it may match
    """
    kind, text, column = new.kinds[k], source.text, k * PER_COLUMN
    if kind == DIGITS:
        match = _match(text, new, k, wide)
        if match >= 0:
            n = put(tokens, n, column, MATCH)
            return put(tokens, n, column + MATCHES, match)
        padded = _padding(text, old, n_old, new, k)
        if padded >= 0:
            plain = _number(new.values[k])
            if source.both and plain != TEXT:
                n = _put_number(tokens, n, column + N_STREAMS, plain, new.values[k])
            operation, operand = _changed(source, old, n_old, new, k, plain)
            if operation != TEXT:
                return _put_number(tokens, n, column, operation + padded, operand)
    elif kind != WORD:
        return _put_hexadecimal(text, new, k, tokens, n)
    n = put(tokens, n, column, TEXT)
    for i in range(new.places[k], new.places[k + 1]):
        n = put(tokens, n, column + TEXT_BYTES, text[i])
    return put(tokens, n, column + TEXT_BYTES, TEXT_END)


@jit_norefs_inline
def _match(text: Any, new: Any, k: int, wide: int) -> int:
    """Return an earlier number of the line that is equal to token k, or -1."""
    b = new.places[k]
    size = new.places[k + 1] - b
    left = np.uint64(wide)
    while left:
        j = trailing_zeros(left)
        a = new.places[j]
        if new.values[j] == new.values[k] and new.places[j + 1] - a == size:
            if common_prefix(text, a, b, size) == size:  # longer numbers wrap
                return int(j)
        left &= left - np.uint64(1)
    return -1


@jit_norefs_inline
def _padding(text: Any, old: Any, n_old: int, new: Any, k: int) -> int:
    """Return what leading zeros add to the operation of a number; -1 where it can be none."""
    at, size = new.places[k], new.places[k + 1] - new.places[k]
    if size > MOST_DIGITS:
        return -1
    if size == 1 or text[at] != 48:
        return 0
    return PADDED if k < n_old and old.places[k + 1] - old.places[k] == size else -1


@jit_norefs_inline
def _number(value: int) -> int:
    """Return the operation that gives a number, TEXT where there is none."""
    for width in range(1, 4):
        if value < 1 << 8 * width:
            return NUMBER + width - 1
    return LONG if value < 1 << 40 else TEXT


@jit_norefs_inline
def _changed(
    source: Any, old: Any, n_old: int, new: Any, k: int, operation: int
) -> tuple[int, int]:
    """Return the operation that a number takes, a difference or that given, and its operand."""
    value = new.values[k]
    if k < n_old and old.kinds[k] == DIGITS and old.places[k + 1] - old.places[k] <= MOST_DIGITS:
        change = value - old.values[k]
        which = _difference(change)
        if which >= 0 and source.differences[k, which]:
            return UP + which, abs(change)
    return operation, value


@jit_norefs_inline
def _difference(change: int) -> int:
    """Return which operation, from UP on, can add a difference; -1 if none."""
    size = abs(change)
    if size >= 1 << 16:
        return -1
    return (2 if change < 0 else 0) + (size >= 1 << 8)


@jit_norefs_inline
def _put_number(tokens: Any, n: int, column: int, operation: int, value: int) -> int:
    """Append an operation and its operand, bytes from the high one on."""
    n = put(tokens, n, column, operation)
    which = (operation - UP) % PADDED
    if which == LONG - UP:
        return put_number(tokens, n, column + LONG_BITS, value)
    stream = column + PARTS[which]
    for i in range(WIDTHS[which] - 1, -1, -1):
        n = put(tokens, n, stream, value >> 8 * i & 255)
        stream += 1
    return n


@jit_norefs_inline
def digit_of(c: Any) -> int:
    """Return the value of a hexadecimal digit."""
    return int(np.int64(c) - 48 if CLASSES[c] == DIGIT else (np.int64(c) & 7) + 9)


@jit_norefs_part
def _put_hexadecimal(text: Any, new: Any, k: int, tokens: Any, n: int) -> int:
    """Append a hexadecimal word or a UUID."""
    at, end, kind, column = new.places[k], new.places[k + 1], new.kinds[k], k * PER_COLUMN
    if kind in (HEX_LOWER, HEX_UPPER):
        n = put(tokens, n, column, HEX + (kind == HEX_UPPER))
        n = put_small(tokens, n, column + HEX_DIGITS, column + HEX_REST, end - at)
        return _put_digits(text, at, end, tokens, n)
    n = put(tokens, n, column, UUID + (kind == UUID_UPPER))
    n = _put_digits(text, at, at + 8, tokens, n)
    n = _put_digits(text, at + 9, at + 13, tokens, n)
    n = put(tokens, n, column + VERSION, digit_of(text[at + 14]))
    n = _put_digits(text, at + 15, at + 18, tokens, n)
    n = put(tokens, n, column + VARIANT, digit_of(text[at + 19]))
    n = _put_digits(text, at + 20, at + 23, tokens, n)
    return _put_digits(text, at + 24, at + 36, tokens, n)


@jit_norefs_inline
def _put_digits(text: Any, at: int, end: int, tokens: Any, n: int) -> int:
    """Append hexadecimal digits, three at a time, raw."""
    while at < end:
        some = min(3, end - at)
        value = 0
        for i in range(at, at + some):
            value = value << 4 | digit_of(text[i])
        n = put_raw(tokens, n, 4 * some, value)
        at += some
    return n
