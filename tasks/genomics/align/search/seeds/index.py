"""Index of the minimizers of a text: their positions, sorted by hash, with a table of buckets.

It is made of arrays alone, so that many processes map one file. n entries need 8 n bytes, and n to
2 n buckets need 4 bytes each.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Int64, UInt32s, UInt64s
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.genomics.align.search.seeds.minimizers import Seeds, minimizers

PLACE_BITS = 32  # of an entry: twice a position, and a bit for the strand
PLACE_MASK = (1 << PLACE_BITS) - 1
MOST_BASES = 1 << (PLACE_BITS - 1)
LONG_BUCKET = 16  # entries from which on binary search is used


class PlaceIndex(NamedTuple):
    """Positions of minimizers, by hash.

    Attributes
    ----------
    entries : (n,) uint64, ascending, hash << 32 | position as in `Minimizers`
    starts : (buckets + 1,) uint32, offsets of the buckets in `entries`
    shift : right shift of a hash that gives its bucket
    """

    entries: npt.NDArray[np.uint64]
    starts: npt.NDArray[np.uint32]
    shift: int


def build_seed_index(codes: npt.NDArray[np.uint8], seeds: Seeds) -> PlaceIndex:
    """Return the index of the minimizers of codes (n,) uint8, n below MOST_BASES."""
    found = minimizers(codes, 0, codes.size, seeds)
    entries = found.hashes.astype(np.uint64) << np.uint64(PLACE_BITS)
    entries |= found.positions.astype(np.uint64)
    entries.sort()
    bits = min(2 * seeds.k, max(1, int(entries.size).bit_length()))
    starts = np.empty((1 << bits) + 1, np.uint32)
    shift = 2 * seeds.k - bits
    fill_starts(entries, shift, starts)
    return PlaceIndex(entries, starts, shift)


@jit
def fill_starts(entries: UInt64s, shift: int, starts: UInt32s) -> None:
    """Set starts[b] to the index of the first entry of hash bucket b."""
    bucket = 0
    for i in range(entries.size):
        own = np.int64(entries[i] >> np.uint64(PLACE_BITS)) >> shift
        while bucket <= own:
            starts[bucket] = i
            bucket += 1
    for after in range(bucket, starts.size):
        starts[after] = entries.size


@jit
def look_up(index: PlaceIndex, word: int) -> Any:
    """Return the first and the end index of the entries with hash `word`."""
    bucket = np.int64(word) >> index.shift
    low, end = np.int64(index.starts[bucket]), np.int64(index.starts[bucket + 1])
    low = first_at(index.entries, low, end, np.uint64(word) << np.uint64(PLACE_BITS))
    high = low
    if end - low > LONG_BUCKET:
        after = (np.uint64(word) + np.uint64(1)) << np.uint64(PLACE_BITS)
        return low, first_at(index.entries, low, end, after)
    while high < end and index.entries[high] >> np.uint64(PLACE_BITS) == np.uint64(word):
        high += 1
    return low, high


@jit(part=True)
def first_at(entries: UInt64s, low: Int64, high: Int64, key: np.uint64) -> Any:
    """Return the first index in low..high - 1 of an entry that is at least `key`, or `high`."""
    while high - low > LONG_BUCKET:
        middle = (low + high) // 2
        if entries[middle] < key:
            low = middle + 1
        else:
            high = middle
    while low < high and entries[low] < key:
        low += 1
    return low
