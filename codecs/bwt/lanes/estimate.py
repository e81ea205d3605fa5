"""Estimate from a sample whether coding a Burrows-Wheeler string makes it shorter."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.bwt.lanes.cut import fresh_list, run_count
from gangsaw.codecs.bwt.lanes.ranks import rank_runs, split_runs
from gangsaw.codecs.core.arrays import Bytes

WINDOWS, WINDOW = 4, 1 << 14  # ranks up to 255 need windows much longer than that
LEAST = 1 << 10  # shorter strings are coded without an estimate
# Random bytes have 99.6 runs per 100 bytes; a lower share comes from parts that windows could miss.
RUNS = 99
GAIN = 256  # a gain below 1 / GAIN is none: sampling error on random bytes
SCALE = 1 << 16  # logarithms are integers, so that all machines decide the same


def gets_no_shorter(bwt: Bytes) -> bool:
    """Return True if entropy coding will not make a transformed string shorter, by an estimate.

    It is the entropy of ranks and run lengths in samples of (n,) uint8.
    """
    if not may_get_no_shorter(bwt.size, run_count(bwt)):
        return False
    windows = [bwt] if bwt.size <= WINDOWS * WINDOW else _spread(bwt)
    octets = sum(window.size for window in windows)
    bits = sum(_entropy(window) for window in windows)
    return bits * GAIN >= 8 * SCALE * octets * (GAIN - 1)


def may_get_no_shorter(n: int, runs: int) -> bool:
    """Return True if a string of n bytes has so many runs that its entropy must be estimated."""
    return n >= LEAST and 100 * runs >= RUNS * n


def _spread(bwt: Bytes) -> list[Bytes]:
    """Return sample windows of a string, each from the middle of one of WINDOWS equal parts."""
    part = bwt.size // WINDOWS
    firsts = [k * part + (part - WINDOW) // 2 for k in range(WINDOWS)]
    return [bwt[first : first + WINDOW] for first in firsts]


def _entropy(window: Bytes) -> int:
    """Return the entropy of ranks and of run lengths in a window, in bits times SCALE.

    A symbol's last run has no rank; it counts as an average one.
    """
    symbols, ranks = np.empty((2, window.size), np.uint8)
    lengths = np.empty(window.size, np.int32)
    runs = split_runs(window, symbols, lengths)
    rank_runs(symbols[:runs], fresh_list(), ranks[:runs])
    by_rank = np.bincount(ranks[:runs], minlength=2)[1:]
    of_ranks = _cost(by_rank) * runs // max(1, int(by_rank.sum()))
    return of_ranks + _cost(np.bincount(lengths[:runs]))


def _cost(counts: npt.NDArray[np.int64]) -> int:
    """Return the entropy of symbols with these counts, in bits times SCALE."""
    some = counts[counts > 0]
    if not some.size:
        return 0
    logs = np.rint(SCALE * np.log2(np.append(some, some.sum()))).astype(np.int64)
    return int((some * (logs[-1] - logs[:-1])).sum())
