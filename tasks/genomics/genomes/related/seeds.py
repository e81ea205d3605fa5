"""Hash table of k-mers of reference bases, and comparison of bases at a position. Compiled."""

from __future__ import annotations

from math import ceil, log2
from typing import Any

import numpy as np

from gangsaw.codecs.core.arrays import Bytes, Int64, Int64s, UInt32s
from gangsaw.codecs.core.nucleotides.alphabet import NOT_A_BASE
from gangsaw.codecs.core.numba.bits import load_be64
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.words import load_le64

STRIDE = 4  # distance of reference positions whose k-mers are entered
NEAR = 32  # bases that are compared after an edit
OUTSIDE = 9  # code for a position outside of the reference
FREE = -1  # position that stands for none
NO_ENTRY = 0xFFFF_FFFF  # empty entry; 32 bits halve the memory and the cache misses
MOST_ENTERED = NO_ENTRY // 2 * STRIDE  # reference bases whose k-mers can be entered
TOGETHER = 256  # k-mers that are entered together
LANES = 8  # bases of a 64-bit word
ONES, THREES = 0x0101_0101_0101_0101, 0x0303_0303_0303_0303


def choose_k(n: int) -> int:
    """Return k for n reference bases: 4^k is at least 4096 n, so few k-mers match by chance."""
    return min(31, max(11, ceil(log2(max(2, n)) / 2) + 6))


@jit(part=True)
def slot_of(word: np.uint64, bits: int) -> Any:
    """Return the hash table index of a k-mer."""
    return np.int64((np.uint64(word) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - bits))


@jit
def enter(known: Bytes, begin: Int64, end: int, k: int, table: UInt32s, bits: int) -> None:
    """Enter the k-mers of reference bases begin..end - 1 in canonical form; the first one stays.

    table : (2^bits,) uint32, NO_ENTRY or 2 * (position / STRIDE) + (the reverse complement is
        canonical)
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


@jit(part=True)
def put_entries(slots: Int64s, entries: UInt32s, m: Int64, table: UInt32s) -> None:
    """Write m entries to a hash table without branches, so that cache lines load in parallel."""
    for q in range(m):
        old = table[slots[q]]
        table[slots[q]] = entries[q] if old == NO_ENTRY else old


@jit(part=True)
def known_at(known: Bytes, n: int, place: Int64, strand: Int64) -> Any:
    """Return the reference base at `place`, complemented on strand -1; OUTSIDE if there is none."""
    if place < 0 or place >= n:
        return np.int64(OUTSIDE)
    return np.int64(known[place]) if strand > 0 else 3 - np.int64(known[place])


@jit(part=True)
def reaches(n: int, place: Int64, strand: Int64, m: Int64) -> bool:
    """Return True if the reference has m bases from `place` on, in the direction of `strand`."""
    last = place + (m - 1) * strand
    return bool(min(place, last) >= 0 and max(place, last) < n)


@jit(part=True)
def unequal(text: Bytes, i: Int64, known: Bytes, place: Int64, strand: Int64) -> Any:
    """Compare LANES bases with the reference.

    Return a word with the lowest bit set in unequal bytes.

    Residues that are not bases match any base. All positions must be valid.
    """
    word = load_le64(text, i)
    if strand > 0:
        other = load_le64(known, place)
    else:
        other = load_be64(known, place - LANES + 1) ^ np.uint64(THREES)
    bits = word ^ other
    bits |= bits >> np.uint64(1) | bits >> np.uint64(2)
    return bits & ~(word >> np.uint64(2)) & np.uint64(ONES)


@jit(part=True)
def equal_of(
    text: Bytes, i: Int64, end: int, known: Bytes, n: int, place: Int64, strand: Int64
) -> Any:
    """Return how many of the next NEAR bases match the reference, scaled up at the text's end."""
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


@jit(part=True)
def find_seed(text: Bytes, i: Int64, k: int, table: UInt32s, bits: int) -> Any:
    """Return reference position and strand of the k-mer at i; FREE if the table lacks it."""
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


@jit(part=True)
def is_here(
    text: Bytes, i: Int64, k: int, known: Bytes, n: int, place: Int64, strand: Int64
) -> bool:
    """Return True if all k bases from i on match the reference at `place` on `strand`."""
    for q in range(k):
        if np.int64(text[i + q]) != known_at(known, n, place + q * strand, strand):
            return False
    return True
