"""Where k-mers of known letters are, and how well letters go on from a place. Compiled."""

from __future__ import annotations

from math import ceil, log2
from typing import Any

import numpy as np

from gangsaw.codecs.core.nucleotides.letters import NOT_A_BASE
from gangsaw.codecs.core.numba.bits import load_be64
from gangsaw.codecs.core.numba.floats import load_le64
from gangsaw.codecs.core.numba.jit import jit, jit_part

STRIDE = 4  # known places between two that are entered
NEAR = 32  # letters that are compared behind an edit
OUTSIDE = 9  # the letter where there is none
FREE = -1  # a place of none
NO_ENTRY = 0xFFFF_FFFF  # of 32 bits: half the memory, and half of what misses a cache
MOST_ENTERED = NO_ENTRY // 2 * STRIDE  # known letters; of those behind none are entered
TOGETHER = 256  # k-mers that are entered
LANES = 8  # letters of a word
ONES, THREES = 0x0101_0101_0101_0101, 0x0303_0303_0303_0303


def seed_letters(n: int) -> int:
    """Return k for n known letters: 4^k is 4096 times as many, so that few match by chance."""
    return min(31, max(11, ceil(log2(max(2, n)) / 2) + 6))


@jit_part
def slot_of(word: Any, bits: int) -> Any:
    """Return the entry of a k-mer."""
    return np.int64((np.uint64(word) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - bits))


@jit
def enter(known: Any, begin: int, end: int, k: int, table: Any, bits: int) -> None:
    """Enter k-mers of known letters begin..end - 1, the lower one of both strands; the first stays.

    table : (2^bits,) uint32, NO_ENTRY or 2 * (place / STRIDE) + (the other strand is the lower one)
    """
    mask, top = np.uint64((1 << 2 * k) - 1), np.uint64(2 * (k - 1))
    word, back = np.uint64(0), np.uint64(0)
    slots, entries, m = np.empty(TOGETHER, np.int64), np.empty(TOGETHER, np.uint32), 0
    for i in range(begin, end):
        c = np.uint64(known[i])
        word = (word << np.uint64(2) | c) & mask
        back = back >> np.uint64(2) | (np.uint64(3) - c) << top
        first = i - k + 1
        if first >= begin and first % STRIDE == 0 and word != back and first < MOST_ENTERED:
            slots[m] = slot_of(min(word, back), bits)
            entries[m] = first // STRIDE * 2 + np.int64(back < word)
            m += 1
        if m == TOGETHER:
            put_entries(slots, entries, m, table)
            m = 0
    put_entries(slots, entries, m, table)


@jit_part
def put_entries(slots: Any, entries: Any, m: Any, table: Any) -> None:
    """Enter m k-mers without a branch, so that their places are fetched side by side."""
    for q in range(m):
        old = table[slots[q]]
        table[slots[q]] = entries[q] if old == NO_ENTRY else old


@jit_part
def known_at(known: Any, n: int, place: Any, strand: Any) -> Any:
    """Return the letter at a place, on this strand; OUTSIDE where there is none."""
    if place < 0 or place >= n:
        return np.int64(OUTSIDE)
    return np.int64(known[place]) if strand > 0 else 3 - np.int64(known[place])


@jit_part
def reaches(n: Any, place: Any, strand: Any, m: Any) -> bool:
    """Whether all of m letters from a place on, on this strand, are known."""
    last = place + (m - 1) * strand
    return bool(min(place, last) >= 0 and max(place, last) < n)


@jit_part
def unequal(text: Any, i: Any, known: Any, place: Any, strand: Any) -> Any:
    """Return in which bytes, by their lowest bits, LANES letters are others than known ones.

    What is no base is equal to any. All of them must be there.
    """
    word = load_le64(text, i)
    if strand > 0:
        other = load_le64(known, place)
    else:
        other = load_be64(known, place - LANES + 1) ^ np.uint64(THREES)
    bits = word ^ other
    bits |= bits >> np.uint64(1) | bits >> np.uint64(2)
    return bits & ~(word >> np.uint64(2)) & np.uint64(ONES)


@jit_part
def equal_of(text: Any, i: Any, end: Any, known: Any, n: int, place: Any, strand: Any) -> Any:
    """Return how many of the next NEAR letters are equal, in proportion where the text ends."""
    if end - i >= NEAR and reaches(n, place, strand, NEAR):
        odd = np.uint64(0)
        for q in range(0, NEAR, LANES):
            odd += unequal(text, i + q, known, place + q * strand, strand)
        return NEAR - np.int64(odd * np.uint64(ONES) >> np.uint64(56))
    found, count = 0, min(NEAR, end - i)
    if count <= 0:
        return 0
    for q in range(count):
        c = np.int64(text[i + q])
        found += c == NOT_A_BASE or c == known_at(known, n, place + q * strand, strand)
    return found if count == NEAR else found * NEAR // count


@jit_part
def place_of(text: Any, i: Any, k: int, table: Any, bits: int) -> Any:
    """Return where the k-mer at i is known, FREE where nowhere, and its strand."""
    word, back, top = np.uint64(0), np.uint64(0), np.uint64(2 * (k - 1))
    for q in range(k):
        c = text[i + q]
        if c >= NOT_A_BASE:
            return np.int64(FREE), 1
        word = word << np.uint64(2) | np.uint64(c)
        back = back >> np.uint64(2) | (np.uint64(3) - np.uint64(c)) << top
    entry = np.int64(table[slot_of(min(word, back), bits)])
    if entry == NO_ENTRY or word == back:
        return np.int64(FREE), 1
    strand = 1 if entry & 1 == np.int64(back < word) else -1
    first = (entry >> 1) * STRIDE
    return (first if strand > 0 else first + k - 1), strand


@jit_part
def is_here(text: Any, i: Any, k: int, known: Any, n: int, place: Any, strand: Any) -> bool:
    """Whether all k letters at i are the known ones."""
    for q in range(k):
        if np.int64(text[i + q]) != known_at(known, n, place + q * strand, strand):
            return False
    return True
