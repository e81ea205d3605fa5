"""Inverse transform on a GPU; see inverse.cu."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gangsaw.codecs.bwt.transform.gpu_radix import (
    DIGITS,
    THREADS,
    DeviceTransformed,
    Lists,
    Sizes,
    block_sizes,
    start_kernel,
)
from gangsaw.codecs.bwt.transform.inverse import BROKEN_CHAIN, OUTSIDE
from gangsaw.codecs.bwt.transform.rows import MOST_ROWS, spacing
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy, to_host
from gangsaw.codecs.core.cuda.launch import corrupt_blocks
from gangsaw.codecs.core.cuda.sums import on_device, sums_before
from gangsaw.codecs.core.errors import CorruptChunk

WARP = 32
WORD = 4  # bytes
MORE_WORDS = 2  # words of a block in addition to its bytes
REASONS = {1: OUTSIDE, 2: BROKEN_CHAIN, 3: OUTSIDE}  # error messages by status, as in inverse.cu


def invert_blocks(
    found: Sequence[DeviceTransformed], outs: Sequence[DeviceArray]
) -> dict[int, CorruptChunk]:
    """Invert transforms on the GPU to contiguous (n,) uint8 each; return errors of invalid ones.

    found : transforms, each with n bytes and row_count(n) rows
    """
    cp, lists, n_blocks = cupy(), block_sizes(outs), len(outs)
    words = cp.empty(int(lists.sizes.sum()) + MORE_WORDS * n_blocks, np.uint32)
    blocks = on_device(_table(found, outs, lists, words.data.ptr))
    tiles, grid = lists.tiles, lists.grid
    counts = cp.empty(grid * DIGITS, np.uint32)
    start_kernel("inverse.cu", "count_bytes", grid, THREADS, blocks, tiles, counts)
    start_kernel("inverse.cu", "fill_words", grid, THREADS, blocks, tiles, sums_before(counts))
    statuses = cp.zeros(n_blocks, np.uint32)
    warps = -(-n_blocks * MOST_ROWS // WARP)
    start_kernel("inverse.cu", "follow_chains", warps, WARP, blocks, MOST_ROWS, n_blocks, statuses)
    return corrupt_blocks(to_host(statuses).astype(np.int64), REASONS)


def _table(
    found: Sequence[DeviceTransformed], outs: Sequence[DeviceArray], lists: Lists, words: int
) -> Sizes:
    """Return struct `Transformed` of inverse.cu for each block.

    words : device address of the tables to follow, all blocks'
    """
    words_before = lists.begins + MORE_WORDS * np.arange(len(outs))
    return np.stack(
        [
            np.array([own.bwt.data.ptr for own in found]),
            lists.sizes,
            np.array([own.rows.data.ptr for own in found]),
            np.array([out.data.ptr for out in outs]),
            np.array([spacing(n) for n in lists.sizes.tolist()]),
            lists.begins,
            words + WORD * words_before,
        ],
        axis=1,
    )
