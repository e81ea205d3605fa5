"""Bit vector with ranks: lines of 64 bytes, each a count of the ones before it and 480 bits.

Line k is words 8k .. 8k + 7, uint64. The lower half of its first word is the count; bit 480k + i is
bit (i + 32) mod 64 of word 8k + (i + 32) div 64. A rank therefore reads one cache line.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.numba.bits import count_ones, prefetch
from gangsaw.codecs.core.numba.jit import jit

WORDS = 8  # words of a line
PER_LINE = 480  # bits
COUNT_BITS = 32
COUNT = np.uint64((1 << COUNT_BITS) - 1)  # mask of the count in a line's first word
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


def count_bit_words(n_bits: int) -> int:
    """Return the 64-bit words of a bit vector with ranks, with one cache line more if full."""
    return WORDS * (n_bits // PER_LINE + 1)


@jit(inline=True, part=True, norefs=True)
def locate_bit(bit: Any) -> Any:
    """Return the word index of a bit, and its position in the word."""
    line = np.uint64(bit) // np.uint64(PER_LINE)
    inner = np.uint64(bit) - line * np.uint64(PER_LINE) + np.uint64(COUNT_BITS)
    return line * np.uint64(WORDS) + (inner >> np.uint64(6)), inner & np.uint64(63)


@jit(inline=True, part=True, norefs=True)
def prefetch_bit(words: Any, bit: Any) -> None:
    """Prefetch the cache line of a bit."""
    prefetch(words, np.uint64(bit) // np.uint64(PER_LINE) * np.uint64(WORDS))


@jit(inline=True, part=True, norefs=True)
def is_set(words: Any, bit: Any) -> Any:
    """Return True if a bit is 1."""
    word, place = locate_bit(bit)
    return (words[word] >> place) & np.uint64(1) != np.uint64(0)


@jit(inline=True, part=True, norefs=True)
def rank(words: Any, bit: Any) -> Any:
    """Return the number of ones before a bit of the bit vector, int64."""
    word, place = locate_bit(bit)
    first = word & ~np.uint64(WORDS - 1)
    below = (np.uint64(1) << place) - np.uint64(1)
    n = np.int64(words[first] & COUNT) + count_ones(words[word] & below & ~_count_of(word))
    # a fixed number of steps, as the needed one is unpredictable
    for at in range(np.uint64(WORDS - 1)):
        other = words[first + at] & ~_count_of(at)
        n += count_ones(other if first + at < word else np.uint64(0))
    return n


@jit(inline=True, part=True, norefs=True)
def _count_of(word: Any) -> Any:
    """Return a mask of the bits that are a count, in the first word of each cache line."""
    return COUNT if word & np.uint64(WORDS - 1) == np.uint64(0) else np.uint64(0)


@jit(inline=True, part=True, norefs=True)
def set_bit(words: Any, bit: Any) -> None:
    """Set a bit to 1; the counts for ranks are filled later."""
    word, place = locate_bit(bit)
    words[word] |= np.uint64(1) << place


@jit(norefs=True)
def fill_counts(words: Any) -> Any:
    """Write the number of ones before each cache line into it; return the number of all ones."""
    n = np.int64(0)
    for line in range(words.size // WORDS):
        at = line * WORDS
        words[at] = (words[at] & ~COUNT) | np.uint64(n)
        n += _ones(words, at)
    return n


@jit(norefs=True)
def checked_ones(words: Any, n_bits: int) -> Any:
    """Return the number of ones; -1 if stored counts are wrong, or bits after `n_bits` are set."""
    n = np.int64(0)
    for line in range(words.size // WORDS):
        at = line * WORDS
        if np.int64(words[at] & COUNT) != n:
            return -1
        n += _ones(words, at)
    return n if rank(words, n_bits) == n else -1


@jit(inline=True, part=True, norefs=True)
def _ones(words: Any, at: int) -> Any:
    n = count_ones(words[at] & ~COUNT)
    for i in range(1, WORDS):
        n += count_ones(words[at + i])
    return n
