"""Longest chain of k-mers that a pair of sequences shares, ascending in both."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gangsaw.codecs.core.arrays import Bytes, Int32s, Int64, Int64s
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.genomics.align.sets.pairs import Codes, Places

BASES = 14  # k: with 0.1 edits per base, a share of 0.23 of the k-mers is left
STRIDES = 4, 3  # distance between sampled k-mers of query and of target, in bases
LEAST_ALONE = 0.1  # least share of k-mers in the table in the estimate of `share`
FREE, TWICE = -1, -2  # values of empty and of ambiguous entries in the table
_MIX = 0x9E3779B97F4A7C15


class KmerChain(NamedTuple):
    """Chain of k-mers that query and target share, ascending in both.

    Attributes
    ----------
    rows, columns : (some,) int64, their positions in the query and in the target
    share : estimated share of the query's k-mers that the target has
    """

    rows: Places
    columns: Places
    share: float


def chain(query: Codes, target: Codes) -> KmerChain:
    """Return the longest chain of k-mers that query and target share."""
    bits = max(10, int(target.size).bit_length())
    table = np.full(1 << bits, FREE, np.int32)
    found = np.empty((2, query.size // STRIDES[0] + 1), np.int64)
    n = shared_kmers(query, target, table, 64 - bits, found)
    order = np.empty((3, n + 1), np.int64)
    size = rising(found[1], n, order)
    chosen = order[2, :size]
    alone = np.count_nonzero(table >= 0) * STRIDES[1] / target.size
    share = size * STRIDES[0] * STRIDES[1] / (query.size * max(alone, LEAST_ALONE))
    return KmerChain(found[0, chosen], found[1, chosen], min(share, 1.0))


@jit(part=True)
def _place(codes: Bytes, start: int, shift: int) -> Int64:
    """Return a k-mer's hash, its index in the hash table; -1 if it has bases other than ACGT."""
    kmer, good = np.uint64(0), 0
    for k in range(BASES):
        kmer = (kmer << np.uint64(2)) | np.uint64(codes[start + k] & 3)
        good += codes[start + k] < 4
    return np.int64((kmer * np.uint64(_MIX)) >> np.uint64(shift)) if good == BASES else -1


@jit
def shared_kmers(query: Bytes, target: Bytes, table: Int32s, shift: int, found: Int64s) -> int:
    """Write the positions of shared k-mers in query and target to `found`; return their number."""
    for j in range(0, target.size - BASES + 1, STRIDES[1]):
        at = _place(target, j, shift)
        if at >= 0:
            table[at] = j if table[at] == FREE else TWICE
    n = 0
    for i in range(0, query.size - BASES + 1, STRIDES[0]):
        at = _place(query, i, shift)
        j = table[at] if at >= 0 else FREE
        if j >= 0:
            equal = 0
            while equal < BASES and query[i + equal] == target[j + equal]:
                equal += 1
            if equal == BASES:
                found[0, n], found[1, n] = i, j
                n += 1
    return n


@jit
def rising(positions: Int64s, n: int, order: Int64s) -> int:
    """Find the longest increasing subsequence of n positions (Fredman, 1975); return its length.

    Parameters
    ----------
    order : (3, n + 1) int64; the last row gets the indices of the subsequence
    """
    ends, before, size = order[0], order[1], 0
    for i in range(n):
        low, high = 0, size
        while low < high:
            middle = (low + high) >> 1
            if positions[ends[middle]] < positions[i]:
                low = middle + 1
            else:
                high = middle
        before[i] = ends[low - 1] if low else -1
        ends[low] = i
        size = max(size, low + 1)
    at = ends[size - 1] if size else -1
    for i in range(size):
        order[2, size - 1 - i] = at
        at = before[at]
    return size
