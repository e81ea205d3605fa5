"""Transform of bases in lines of 64 bytes: four counts and 192 bases of two bits.

Line k is words 8k .. 8k + 7, uint64: counts of A, C, G, T before it, 32 bits each, and then three
pairs of the low and the high bits of 64 bases. Its rows are 192k .. 192k + 191. A few logical
operations therefore give a mask of equal bases among 64. Rows preceded by a break or by the start
of the text, instead of a base, are odd: they have code 0, are not counted, and are listed
separately.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.numba.bits import count_ones, prefetch
from gangsaw.codecs.core.numba.jit import jit

WORDS = 8  # words of a line
COUNTS = 2  # words of a line with counts
PER_LINE = 192
PER_PAIR = 64  # bases of two words
PAIRS = 3


def _masks() -> Any:
    """Return masks of the bases before base i of a cache line: (193, 3) uint64, flat."""
    pairs = range(0, PER_LINE, PER_PAIR)
    of = [min(max(n - pair, 0), PER_PAIR) for n in range(PER_LINE + 1) for pair in pairs]
    return np.array([(1 << n) - 1 for n in of], np.uint64)


MASKS = _masks()


class BaseRows(NamedTuple):
    """Burrows-Wheeler transform of bases in cache lines with counts, for ranks.

    Attributes
    ----------
    words : (8 l,) uint64, cache lines of counts and 192 bases
    has_odd : (l,) bool, True for cache lines with an odd row
    odd : (k,) int64, rows without a base before their suffix, ascending
    firsts : (5,) int64, first row of the suffixes that begin with each base, and the number of rows
    """

    words: npt.NDArray[np.uint64]
    has_odd: npt.NDArray[np.bool_]
    odd: npt.NDArray[np.int64]
    firsts: npt.NDArray[np.int64]


def count_row_words(n_rows: int) -> int:
    """Return the number of 64-bit words for `n_rows` rows, with one cache line more if full."""
    return WORDS * (n_rows // PER_LINE + 1)


@jit(inline=True, part=True, norefs=True)
def base_at(words: Any, row: Any) -> Any:
    """Return the base before the suffix of a row; 0 for odd rows, which have none."""
    line = np.uint64(row) // np.uint64(PER_LINE)
    inner = np.uint64(row) - line * np.uint64(PER_LINE)
    at = line * np.uint64(WORDS) + np.uint64(COUNTS) + (inner >> np.uint64(6) << np.uint64(1))
    bit = inner & np.uint64(63)
    low, high = words[at] >> bit, words[at + np.uint64(1)] >> bit
    return (low & np.uint64(1)) | (high & np.uint64(1)) << np.uint64(1)


@jit(inline=True, part=True, norefs=True)
def prefetch_row(words: Any, row: Any) -> None:
    """Prefetch the cache line with the base of a row."""
    prefetch(words, np.uint64(row) // np.uint64(PER_LINE) * np.uint64(WORDS))


@jit(inline=True, part=True, norefs=True)
def step_base(of: Any, base: Any, row: Any) -> Any:
    """Return the first row whose suffix is at least a base followed by the suffix of `row`.

    It is one step of a backward search (LF mapping).
    """
    line = np.uint64(row) // np.uint64(PER_LINE)
    inner = np.uint64(row) - line * np.uint64(PER_LINE)
    at = line * np.uint64(WORDS)
    pair = of.words[at + (base >> np.uint64(1))]
    n = np.int64((pair >> ((base & np.uint64(1)) << np.uint64(5))) & np.uint64(0xFFFFFFFF))
    mask = inner * np.uint64(PAIRS)
    for pair in range(np.uint64(PAIRS)):
        n += count_ones(_same(of.words, at, pair, base) & MASKS[mask + pair])
    if of.has_odd[line] and base == np.uint64(0):
        n -= _odd_between(of.odd, np.int64(line) * PER_LINE, np.int64(row))
    return of.firsts[base] + n


@jit(inline=True, part=True, norefs=True)
def _same(words: Any, at: Any, pair: Any, base: Any) -> Any:
    """Return a mask of the bases that equal `base`, among the 64 in a pair of words."""
    word = at + np.uint64(COUNTS) + (pair << np.uint64(1))
    low = words[word] ^ ((base & np.uint64(1)) - np.uint64(1))
    return low & (words[word + np.uint64(1)] ^ ((base >> np.uint64(1)) - np.uint64(1)))


@jit(inline=True, part=True, norefs=True)
def is_odd(of: Any, row: Any) -> Any:
    """Return True if there is no base before the suffix of a row."""
    at = _first_from(of.odd, row)
    return at < of.odd.size and of.odd[at] == row


@jit(part=True, norefs=True)
def _odd_between(odd: Any, begin: Any, end: Any) -> Any:
    """Return the number of odd rows (without a base before their suffix) in begin..end - 1."""
    return _first_from(odd, end) - _first_from(odd, begin)


@jit(inline=True, part=True, norefs=True)
def _first_from(odd: Any, row: Any) -> Any:
    low, high = np.int64(0), np.int64(odd.size)
    while low < high:
        middle = (low + high) >> 1
        if odd[middle] < row:
            low = middle + 1
        else:
            high = middle
    return low


@jit(norefs=True)
def fill_rows(codes: Any, suffixes: Any, words: Any, odd: Any) -> int:
    """Write the transform of bases into cache lines, and list odd rows; return their number.

    Odd rows have no base before their suffix.

    Parameters
    ----------
    codes : (n,) uint8: 0 for breaks, 1..4 for bases
    suffixes : (n,) int32, its suffix array
    words : (8 l,) uint64, zeros, gets the cache lines
    odd : (k,) int64, large enough for all odd rows
    """
    a = c = g = t = used = row = 0
    for line in range(words.size // WORDS):
        at = line * WORDS
        words[at] = np.uint64(a) | np.uint64(c) << np.uint64(32)
        words[at + 1] = np.uint64(g) | np.uint64(t) << np.uint64(32)
        for inner in range(min(PER_LINE, codes.size + 1 - row)):
            place = codes.size if row == 0 else np.int64(suffixes[row - 1])
            code = 0 if place == 0 else np.int64(codes[place - 1])
            if code == 0:
                odd[used] = row
                used += 1
            else:
                base, bit = np.uint64(code - 1), np.uint64(inner & 63)
                word = at + COUNTS + (inner >> 6 << 1)
                words[word] |= (base & np.uint64(1)) << bit
                words[word + 1] |= (base >> np.uint64(1)) << bit
                a += code == 1
                c += code == 2
                g += code == 3
                t += code == 4
            row += 1
    return used


@jit(norefs=True)
def check_base_rows(words: Any, n_rows: int, odd: Any, has_odd: Any, totals: Any) -> Any:
    """Return True if counts, bases and odd rows agree; fill `has_odd` (l,) and `totals` (4,).

    `has_odd` marks cache lines with an odd row, `totals` counts the bases A, C, G, T.
    """
    used = 0
    totals[:] = 0
    for line in range(words.size // WORDS):
        at, begin = line * WORDS, line * PER_LINE
        end = min(begin + PER_LINE, n_rows)
        first = used
        while used < odd.size and odd[used] < end:
            if odd[used] < begin or (used and odd[used] <= odd[used - 1]):
                return False
            if base_at(words, odd[used]) != np.uint64(0):
                return False
            used += 1
        has_odd[line] = used > first
        if not _are_counts(words, at, totals) or not _is_clean(words, at, end - begin):
            return False
        _add_counts(words, at, end - begin, totals)
        totals[0] -= used - first
    return used == odd.size


@jit(inline=True, part=True, norefs=True)
def _are_counts(words: Any, at: int, totals: Any) -> Any:
    for base in range(4):
        count = (words[at + (base >> 1)] >> np.uint64(32 * (base & 1))) & np.uint64(0xFFFFFFFF)
        if np.int64(count) != totals[base]:
            return False
    return True


@jit(inline=True, part=True, norefs=True)
def _is_clean(words: Any, at: int, n: int) -> Any:
    """Return True if no bits are set after the last of n bases in the cache line at word `at`."""
    for word in range(2 * PAIRS):
        if words[at + COUNTS + word] & ~MASKS[PAIRS * n + (word >> 1)]:
            return False
    return True


@jit(inline=True, part=True, norefs=True)
def _add_counts(words: Any, at: int, n: int, totals: Any) -> None:
    for base in range(4):
        for pair in range(PAIRS):
            same = _same(words, np.uint64(at), np.uint64(pair), np.uint64(base))
            totals[base] += count_ones(same & MASKS[PAIRS * n + pair])
