"""Burrows-Wheeler transform of a block, from its suffix array."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.bwt.transform.rows import UNIT, Transformed, row_count, spacing
from gangsaw.codecs.bwt.transform.suffixes import suffix_array
from gangsaw.codecs.core.arrays import Bytes, Int32s, UInt32s
from gangsaw.codecs.core.numba.jit import jit

# Bytes per byte: four of the suffix array; at most two and four, times two, of the LMS positions
# and letters of all levels, as each level is at most half as long as the one before; one of the
# transformed byte.
PER_BYTE = 17
FIXED = 1 << 16
# on a GPU: keys, positions, slots, ranks and the column twice, digit counts of tiles
DEVICE_PER_BYTE = 44
DEVICE_FIXED = 1 << 14


def transform_bytes(n: int) -> int:
    """Return an upper bound of the memory to transform or invert n bytes, without these."""
    return PER_BYTE * n + FIXED


def transform_device_bytes(longest: int, n_blocks: int) -> int:
    """Return an upper bound of the device memory to transform or invert blocks in one launch.

    It includes the transformed bytes, but not the blocks.
    """
    return n_blocks * (DEVICE_PER_BYTE * longest + DEVICE_FIXED)


def transform(block: Bytes) -> Transformed:
    """Return the Burrows-Wheeler transform of a block, contiguous (n,) uint8, n up to MAX_BLOCK."""
    bwt = np.empty(block.size, np.uint8)
    rows = np.empty(row_count(block.size), np.uint32)
    if block.size:
        gather_transform(block, suffix_array(block), spacing(block.size), bwt, rows)
    return Transformed(bwt, rows)


@jit(norefs=True)
def gather_transform(block: Bytes, suffixes: Int32s, every: int, bwt: Bytes, rows: UInt32s) -> None:
    """Fill the transform from the suffix array: the byte before each suffix, and stored rows.

    Stored are the rows of suffixes at each `every`-th position. Row 0 is the empty suffix. The
    sentinel, before the first byte, is not stored in `bwt`.
    """
    step, unit, used = np.uint32(every), np.uint32(UNIT - 1), np.uint64(1)
    bwt[0] = block[block.size - 1]
    for i in range(np.uint64(block.size)):
        position = np.uint32(suffixes[i])
        if position & unit == 0 and position % step == 0:
            rows[position // step] = i + np.uint64(1)
        if position != 0:
            bwt[used] = block[np.uint64(position) - np.uint64(1)]
            used += np.uint64(1)
