"""Runs of strings, lane by lane, on a GPU; see runs.cu."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.bwt.lanes.cut import MOST_LANES, even_starts, lane_count
from gangsaw.codecs.bwt.lanes.estimate import gets_no_shorter, may_get_no_shorter
from gangsaw.codecs.bwt.lanes.lists import Heads
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy, to_host
from gangsaw.codecs.core.cuda.launch import launch, load_module
from gangsaw.codecs.core.cuda.sums import on_device, sums_before

THREADS, TILE, WARP, SYMBOLS = 256, 4096, 32, 256  # as in runs.cu
RUN_BYTES = 4  # bytes of a run's start offset
NUMBERS = MOST_LANES + 1  # capacity per block and kind of number: one per lane, and the end
STARTS, BOUNDS, SIZES, KINDS = 0, 1, 2, 3

Numbers = npt.NDArray[np.int64]


def fetch_bytes(array: DeviceArray) -> npt.NDArray[np.uint8]:
    """Copy (n,) uint8 from the device to the host."""
    return to_host(array).view(np.uint8)


class DeviceRunLanes:
    """Transformed strings of a batch as runs and lanes, in device memory.

    `heads` is available once the strings are divided into lanes.

    Attributes
    ----------
    bwts : transformed strings, (n,) uint8 each, n >= 1
    sizes, lanes : (n_blocks,) int64, bytes and lanes of each string
    runs : (n_blocks,) int64, number of runs of each string
    """

    def __init__(self, bwts: Sequence[DeviceArray]) -> None:
        self.bwts = bwts
        self.sizes = np.array([bwt.shape[0] for bwt in bwts], np.int64)
        self.lanes = np.array([lane_count(n) for n in self.sizes.tolist()], np.int64)
        cp, n_blocks = cupy(), len(bwts)
        self._numbers = cp.zeros(n_blocks * KINDS * NUMBERS, np.int64)
        # all rows are copied to the host, including those of unused lanes
        self._lists = cp.zeros(n_blocks * MOST_LANES * SYMBOLS, np.uint8)
        self.symbols = self.ranks = cp.empty(1, np.uint8)
        self.begins = cp.empty(1, np.uint32)
        self.runs = np.zeros(n_blocks, np.int64)
        self._split()

    def _split(self) -> None:
        """Find the runs of equal bytes in each string."""
        cp, tiles = cupy(), -(-int(self.sizes.max()) // TILE)
        counts, grid = cp.empty(len(self.bwts) * tiles, np.uint32), len(self.bwts) * tiles
        self._start("count_runs", grid, THREADS, np.int32(tiles), counts)
        self.runs = to_host(counts).reshape(-1, tiles).sum(axis=1, dtype=np.int64)
        n_runs = int(self.runs.sum())
        self.symbols, self.ranks = cp.empty(n_runs, np.uint8), cp.empty(n_runs, np.uint8)
        self.begins = cp.empty(n_runs, np.uint32)
        self._start("write_runs", grid, THREADS, np.int32(tiles), sums_before(counts))

    @property
    def runs_before(self) -> Numbers:
        """Number of runs in the blocks before each block, (n_blocks,) int64."""
        return np.cumsum(self.runs) - self.runs

    def table(self) -> DeviceArray:
        """Return struct `RunBlock` of runs.cuh for each block, in device memory."""
        numbers, before = np.arange(len(self.bwts)), self.runs_before
        places = self._numbers.data.ptr + 8 * NUMBERS * KINDS * numbers
        columns = [
            np.array([bwt.data.ptr for bwt in self.bwts]),
            *(self.sizes, self.lanes, self.runs, before),
            *(self.symbols.data.ptr + before, self.ranks.data.ptr + before),
            self.begins.data.ptr + RUN_BYTES * before,
            *(places + 8 * NUMBERS * kind for kind in range(KINDS)),
            self._lists.data.ptr + MOST_LANES * SYMBOLS * numbers,
        ]
        return on_device(np.stack(columns, axis=1))

    def gets_no_shorter(self, number: int) -> bool:
        """Return True if coding will not make string `number` shorter, by an estimate.

        The host makes it; strings of few runs are not copied there.
        """
        n, runs = int(self.sizes[number]), int(self.runs[number])
        return may_get_no_shorter(n, runs) and gets_no_shorter(fetch_bytes(self.bwts[number]))

    def cut_evenly(self) -> None:
        """Divide the strings into lanes with equally many runs."""
        numbers = np.zeros((len(self.bwts), KINDS, NUMBERS), np.int64)
        for own, n_lanes, runs in zip(numbers, self.lanes, self.runs, strict=True):
            own[STARTS, : n_lanes + 1] = even_starts(int(runs), int(n_lanes))
        numbers[np.arange(len(numbers)), BOUNDS, self.lanes] = self.sizes
        self._numbers = on_device(numbers.ravel())
        self._rank(is_whole=False)

    def cut_by_decisions(self) -> None:
        """Divide the strings into lanes with equally many binary decisions."""
        self.cut_evenly()
        # rank each string as one lane, from the initial lists of even lanes
        self._rank(is_whole=True)
        tiles = -(-int(self.runs.max()) // TILE)
        weights = cupy().empty(int(self.runs.sum()), np.uint32)
        self._start("weigh_runs", len(self.bwts) * tiles, THREADS, np.int32(tiles), weights)
        self._start("cut_lanes", len(self.bwts), MOST_LANES, sums_before(weights))
        self._rank(is_whole=False)

    def _rank(self, *, is_whole: bool) -> None:
        self._start("rank_lanes", len(self.bwts) * MOST_LANES, WARP, np.int32(is_whole))

    def heads(self) -> list[Heads]:
        """Return bounds and symbol lists of the lanes of each string, copied to the host."""
        numbers = to_host(self._numbers).reshape(-1, KINDS, NUMBERS)
        lists = to_host(self._lists).reshape(-1, MOST_LANES, SYMBOLS)
        return [
            Heads(own[BOUNDS, : k + 1], listed[:k], own[SIZES, :k], 0)
            for own, listed, k in zip(numbers, lists, self.lanes.tolist(), strict=True)
        ]

    def _start(self, name: str, grid: int, threads: int, *arguments: object) -> None:
        kernel = load_module(__package__, "runs.cu", {}).get_function(name)
        launch(kernel, grid, threads, (self.table(), *arguments))
