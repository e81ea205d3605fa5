"""GPU transform: suffix sort by prefix doubling (Manber and Myers, 1993); see forward.cu."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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
from gangsaw.codecs.bwt.transform.rows import MOST_ROWS, row_count, spacing
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy, to_host
from gangsaw.codecs.core.cuda.sums import on_device, sums_before

PREFIX, RANK, SINGLE = 8, 32, 32  # as in forward.cu
RANK_BYTES = 4
FIRST_SHIFTS = range(0, 8 * PREFIX, 8)


def transform_blocks(blocks: Sequence[DeviceArray]) -> list[DeviceTransformed]:
    """Return the Burrows-Wheeler transforms of contiguous (n,) uint8 each, n up to MAX_BLOCK."""
    work = _Doubling(blocks)
    lists = block_sizes(blocks)
    work.start("first_keys", lists, work.texts, lists.table(), lists.tiles, work.buffers, 0)
    which, prefix, further = work.sort(lists, 0, FIRST_SHIFTS), PREFIX, PREFIX
    while True:
        lists, which = work.set_ranks(lists, which, prefix)
        if not lists.sizes.any():
            return work.gathered()
        table = lists.table(), lists.tiles, work.buffers, which
        work.start("next_keys", lists, work.texts, *table, np.int64(further))
        which = work.sort(lists, which, work.shifts)
        prefix, further = 0, 2 * further


class _Doubling:
    """Device memory of a suffix sort by prefix doubling: ranks, and suffixes without a final rank.

    Two arrays for keys and two for slots make four buffers. Buffer `which` has a bit for each.
    """

    def __init__(self, blocks: Sequence[DeviceArray]) -> None:
        cp, self.lists, n_blocks = cupy(), block_sizes(blocks), len(blocks)
        n = max(1, int(self.lists.sizes.sum()))
        self.keys = [cp.empty(n, np.uint64) for _ in range(2)]
        self.positions, self.slots = ([cp.empty(n, np.uint32) for _ in range(2)] for _ in range(2))
        self.ranks, self.group_ranks = cp.empty(n, np.uint32), cp.empty(n, np.uint32)
        self.column, self.bwt = cp.empty(n + n_blocks, np.uint8), cp.empty(n, np.uint8)
        self.rows = cp.empty(n_blocks * MOST_ROWS, np.uint32)
        self.blocks = blocks
        self.texts = on_device(self._texts())
        self.buffers = on_device(self._buffers())
        bits = int(self.lists.sizes.max()).bit_length()
        self.shifts = [*range(0, bits, 8), *range(RANK, RANK + bits, 8)]

    def _texts(self) -> Sizes:
        begins, numbers = self.lists.begins, np.arange(len(self.blocks))
        return np.stack(
            [
                np.array([block.data.ptr for block in self.blocks]),
                self.lists.sizes,
                np.array([spacing(n) for n in self.lists.sizes.tolist()]),
                self.ranks.data.ptr + RANK_BYTES * begins,
                self.column.data.ptr + begins + numbers,
                self.rows.data.ptr + RANK_BYTES * MOST_ROWS * numbers,
                self.bwt.data.ptr + begins,
            ],
            axis=1,
        )

    def _buffers(self) -> Sizes:
        table = [
            (keys.data.ptr, positions.data.ptr, slots.data.ptr)
            for slots in self.slots
            for keys, positions in zip(self.keys, self.positions, strict=True)
        ]
        return np.array(table, np.int64)

    def start(self, kernel: str, lists: Lists, *arguments: object) -> None:
        """Launch a kernel of forward.cu, one thread block per tile of the lists."""
        start_kernel("forward.cu", kernel, lists.grid, THREADS, *arguments)

    def sort(self, lists: Lists, which: int, shifts: Iterable[int]) -> int:
        """Radix-sort suffixes by the key bytes at bits `shifts`; return the result's buffer."""
        table, tiles = lists.table(), lists.tiles
        for shift in shifts:
            counts = cupy().empty(lists.grid * DIGITS, np.uint32)
            self.start("count_keys", lists, table, tiles, self.buffers, which, shift, counts)
            firsts, to = sums_before(counts), which ^ 1
            self.start("move_keys", lists, table, tiles, self.buffers, which, to, shift, firsts)
            which = to
        return which

    def set_ranks(self, lists: Lists, which: int, prefix: int) -> tuple[Lists, int]:
        """Rank sorted suffixes; return lists and buffer of those whose rank is not final.

        It writes the rows of suffixes with a final rank.
        """
        cp, to = cupy(), which ^ 3
        given = self.texts, lists.table(), lists.tiles, self.buffers, which, prefix
        sums = cp.empty(lists.grid, np.uint64)
        self.start("count_groups", lists, *given, sums)
        before = sums_before(sums)
        self.start("rank_groups", lists, *given, before, self.group_ranks)
        self.start("set_ranks", lists, *given, before, self.group_ranks, to)
        final = to_host(sums).reshape(len(lists.sizes), lists.tiles) >> np.uint64(SINGLE)
        return Lists(lists.sizes - final.sum(axis=1).astype(np.int64)), to

    def gathered(self) -> list[DeviceTransformed]:
        """Return the transforms from the ranks, once all are final."""
        self.start("gather_transform", self.lists, self.texts, self.lists.tiles)
        begins, sizes = self.lists.begins.tolist(), self.lists.sizes.tolist()
        return [
            DeviceTransformed(
                self.bwt[begin : begin + n],
                self.rows[MOST_ROWS * number : MOST_ROWS * number + row_count(n)],
            )
            for number, (begin, n) in enumerate(zip(begins, sizes, strict=True))
        ]
