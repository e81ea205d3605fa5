"""Minimizers: k-mers with the least hash in a window of w consecutive ones, on either strand.

M. Roberts et al. (2004); both strands and the hash that is a permutation: H. Li (2016), minimap.
All k-mers of a window that share the least hash are selected, so that a sequence and its reverse
complement have the same minimizers.

The least hash of the windows is computed for all positions at once, by doubling: a queue of
candidates would wait for a comparison at each base.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes, ScalarT, UInt32s
from gangsaw.codecs.core.numba.jit import jit

NONE = np.uint32(0xFFFFFFFF)  # hash of a k-mer with a base other than A, C, G and T
TILE = 4096  # k-mers at once: their hashes stay in the L1 and L2 caches
MOST_K = 15  # two bits per base, and NONE is no hash


class Seeds(NamedTuple):
    """Selection of k-mers as seeds: minimizers.

    Attributes
    ----------
    k : bases of a k-mer, odd, so that none is its own reverse complement
    w : number of consecutive k-mers of which the one with the least hash is a seed
    """

    k: int
    w: int


class Minimizers(NamedTuple):
    """Minimizers of a sequence, sorted by position.

    Attributes
    ----------
    hashes : (n,) uint32
    positions : (n,) int64, twice the position of the k-mer's first base, plus 1 if the reverse
        complement of the k-mer was hashed
    """

    hashes: npt.NDArray[np.uint32]
    positions: npt.NDArray[np.int64]


@jit
def minimizers(codes: Bytes, begin: int, end: int, seeds: Seeds) -> Minimizers:
    """Return the minimizers of codes[begin:end], (n,) uint8, 0..3 for A C G T, others above."""
    k, w = seeds
    n = max(0, end - begin - k + 1)  # k-mers
    w = max(1, min(w, n))
    room = TILE + 2 * w
    words, backs = np.empty(room, np.uint32), np.empty(room, np.uint8)
    least, other = np.empty(room, np.uint32), np.empty(room, np.uint32)
    hashes, positions = np.empty(n // 3 + 64, np.uint32), np.empty(n // 3 + 64, np.int64)
    found = 0
    for first in range(0, n, TILE):
        last = min(first + TILE, n)
        low, high = max(0, first - w + 1), min(n, last + w - 1)
        hash_kmers(codes, begin + low, high - low, k, words, backs)
        fill_window_minima(words, high - low, w, least, other)
        if found + last - first > hashes.size:
            hashes, positions = grow_array(hashes, n), grow_array(positions, n)
        for i in range(first - low, last - low):
            if words[i] == least[i] and words[i] != NONE:
                hashes[found] = words[i]
                positions[found] = 2 * (begin + low + i) + backs[i]
                found += 1
    return Minimizers(hashes[:found], positions[:found])


@jit(part=True)
def grow_array(array: npt.NDArray[ScalarT], most: int) -> npt.NDArray[ScalarT]:
    """Return an array with the same items, and capacity for those of another TILE of positions."""
    out = np.empty(min(2 * array.size, most) + TILE, array.dtype)
    for i in range(array.size):
        out[i] = array[i]
    return out


@jit(part=True)
def hash_kmers(codes: Bytes, begin: int, n: int, k: int, words: UInt32s, backs: Bytes) -> None:
    """Write the hashes of n k-mers to `words`, and 1 to `backs` for each reverse complement."""
    mask, top = np.uint32((1 << (2 * k)) - 1), np.uint32(2 * (k - 1))
    word, back, good = np.uint32(0), np.uint32(0), 0
    for i in range(begin, begin + k - 1):
        code = np.uint32(codes[i])
        good = good + 1 if code < 4 else 0
        word = (word << np.uint32(2) | (code & np.uint32(3))) & mask
        back = back >> np.uint32(2) | (np.uint32(3) - (code & np.uint32(3))) << top
    for i in range(n):
        code = np.uint32(codes[begin + k - 1 + i])
        good = good + 1 if code < 4 else 0
        word = (word << np.uint32(2) | (code & np.uint32(3))) & mask
        back = back >> np.uint32(2) | (np.uint32(3) - (code & np.uint32(3))) << top
        words[i] = min(word, back) if good >= k else NONE
        backs[i] = back < word
    mix(words, n, mask)


@jit(restrict=True, part=True)
def mix(words: UInt32s, n: int, mask: np.uint32) -> None:
    """Replace k-mers (2k bits) by their hashes, a permutation of these; NONE stays."""
    half = np.uint32(15)
    for i in range(n):
        h = (words[i] * np.uint32(0x9E3779B1)) & mask
        h = ((h ^ (h >> half)) * np.uint32(0x85EBCA6B)) & mask
        h = h ^ (h >> half)
        words[i] = NONE if words[i] == NONE else h


@jit(part=True)
def fill_window_minima(words: UInt32s, n: int, w: int, least: UInt32s, other: UInt32s) -> None:
    """Set least[i] to the maximum, over the windows of w hashes that include i, of their minima.

    A hash is the least of one of its windows if it equals this maximum.
    """
    windows = n - w + 1
    size = 1
    take_minima(words, words, least, n, 0, 0)
    while 2 * size <= w:
        take_minima(least, least, other, n, size, size)
        take_minima(other, other, least, n, 0, 0)
        size *= 2
    take_minima(least, least, other, n, w - size, w - size)
    # position i lies in the windows i - w + 1 .. i
    for i in range(n):
        least[i] = np.uint32(0)
    raise_to(other, windows, w, least)


@jit(restrict=True)
def take_minima(
    first: UInt32s, second: UInt32s, out: UInt32s, n: int, step: int, beyond: int
) -> None:
    """Fill out[i] with min(first[i], second[i + step]); the last `beyond` items with first[i]."""
    for i in range(n - beyond):
        out[i] = min(first[i], second[i + step])
    for i in range(max(0, n - beyond), n):
        out[i] = first[i]


@jit(restrict=True, part=True)
def raise_to(values: UInt32s, n: int, w: int, out: UInt32s) -> None:
    """Raise out[i + j] to at least values[i] for each j below w."""
    for j in range(w):
        for i in range(n):
            out[i + j] = max(out[i + j], values[i])
