"""Splitting of name lines into tokens, which only an encoder does, in any way it likes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gangsaw.codecs.core.arrays import Bytes
from gangsaw.codecs.core.numba.bits import trailing_zeros
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.words import load_le64
from gangsaw.codecs.reads.lines import Text
from gangsaw.codecs.reads.name.streams import (
    DIGITS,
    HEX_LEAST,
    HEX_LOWER,
    HEX_UPPER,
    MOST_TOKENS,
    UUID_LENGTH,
    UUID_LOWER,
    UUID_PARTS,
    UUID_UPPER,
    WORD,
    Cuts,
)

# classes of a byte: decimal, hexadecimal, any other letter
DIGIT, LOWER, UPPER, LETTER = 1, 2, 4, 8


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
# every byte that is no digit is a letter
DIGIT_CLASSES = np.where(CLASSES == 0, np.uint8(LETTER), CLASSES)


class Token(NamedTuple):
    """Token of a name: a number, a hexadecimal word, a UUID, or the text between them.

    Attributes
    ----------
    at, end : its start and end in the text
    kind : WORD, DIGITS, HEX_LOWER and so on
    value : value of a number of at most MOST_DIGITS digits
    """

    at: int
    end: int
    kind: int
    value: int


@jit(norefs=True)
def split_line(text: Bytes, at: int, end: int, cuts: Cuts) -> int:
    """Split the name text[at:end] into tokens, written to `cuts`; return their number.

    Tokens are numbers, hexadecimal words, and the text between them.
    """
    n, begin = 0, at
    cuts.places[0] = 0
    while at < end:
        token = next_token(text, at, end, n)
        at, n = token.end, n + 1
        cuts.places[n], cuts.kinds[n - 1], cuts.values[n - 1] = at - begin, token.kind, token.value
    return n


@jit(inline=True, part=True, norefs=True)
def next_token(text: Bytes, at: int, end: int, n: int) -> Token:
    """Return the token at an offset in a line, after n other tokens."""
    stop, kind, value = _number(text, at, end)
    if n == MOST_TOKENS - 1:
        stop, kind = end, WORD
    elif kind != DIGITS:
        stop, kind = _hexadecimal(text, at, end)
        if kind == WORD:
            stop, kind = _plain(text, at, end)
    return Token(at, stop, kind, value)


@jit(inline=True, part=True, norefs=True)
def _number(text: Bytes, at: int, end: int) -> tuple[int, int, int]:
    """Return end, kind and value of the digits at an offset; WORD if they may be another token."""
    stop, value = at, np.int64(0)
    if at + 8 <= text.size:
        n, value = _eight(load_le64(text, at), end - at)
        stop += n
    if stop == at or stop == at + 8:
        while stop < end and CLASSES[text[stop]] == DIGIT:
            value = 10 * value + np.int64(text[stop]) - 48
            stop += 1
    is_plain = stop > at
    if stop < end:  # no letter follows, nor `-` after as many digits as a UUID begins with
        is_plain &= CLASSES[text[stop]] == 0 and (text[stop] != 45 or stop - at != HEX_LEAST)
    return stop, DIGITS if is_plain else WORD, int(value)


@jit(inline=True, part=True, norefs=True)
def _eight(word: np.uint64, most: int) -> tuple[int, np.int64]:
    """Return the number of leading digits in 8 bytes, at most `most`, and their value.

    It processes all bytes at once: lengths of numbers are hard to predict.
    """
    digits = word ^ np.uint64(0x3030303030303030)
    others = (digits | digits + np.uint64(0x0606060606060606)) & np.uint64(0xF0F0F0F0F0F0F0F0)
    n = min(most, 8 if others == 0 else trailing_zeros(others) >> 3)
    if n == 0:
        return 0, np.int64(0)
    digits <<= np.uint64(64 - 8 * n)
    pairs = digits * np.uint64(10) + (digits >> np.uint64(8)) & np.uint64(0x00FF00FF00FF00FF)
    fours = pairs * np.uint64(100) + (pairs >> np.uint64(16)) & np.uint64(0x0000FFFF0000FFFF)
    value = fours * np.uint64(10000) + (fours >> np.uint64(32)) & np.uint64(0xFFFFFFFF)
    return n, np.int64(value)


@jit(inline=True, part=True, norefs=True)
def _plain(text: Bytes, at: int, end: int) -> tuple[int, int]:
    """Return the end and kind of a token that is not hexadecimal."""
    if CLASSES[text[at]] != DIGIT:
        return _end_of_word(text, at, end), WORD
    while at < end and CLASSES[text[at]] == DIGIT:
        at += 1
    return at, DIGITS


@jit(inline=True, part=True, norefs=True)
def _end_of_word(text: Bytes, at: int, end: int) -> int:
    """Return the end of a text token: the offset of the next digit or hexadecimal word."""
    was_letter = False
    while at < end and CLASSES[text[at]] != DIGIT:
        is_letter = CLASSES[text[at]] != 0
        if is_letter and not was_letter and _hexadecimal(text, at, end)[1] != WORD:
            break
        was_letter = is_letter
        at += 1
    return at


@jit(inline=True, part=True, norefs=True)
def is_same_token(text: Bytes, at: int, end: int, old: Token, k: int) -> bool:
    """Return True if the token at this offset equals token k of the line before, `old`.

    It must also end there.
    """
    size = old.end - old.at
    if size > end - at:
        return False
    for i in range(size):
        if text[at + i] != text[old.at + i]:
            return False
    if at + size == end or k == MOST_TOKENS - 1:
        return bool(at + size == end)
    return bool((CLASSES[text[at + size]] == DIGIT) == (old.kind == WORD) or old.kind > DIGITS)


@jit(inline=True, part=True, norefs=True)
def _hexadecimal(text: Bytes, at: int, end: int) -> tuple[int, int]:
    """Return end and kind of a hexadecimal word or UUID at an offset, else WORD."""
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


@jit(part=True, norefs=True)
def _uuid_case(text: Bytes, at: int) -> int:
    """Return the case of a UUID's letters (LOWER if it has none), 0 if it is no UUID."""
    for i in range(8, 24, 5):
        if text[at + i] != 45:
            return 0
    seen = 0
    for size in UUID_PARTS:
        for i in range(at, at + size):
            kind = DIGIT_CLASSES[text[i]]
            if kind == LETTER:  # immediately: without vectors, whose code took LLVM half a second
                return 0
            seen |= kind
        at += size + 1
    if seen & LOWER and seen & UPPER:
        return 0
    return UPPER if seen & UPPER else LOWER


@jit(inline=True, part=True, norefs=True)
def common_prefix(text: Bytes, a: int, b: int, most: int) -> int:
    """Return the length of the common prefix of text[a : a + most] and text[b : b + most]."""
    n = 0
    while n + 8 <= most:
        differ = load_le64(text, a + n) ^ load_le64(text, b + n)
        if differ:
            return n + int(trailing_zeros(differ) >> 3)
        n += 8
    if max(a, b) + n + 8 <= text.size:
        differ = load_le64(text, a + n) ^ load_le64(text, b + n) | np.uint64(1 << 63)
        return min(most, n + int(trailing_zeros(differ) >> 3))
    while n < most and text[a + n] == text[b + n]:
        n += 1
    return n
