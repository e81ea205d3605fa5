"""The order of bins: a depth-first walk over reads that join two of them, the most reads first."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.reads.order.signatures import NO_BIN

Numbers = npt.NDArray[np.int64]


class Edges:
    """How many reads join two bins, counted batch by batch.

    Attributes
    ----------
    keys : (n,) int64, ascending: lower bin x 2^32 + higher bin
    counts : (n,) int64
    """

    def __init__(self) -> None:
        self.keys, self.counts = np.empty(0, np.int64), np.empty(0, np.int64)

    def add(self, bins: Numbers) -> None:
        """Count the (n, 2) bins of some reads; reads without any are left out."""
        bins = np.sort(bins[bins[:, 0] != NO_BIN], axis=1)
        keys, counts = np.unique(bins[:, 0] << 32 | bins[:, 1], return_counts=True)
        joined = np.concatenate((self.keys, keys))
        self.keys, places = np.unique(joined, return_inverse=True)
        weights = np.concatenate((self.counts, counts))
        self.counts = np.bincount(places, weights, self.keys.size).astype(np.int64)


def ranks_of(edges: Edges) -> Numbers:
    """Return (NO_BIN + 1,) int64: the place of each bin in the walk; empty ones are last."""
    low, high = edges.keys >> 32, edges.keys & 0xFFFFFFFF
    ends = np.concatenate((low, high)), np.concatenate((high, low))
    weights = np.concatenate((edges.counts, edges.counts))
    order = np.lexsort((ends[1], weights, ends[0]))  # the heaviest is last: on top of the stack
    begins = np.searchsorted(ends[0][order], np.arange(NO_BIN + 2))
    ranks = np.full(NO_BIN + 1, NO_BIN, np.int64)
    walk(begins, ends[1][order], ranks)
    return ranks


@jit
def walk(begins: Any, neighbours: Any, ranks: Any) -> None:
    """Number bins in the order of a depth-first walk; those that are not reached keep NO_BIN."""
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
