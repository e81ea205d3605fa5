"""Division of a Burrows-Wheeler string into lanes of equal coding time, with ranks and runs."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.bwt.lanes.ranks import LIST_WORDS, begin_lists, rank_runs, split_runs
from gangsaw.codecs.core.arrays import Bytes, Int32s, Int64s
from gangsaw.codecs.core.numba.bits import leading_zeros
from gangsaw.codecs.core.numba.jit import jit

MOST_LANES = 16  # more cost 0.4 % at 64; half a warp
LANE_BYTES = 1 << 14  # shorter lanes cost more than they gain
# device bytes per byte: symbols, ranks, run starts; weights, their sums, and temporaries
DEVICE_PER_BYTE = 18
DEVICE_FIXED = 1 << 14  # lists, bounds, and rounding of allocations


class RunLanes(NamedTuple):
    """Transformed string as runs of equal bytes, divided into lanes that are coded in parallel.

    Attributes
    ----------
    symbols : (m,) uint8, byte value of each run
    ranks : (m,) uint8, list position to which the symbol moves after the run, from 1 on
    lengths : (m,) int32, bytes of each run, from 1 on
    starts : (n_lanes + 1,) int64, the first run of each lane
    bounds : (n_lanes + 1,) int64, the first byte of each lane
    lists : (n_lanes, 256) uint8, symbols of each lane by first occurrence
    sizes : (n_lanes,) int64, symbols in each list: 0 in an empty lane
    """

    symbols: Bytes
    ranks: Bytes
    lengths: npt.NDArray[np.int32]
    starts: Int64s
    bounds: Int64s
    lists: Bytes
    sizes: Int64s


def lane_count(n: int) -> int:
    """Return the number of lanes of a string of n bytes: a power of two, 1 to MOST_LANES."""
    return min(MOST_LANES, 1 << (max(1, n // LANE_BYTES).bit_length() - 1))


def run_device_bytes(n: int) -> int:
    """Return an upper bound of the device memory for the runs of n bytes, without the n bytes."""
    return DEVICE_PER_BYTE * n + DEVICE_FIXED


def divide_into_lanes(bwt: Bytes, *, by_decisions: bool) -> RunLanes:
    """Divide a transformed string into runs and lanes, of equally many decisions or runs.

    bwt : (n,) uint8, n >= 1
    by_decisions : True for lanes with equally many binary decisions (effort dense), False for
        equally many runs
    """
    n_lanes, runs = lane_count(bwt.size), run_count(bwt)
    symbols, ranks = np.empty((2, runs), np.uint8)
    lengths = np.empty(runs, np.int32)
    split_runs(bwt, symbols, lengths)
    rank_runs(symbols, fresh_list(), ranks)
    starts = np.empty(n_lanes + 1, np.int64)
    if by_decisions:
        cut_by_decisions(ranks, lengths, starts)
    else:
        starts[:] = even_starts(runs, n_lanes)
    each = [lengths[a:b].sum(dtype=np.int64) for a, b in pairwise(starts)]
    bounds = np.append(0, np.cumsum(each))
    lists, sizes = np.zeros((n_lanes, 256), np.uint8), np.empty(n_lanes, np.int64)
    begin_lists(symbols, starts, ranks, lists, sizes)
    return RunLanes(symbols, ranks, lengths, starts, bounds, lists, sizes)


def even_starts(runs: int, n_lanes: int) -> Int64s:
    """Return the first run of each lane if lanes have equally many, and the end: (n_lanes + 1,)."""
    starts: Int64s = -(-np.arange(n_lanes + 1) * runs // n_lanes)
    return starts


def run_count(bwt: Bytes) -> int:
    """Return the number of runs of equal bytes in (n,) uint8, n >= 1."""
    return 1 + int(np.count_nonzero(bwt[1:] != bwt[:-1]))


def fresh_list() -> npt.NDArray[np.uint64]:
    """Return the initial move-to-front list, all 256 symbols in order, as (LIST_WORDS,) uint64."""
    return list_words(np.arange(256, dtype=np.uint8)[None])


def list_words(lists: Bytes) -> npt.NDArray[np.uint64]:
    """Convert (n_lanes, 256) uint8 lists to (n_lanes * LIST_WORDS,) uint64, first symbol lowest."""
    words = lists.view("<u8").astype(np.uint64).ravel()
    assert words.size == len(lists) * LIST_WORDS
    return words


@jit
def cut_by_decisions(ranks: Bytes, lengths: Int32s, starts: Int64s) -> None:
    """Fill the first run of each lane so that all lanes have equally many binary decisions.

    Lane k starts after k / n_lanes of all decisions. The weight of a run is the number of binary
    decisions of its rank and its length.
    """
    n_lanes, total = starts.size - 1, 0
    for run in range(ranks.size):
        total += _decisions(ranks[run], lengths[run])
    lane, weight = 0, 0
    for run in range(ranks.size):
        while lane < n_lanes and weight * n_lanes >= lane * total:
            starts[lane] = run
            lane += 1
        weight += _decisions(ranks[run], lengths[run])
    starts[lane:] = ranks.size


@jit(inline=True, part=True, norefs=True)
def _decisions(rank: int, length: int) -> Any:
    """Return the number of binary decisions that effort dense takes for a run's rank and length."""
    return 2 * (_below(rank | 1) + _below(length)) + 2


@jit(inline=True, part=True, norefs=True)
def _below(value: int) -> Any:
    """Return the number of bits below the leading one bit."""
    return 63 - np.int64(leading_zeros(np.uint64(value)))
