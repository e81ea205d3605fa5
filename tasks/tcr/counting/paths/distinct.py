"""Deduplication: equal references with equal genes are counted once."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.tcr.counting.kernels.batch import Batch, Counts
from gangsaw.tasks.tcr.counting.kernels.reference import References

Rows = npt.NDArray[np.int64]
FNV_BASIS, FNV_PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)  # FNV-1a, 64 bits
FREE = -1


def distinct(batch: Batch) -> tuple[Rows, Rows]:
    """Find the distinct references, where equal ones have the same CDR3, V and J.

    Parameters
    ----------
    batch : n references in host memory

    Returns
    -------
    (m,) int64 : rows of `batch`, the first of each distinct reference, ascending
    (n,) int64 : for each reference, the index of its distinct reference
    """
    n = len(batch.references)
    first, same = np.empty(n, np.int64), np.empty(n, np.int64)
    table = np.full(2 << max(n, 1).bit_length(), FREE, np.int64)
    found = _distinct(References.of(batch), table, first, same)
    return first[:found], same


@jit(norefs=True)
def _distinct(references: References, table: Rows, first: Rows, same: Rows) -> int:
    """Fill both results of `distinct`, `first` and `same`; return the number of distinct ones.

    `table` is the buffer of an open-addressing hash table.
    """
    codes, starts, v_of, j_of = references
    found = 0
    mask = np.uint64(len(table) - 1)
    for row in range(len(same)):
        key = FNV_BASIS ^ np.uint64(v_of[row]) ^ (np.uint64(j_of[row]) << np.uint64(32))
        for k in range(starts[row], starts[row + 1]):
            key = (key ^ np.uint64(codes[k])) * FNV_PRIME
        slot = (key ^ (key >> np.uint64(32))) & mask
        while True:
            number = table[slot]
            if number == FREE:
                table[slot] = number = found
                first[found] = row
                found += 1
            other = first[number]
            length = starts[row + 1] - starts[row]
            equal = v_of[row] == v_of[other] and j_of[row] == j_of[other]
            equal = equal and length == starts[other + 1] - starts[other]
            k = 0
            while equal and k < length:
                equal = codes[starts[row] + k] == codes[starts[other] + k]
                k += 1
            if equal:
                break
            slot = (slot + np.uint64(1)) & mask
        same[row] = number
    return found


def select_references(batch: Batch, rows: Rows) -> Batch:
    """Return the selected references of a batch in host memory, in the order of `rows`."""
    references = batch.references.take(rows)
    return replace(batch, references=references, v_of=batch.v_of[rows], j_of=batch.j_of[rows])


def expand_counts(counts: Counts, same: Rows) -> Counts:
    """Return the counts of all references; `same` (n,) has the index of each one's counts."""
    arrays = {field.name: getattr(counts, field.name) for field in fields(counts)}
    return Counts(**{name: a if a is None else a[same] for name, a in arrays.items()})
