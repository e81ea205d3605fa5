"""Kernel tables of genes and limits, and working memory of a thread, for sweeps of any length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.ragged import RaggedArray
from gangsaw.tasks.tcr.counting.kernels.batch import Batch
from gangsaw.tasks.tcr.counting.kernels.tables import with_left, with_right
from gangsaw.tasks.tcr.model import MAX_LENGTH, Model
from gangsaw.tasks.tcr.model.nucleotides import Codes

Numbers = npt.NDArray[np.int64]


class WideTables(NamedTuple):
    """Read-only kernel arrays of a batch and a model, for sweeps of any length.

    Ways have the dtype of the counts; s is the number of ways to a gene end (SPEC.md, "Gene ends").

    Attributes
    ----------
    v, v_starts, j, j_starts, v_germline, j_germline : as in `Tables`
    d, d_starts : D genes with their right palindromes, concatenated
    both, both_starts : D genes with both palindromes
    d_germline : lengths without palindromes
    v_ways, v_offsets : s of a V of k symbols, for k from 0 to its length with the palindrome, for
        each pi; offset of each part
    j_ways, j_offsets : the same for J
    right_ways, right_offsets : s of the J-side cut after e symbols of a D with its right palindrome
    left_ways, left_offsets : s of the V-side cut, i = 0, then of i palindrome symbols
    empty_ways : (D genes * pis) ways to delete a D completely
    ones : array of 1, the ways of DP-1 to each cut of the longest D with both palindromes
    """

    v: Codes
    v_starts: Numbers
    v_germline: Numbers
    j: Codes
    j_starts: Numbers
    j_germline: Numbers
    d: Codes
    d_starts: Numbers
    both: Codes
    both_starts: Numbers
    d_germline: Numbers
    v_ways: NumpyArray
    v_offsets: Numbers
    j_ways: NumpyArray
    j_offsets: Numbers
    right_ways: NumpyArray
    right_offsets: Numbers
    left_ways: NumpyArray
    left_offsets: Numbers
    empty_ways: NumpyArray
    ones: NumpyArray


class WideLimits(NamedTuple):
    """Limits of a model: ascending `pis` and `nus` to be counted; others as in `KernelModel`."""

    pis: Numbers
    nus: Numbers
    max_p: int
    max_n: int
    min_d_end: int
    dp1: bool
    dp2: bool
    d_segments: int
    n_d: int


class WideWork(NamedTuple):
    """Working memory of one thread; ways have the dtype of the counts.

    Attributes
    ----------
    symbols : codes of the reference
    turns : half length of the reference's palindrome about each boundary
    runs : number of matching symbols before each boundary, where a segment of D ends
    sums : compositions up to each boundary
    from_v, to_j : (boundaries * nus) ways from V over one junction, and over one to J; in DP-1,
        from_v has those of each total n
    j_row : (boundaries) ways of J to begin there
    after_d, after_n : (boundaries * nus) ways from V to each boundary, after a D and a junction
    weights : (boundaries * boundaries) ways of a D to be R[a:b], by b, then a
    total : (nus), or all totals of DP-1: the sums
    unit : 1 and 0
    """

    symbols: Codes
    turns: Numbers
    runs: Numbers
    sums: npt.NDArray[np.uint64]
    from_v: NumpyArray
    to_j: NumpyArray
    j_row: NumpyArray
    after_d: NumpyArray
    after_n: NumpyArray
    weights: NumpyArray
    total: NumpyArray
    unit: NumpyArray


def wide_tables(batch: Batch, model: Model, pis: Sequence[int], dtype: npt.DTypeLike) -> WideTables:
    """Return the kernel tables of a batch, with the ways for the given values of pi."""
    p = model.max_p
    genes = list(batch.d)
    sizes = batch.d.lengths.tolist()
    right = [with_right(gene, p) for gene in genes]
    both = [with_left(extended, p, gene) for extended, gene in zip(right, genes, strict=True)]
    v = [with_right(part, p) for part in batch.v]
    j = [with_left(part, p)[::-1] for part in batch.j]

    def ways(lengths: Sequence[int], changes: Callable[[int], range]) -> tuple[NumpyArray, Numbers]:
        found = [
            np.array([[model.ways(c, min(pi, n)) for c in changes(n)] for pi in pis], dtype).ravel()
            for n in lengths
        ]
        starts = np.cumsum([0, *map(len, found)])
        return np.concatenate(found) if found else np.zeros(0, dtype), starts.astype(np.int64)

    def end_changes(n: int) -> range:
        return range(-n, min(p, n) + 1)  # from deletion of the gene to the longest palindrome

    empty = [[model.empty_d_ways(n, pi) for pi in pis] for n in sizes]
    return WideTables(
        *RaggedArray.from_rows(v).arrays,
        batch.v.lengths,
        *RaggedArray.from_rows(j).arrays,
        batch.j.lengths,
        *RaggedArray.from_rows(right).arrays,
        *RaggedArray.from_rows(both).arrays,
        batch.d.lengths,
        *ways(batch.v.lengths.tolist(), end_changes),
        *ways(batch.j.lengths.tolist(), end_changes),
        *ways(sizes, end_changes),
        *ways(sizes, lambda n: range(min(p, n) + 1)),
        np.array(empty, dtype).ravel(),
        np.ones(max(map(len, both), default=0) + 1, dtype),
    )


def wide_limits(
    model: Model, n_d: int, pis: Sequence[int], nus: Sequence[int], longest: int
) -> WideLimits:
    """Return the kernel limits for the given values of pi and nu; nu is limited to `longest`."""
    return WideLimits(
        np.array(pis, np.int64),
        np.minimum(nus, longest).astype(np.int64),
        model.max_p,
        model.max_n,
        model.min_d_end,
        model.dp1,
        model.dp2,
        model.d_segments,
        n_d,
    )


def make_work(limits: WideLimits, longest: int, dtype: npt.DTypeLike) -> WideWork:
    """Return zeroed buffers of a thread for references of up to `longest` symbols."""
    boundaries = longest + 1
    row = boundaries * max(len(limits.nus), boundaries if limits.dp1 else 0)
    return WideWork(
        symbols=np.zeros(MAX_LENGTH, np.uint8),
        turns=np.zeros(boundaries, np.int64),
        runs=np.zeros(boundaries, np.int64),
        sums=np.zeros(boundaries, np.uint64),
        from_v=np.zeros(row, dtype),
        to_j=np.zeros(row, dtype),
        j_row=np.zeros(boundaries, dtype),
        after_d=np.zeros(row, dtype),
        after_n=np.zeros(row, dtype),
        weights=np.zeros(boundaries**2, dtype),
        total=np.zeros(max(len(limits.nus), limits.max_n + 1), dtype),
        unit=np.array([1, 0], dtype),
    )
