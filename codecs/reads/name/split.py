"""Lines of names cut into tokens; an encoder may cut as it likes, a decoder never does."""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.numba.floats import load_le64
from gangsaw.codecs.core.numba.jit import jit_norefs, jit_norefs_inline, jit_norefs_part
from gangsaw.codecs.reads.lines import Text
from gangsaw.codecs.reads.name.streams import (
    DIGITS,
    HEX_LEAST,
    HEX_LOWER,
    HEX_UPPER,
    MOST_TOKENS,
    UUID_LENGTH,
    UUID_LOWER,
    UUID_UPPER,
    WORD,
)

DIGIT, LOWER, UPPER, LETTER = 1, 2, 4, 8  # of a byte: decimal, hexadecimal, any other letter


def _classes() -> Text:
    out = np.zeros(256, np.uint8)
    for letters, kind in (
        (b"0123456789", DIGIT),
        (b"abcdef", LOWER),
        (b"ABCDEF", UPPER),
        (b"ghijklmnopqrstuvwxyzGHIJKLMNOPQRSTUVWXYZ", LETTER),
    ):
        out[list(letters)] = kind
    return out


CLASSES = _classes()


@jit_norefs
def split_line(text: Any, at: int, end: int, cuts: Any) -> int:
    """Cut text[at:end] into tokens; return how many.

    Numbers, hexadecimal words, and what is between them.
    """
    n = 0
    cuts.places[0] = at
    while at < end:
        at = cut_token(text, at, end, cuts, n)
        n += 1
    return n


@jit_norefs_inline
def cut_token(text: Any, at: int, end: int, cuts: Any, n: int) -> int:
    """Cut token n of a line, which begins here; return where it ends."""
    stop, kind, value = _number(text, at, end)
    if n == MOST_TOKENS - 1:
        stop, kind = end, WORD
    elif kind != DIGITS:
        stop, kind = _hexadecimal(text, at, end)
        if kind == WORD:
            stop, kind = _plain(text, at, end)
    cuts.places[n + 1], cuts.kinds[n], cuts.values[n] = stop, kind, value
    return stop


@jit_norefs_inline
def _number(text: Any, at: int, end: int) -> tuple[int, int, int]:
    """Return the end, kind and value of digits that begin here; WORD where they may be others."""
    stop, value, digit = at, np.int64(0), np.int64(0)
    while stop < end:
        digit = np.int64(text[stop]) - 48
        if digit < 0 or digit > 9:
            break
        value = 10 * value + digit
        stop += 1
    is_plain = stop > at
    if stop < end:  # no letter follows, nor `-` behind as many digits as a UUID begins with
        is_plain &= CLASSES[text[stop]] == 0 and (digit != 45 - 48 or stop - at != HEX_LEAST)
    return stop, DIGITS if is_plain else WORD, int(value)


@jit_norefs_inline
def _plain(text: Any, at: int, end: int) -> tuple[int, int]:
    """Return the end and kind of a token that is not hexadecimal."""
    if CLASSES[text[at]] != DIGIT:
        return _end_of_word(text, at, end), WORD
    while at < end and CLASSES[text[at]] == DIGIT:
        at += 1
    return at, DIGITS


@jit_norefs_inline
def _end_of_word(text: Any, at: int, end: int) -> int:
    """Return where a digit comes, or a hexadecimal word."""
    was_letter = False
    while at < end and CLASSES[text[at]] != DIGIT:
        is_letter = CLASSES[text[at]] != 0
        if is_letter and not was_letter and _hexadecimal(text, at, end)[1] != WORD:
            break
        was_letter = is_letter
        at += 1
    return at


@jit_norefs_inline
def is_same(text: Any, at: int, end: int, old: Any, k: int) -> bool:
    """Whether a token that begins here is token k of the line before, and ends where it did."""
    begin, kind = old.places[k], old.kinds[k]
    size = old.places[k + 1] - begin
    if size > end - at:
        return False
    for i in range(size):
        if text[at + i] != text[begin + i]:
            return False
    if at + size == end or k == MOST_TOKENS - 1:
        return bool(at + size == end)
    return bool((CLASSES[text[at + size]] == DIGIT) == (kind == WORD) or kind > DIGITS)


@jit_norefs_inline
def _hexadecimal(text: Any, at: int, end: int) -> tuple[int, int]:
    """Return the end and the kind of a hexadecimal word or UUID that begins here, else WORD."""
    stop, seen = at, 0
    while stop < end and CLASSES[text[stop]] != 0:
        seen |= CLASSES[text[stop]]
        stop += 1
        if seen & LETTER:
            return at, WORD
    if stop - at == HEX_LEAST and at + UUID_LENGTH <= end and text[stop] == 45:
        case = _uuid_case(text, at)
        if case:
            return at + UUID_LENGTH, UUID_UPPER if case == UPPER else UUID_LOWER
    if stop - at < HEX_LEAST or seen not in (DIGIT | LOWER, DIGIT | UPPER):
        return at, WORD
    return stop, HEX_UPPER if seen & UPPER else HEX_LOWER


@jit_norefs_part
def _uuid_case(text: Any, at: int) -> int:
    """Return the case of the letters of a UUID (LOWER if it has none), 0 where it is none."""
    seen = 0
    for i in range(UUID_LENGTH):
        c = text[at + i]
        if i in (8, 13, 18, 23):
            if c != 45:
                return 0
        elif CLASSES[c] in (0, LETTER):
            return 0
        else:
            seen |= CLASSES[c]
    if seen & LOWER and seen & UPPER:
        return 0
    return UPPER if seen & UPPER else LOWER


@jit_norefs_inline
def common_prefix(text: Any, a: int, b: int, most: int) -> int:
    """Return how many of the bytes text[a : a + most] are those of text[b : b + most]."""
    n = 0
    while n + 8 <= most and load_le64(text, a + n) == load_le64(text, b + n):
        n += 8
    while n < most and text[a + n] == text[b + n]:
        n += 1
    return n
