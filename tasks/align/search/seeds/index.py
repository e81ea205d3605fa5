"""An index of the minimizers of a text: their places, sorted by hash, and where to look.

Arrays alone, so that a file of them is mapped by many processes. Of n entries it needs 8 n bytes,
and 4 bytes for each bucket, of which there are n to 2 n.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.numba.jit import jit, jit_part
from gangsaw.tasks.align.search.seeds.minimizers import Seeds, minimizers

PLACE_BITS = 32  # of an entry: twice a place, and a bit for the strand
PLACE_MASK = (1 << PLACE_BITS) - 1
MOST_LETTERS = 1 << (PLACE_BITS - 1)
LONG_BUCKET = 16  # entries from which one is searched by halves


class PlaceIndex(NamedTuple):
    """Where minimizers are.

    Attributes
    ----------
    entries : (n,) uint64, ascending, hash << 32 | place as `Minimizers` has it
    starts : (buckets + 1,) uint32, the first entry of each bucket, and n
    shift : of a hash, gives its bucket
    """

    entries: npt.NDArray[np.uint64]
    starts: npt.NDArray[np.uint32]
    shift: int


def index_of(codes: npt.NDArray[np.uint8], seeds: Seeds) -> PlaceIndex:
    """Return the index of codes (n,) uint8; fewer than MOST_LETTERS."""
    found = minimizers(codes, 0, codes.size, seeds)
    entries = found.hashes.astype(np.uint64) << np.uint64(PLACE_BITS)
    entries |= found.places.astype(np.uint64)
    entries.sort()
    bits = min(2 * seeds.k, max(1, int(entries.size).bit_length()))
    starts = np.empty((1 << bits) + 1, np.uint32)
    shift = 2 * seeds.k - bits
    fill_starts(entries, shift, starts)
    return PlaceIndex(entries, starts, shift)


@jit
def fill_starts(entries: Any, shift: int, starts: Any) -> None:
    """Fill the first entry of each bucket."""
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
    """Return first entry and end of those of a hash."""
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


@jit_part
def first_at(entries: Any, low: Any, high: Any, key: Any) -> Any:
    """Return the first entry from low to high - 1 that is not below a key, or high."""
    while high - low > LONG_BUCKET:
        middle = (low + high) // 2
        if entries[middle] < key:
            low = middle + 1
        else:
            high = middle
    while low < high and entries[low] < key:
        low += 1
    return low
