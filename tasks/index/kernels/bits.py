"""Bits with their ranks: lines of 64 bytes, each a count of the ones before it and 480 bits.

Line k is words 8k .. 8k + 7, uint64. The lower half of its first word is the count; bit 480k + i is
bit (i + 32) mod 64 of word 8k + (i + 32) div 64. So one line of the cache answers a rank.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.numba.bits import count_ones, prefetch
from gangsaw.codecs.core.numba.jit import jit_norefs, jit_norefs_inline

WORDS = 8  # of a line
PER_LINE = 480  # bits
COUNT_BITS = 32
COUNT = np.uint64((1 << COUNT_BITS) - 1)  # the part of a line's first word that is its count
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


def n_words(n_bits: int) -> int:
    """Return the words of so many bits; a line more where the last one is full, for rank(n)."""
    return WORDS * (n_bits // PER_LINE + 1)


@jit_norefs_inline
def place_of(bit: Any) -> Any:
    """Return word and bit in it of a bit."""
    line = np.uint64(bit) // np.uint64(PER_LINE)
    inner = np.uint64(bit) - line * np.uint64(PER_LINE) + np.uint64(COUNT_BITS)
    return line * np.uint64(WORDS) + (inner >> np.uint64(6)), inner & np.uint64(63)


@jit_norefs_inline
def fetch(words: Any, bit: Any) -> None:
    """Ask for the line of a bit."""
    prefetch(words, np.uint64(bit) // np.uint64(PER_LINE) * np.uint64(WORDS))


@jit_norefs_inline
def is_set(words: Any, bit: Any) -> Any:
    """Whether a bit is one."""
    word, place = place_of(bit)
    return (words[word] >> place) & np.uint64(1) != np.uint64(0)


@jit_norefs_inline
def rank(words: Any, bit: Any) -> Any:
    """Return how many ones are before a bit; int64."""
    word, place = place_of(bit)
    first = word & ~np.uint64(WORDS - 1)
    below = (np.uint64(1) << place) - np.uint64(1)
    n = np.int64(words[first] & COUNT) + count_ones(words[word] & below & ~_count_of(word))
    for at in range(np.uint64(WORDS - 1)):  # always as many: their number cannot be foreseen
        other = words[first + at] & ~_count_of(at)
        n += count_ones(other if first + at < word else np.uint64(0))
    return n


@jit_norefs_inline
def _count_of(word: Any) -> Any:
    """Return the bits of a word that are a count."""
    return COUNT if word & np.uint64(WORDS - 1) == np.uint64(0) else np.uint64(0)


@jit_norefs_inline
def set_bit(words: Any, bit: Any) -> None:
    """Make a bit one; counts are filled afterwards."""
    word, place = place_of(bit)
    words[word] |= np.uint64(1) << place


@jit_norefs
def fill_counts(words: Any) -> Any:
    """Fill the counts of lines; return the number of ones."""
    n = np.int64(0)
    for line in range(words.size // WORDS):
        at = line * WORDS
        words[at] = (words[at] & ~COUNT) | np.uint64(n)
        n += _ones(words, at)
    return n


@jit_norefs
def checked_ones(words: Any, n_bits: int) -> Any:
    """Return the number of ones; -1 where counts are wrong, or bits behind the last one are set."""
    n = np.int64(0)
    for line in range(words.size // WORDS):
        at = line * WORDS
        if np.int64(words[at] & COUNT) != n:
            return -1
        n += _ones(words, at)
    return n if rank(words, n_bits) == n else -1


@jit_norefs_inline
def _ones(words: Any, at: int) -> Any:
    n = count_ones(words[at] & ~COUNT)
    for i in range(1, WORDS):
        n += count_ones(words[at + i])
    return n
