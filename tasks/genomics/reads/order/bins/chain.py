"""Order of bins: a depth-first walk over the reads that join two bins, heaviest edges first.

The reads of a part give a sorted run of edges. Runs are merged out of core, by buckets of the bins
at which edges start. Only the heaviest edges of each bin are used, so the graph has a bounded size
for any number of reads.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Int32s, Int64s
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.genomics.reads.order.bins.signatures import BIN_BITS, LEFT, NO_BIN, RIGHT

Numbers = npt.NDArray[np.int64]
NEIGHBOURS = 32  # edges per bin that the walk may follow: 660 MB for 2^20 bins
WAITING = 1 << 22  # edges that are sorted at once


def edges_of(bins: Numbers) -> tuple[Numbers, Numbers]:
    """Return the edges between bins that reads join: distinct keys and counts.

    A read joins the bins of its halves, `bins` (n, 2); NO_BIN has no edges. Edges are stored in
    both directions: a key is one bin x 2^20 + the other; keys are ascending.
    """
    bins = bins[bins[:, LEFT] != NO_BIN]
    both = np.concatenate((bins, bins[:, ::-1]))
    return np.unique(both[:, LEFT] << BIN_BITS | both[:, RIGHT], return_counts=True)


def buckets(n: int) -> Numbers:
    """Return the edge keys that separate n buckets of equally many bins: (n + 1,) int64."""
    bins = np.arange(n + 1, dtype=np.int64) * NO_BIN // n
    borders: Numbers = bins << BIN_BITS
    return borders


def heaviest(runs: Iterable[tuple[Numbers, Numbers]]) -> Numbers:
    """Return the keys of each bin's NEIGHBOURS heaviest edges, ascending by bin and weight.

    Parameters
    ----------
    runs : sorted keys and counts of edges; a key may occur in several runs
    """
    keys, counts = _merged(runs)
    order = np.lexsort((keys, counts, keys >> BIN_BITS))  # the heaviest is last
    bins = keys[order] >> BIN_BITS
    ends = np.searchsorted(bins, bins, side="right")
    kept: Numbers = keys[order][ends - np.arange(bins.size) <= NEIGHBOURS]
    return kept


def _merged(runs: Iterable[tuple[Numbers, Numbers]]) -> tuple[Numbers, Numbers]:
    """Merge runs of edges, few at a time: return distinct ascending keys, and sums of counts."""
    none = np.empty(0, np.int64)
    waiting, n, whole = [(none, none)], 0, 0
    for keys, counts in runs:
        waiting.append((keys, counts))
        n += keys.size
        if n > max(WAITING, whole):
            waiting, n = [_summed(waiting)], 0
            whole = waiting[0][0].size
    return _summed(waiting)


def _summed(runs: list[tuple[Numbers, Numbers]]) -> tuple[Numbers, Numbers]:
    keys = np.concatenate([run[0] for run in runs])
    counts = np.concatenate([run[1] for run in runs])
    order = np.argsort(keys, kind="stable")
    keys, counts = keys[order], counts[order]
    firsts = np.flatnonzero(np.diff(keys, prepend=-1))
    sums: Numbers = np.add.reduceat(counts, firsts) if keys.size else counts
    return keys[firsts], sums


def ranks_of(keys: Numbers) -> Numbers:
    """Return the rank of each bin in a depth-first walk along edges, (NO_BIN + 1,) int64.

    Bins without edges have rank NO_BIN.

    Parameters
    ----------
    keys : keys of edges for all bins, as `heaviest` returns them
    """
    begins = np.searchsorted(keys, np.arange(NO_BIN + 2) << BIN_BITS)
    ranks = np.full(NO_BIN + 1, NO_BIN, np.int64)
    walk_bins(begins, (keys & (NO_BIN - 1)).astype(np.int32), ranks)
    return ranks


@jit
def walk_bins(begins: Int64s, neighbours: Int32s, ranks: Int64s) -> None:
    """Number bins in the order of a depth-first walk; unreached bins keep rank NO_BIN."""
    stack = np.empty(neighbours.size + 1, np.int64)
    n = 0
    for first in range(NO_BIN):
        if begins[first] == begins[first + 1] or ranks[first] != NO_BIN:
            continue
        stack[0], depth = first, 1
        while depth:
            depth -= 1
            at = stack[depth]
            if ranks[at] != NO_BIN:
                continue
            ranks[at] = n
            n += 1
            for i in range(begins[at], begins[at + 1]):
                if ranks[neighbours[i]] == NO_BIN:
                    stack[depth] = neighbours[i]
                    depth += 1
