"""V-D-D-J: from V to J boundary by boundary, for each pi.

With two D genes there are too many classes of ends to count each apart, so multiplicities are
multiplied in at once. A row holds all nu of one boundary; the rows of each pi lie where elsewhere
those of a class do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.numba.jit import jit_norefs, jit_norefs_inline
from gangsaw.codecs.core.numba.vectors.integers import load, spread, store
from gangsaw.tasks.tcr.kernels.reference import Reference, References
from gangsaw.tasks.tcr.kernels.stages.dp2 import short_pieces, sum_without_d
from gangsaw.tasks.tcr.kernels.stages.ends import CLASS_ROWS, LANES, WAYS, row_of
from gangsaw.tasks.tcr.kernels.stages.match import (
    NU_LANES,
    find_turns,
    match_ends,
    unpacked,
)
from gangsaw.tasks.tcr.kernels.stages.scratch import KernelModel, Outputs, Scratch, find_everywhere
from gangsaw.tasks.tcr.kernels.tables import D_CLASSES, END_CLASSES, PI_LANES, Tables

# row m: all bits of the lanes of nu >= m, for a junction of m nucleotides is of those alone
AT_LEAST = np.where(np.arange(NU_LANES) >= np.arange(NU_LANES)[:, None], ~np.uint64(0), 0)
AT_LEAST = AT_LEAST.astype(np.uint64).ravel()
ONCE = np.ones(END_CLASSES, np.uint64)


Words = npt.NDArray[np.uint64]


class Chain(NamedTuple):
    """Rows of ways from V to each boundary, along the chain, and from each boundary to J."""

    before: Words
    after_d: Words
    after_n: Words
    to_j: Words


def make_chain() -> Chain:
    """Allocate rows for END_CLASSES values of pi each."""
    return Chain(*(np.zeros(END_CLASSES * CLASS_ROWS, np.uint64) for _ in Chain._fields))


@jit_norefs
def count_pair_rows(
    rows: npt.NDArray[np.int64],
    references: References,
    tables: Tables,
    limits: KernelModel,
    scratch: Scratch,
    chain: Chain,
    outputs: Outputs,
) -> None:
    """Count the paths with two D genes to the references `rows` of a batch."""
    symbols = scratch.symbols
    for x in range(len(rows)):
        reference = match_ends(rows[x], references, tables, limits.max_n, symbols)
        sum_without_d(symbols, reference, 0, scratch)
        _weigh_ends(reference, tables, limits, scratch, chain)
        find_turns(symbols, reference.length, limits.max_p, scratch)
        _count_pairs(reference, tables, limits, scratch, chain, outputs)


@jit_norefs_inline
def _count_pairs(
    reference: Reference,
    tables: Tables,
    limits: KernelModel,
    scratch: Scratch,
    chain: Chain,
    outputs: Outputs,
) -> None:
    """Count all pairs of D genes in the order of the genome."""
    _sum_empty(reference, limits, scratch, chain)
    _put_empty(reference.row, tables, limits, scratch, outputs)
    pair = 0
    for first in range(limits.n_d - 1):
        _pass_d(first, reference, tables, limits, scratch, chain.before, chain.after_d)
        _pass_junction(reference, limits, scratch, chain.after_d, chain.after_n)
        for second in range(first + 1, limits.n_d):
            _pass_d(second, reference, tables, limits, scratch, chain.after_n, chain.after_d)
            _join_j(reference, limits, scratch, chain.after_d, chain.to_j)
            _put(reference.row, pair, ONCE, limits, scratch, outputs.full)
            pair += 1


@jit_norefs_inline
def _weigh_ends(
    reference: Reference, tables: Tables, limits: KernelModel, scratch: Scratch, chain: Chain
) -> None:
    """Fill chain.before and .to_j: rows of all classes of V and of J by their multiplicities."""
    for pi in range(limits.max_p + 1):
        for b in range(reference.length + 1):
            v_row = spread(0, chain.before, LANES)
            j_row = spread(0, chain.before, LANES)
            if b <= reference.last_a:
                for p in range(reference.v_classes):
                    ways = tables.end_weights[p * PI_LANES + pi]
                    v_row = v_row + load(scratch.v_rows, row_of(p, b), LANES) * ways
            if b >= reference.first_b:
                for p in range(reference.j_classes):
                    ways = tables.end_weights[p * PI_LANES + pi]
                    j_row = j_row + load(scratch.j_rows, row_of(p, b), LANES) * ways
            store(chain.before, row_of(pi, b), v_row)
            store(chain.to_j, row_of(pi, b), j_row)


@jit_norefs_inline
def _pass_d(
    gene: int,
    reference: Reference,
    tables: Tables,
    limits: KernelModel,
    scratch: Scratch,
    source: Words,
    target: Words,
) -> None:
    """Fill target[pi, b]: ways source[pi, a] and then D as R[a:b], of length zero or more."""
    longer, crossing = find_everywhere(gene, reference, tables, limits, scratch)
    for pi in range(limits.max_p + 1):
        inside = tables.d_weights[pi]
        empty = tables.d_weights[(D_CLASSES + gene) * PI_LANES + pi]
        for b in range(reference.length + 1):
            row = load(source, row_of(pi, b), LANES) * empty
            if b:
                row = row + short_pieces(source, pi, b, scratch.matches) * inside
            store(target, row_of(pi, b), row)
        for piece in range(longer):
            a, b, number = unpacked(scratch.longer[piece])
            _add(source, row_of(pi, a), number * np.int64(inside), target, row_of(pi, b))
        for piece in range(crossing):
            a, b, d_class = unpacked(scratch.crossing[piece])
            ways = tables.d_weights[d_class * PI_LANES + pi]
            _add(source, row_of(pi, a), np.int64(ways), target, row_of(pi, b))


@jit_norefs_inline
def _add(source: Words, a: int, ways: np.int64, target: Words, b: int) -> None:
    store(target, b, load(target, b, LANES) + load(source, a, LANES) * ways)


@jit_norefs_inline
def _pass_junction(
    reference: Reference, limits: KernelModel, scratch: Scratch, source: Words, target: Words
) -> None:
    """Fill target[pi, b]: ways source[pi, a] followed by the n-string R[a:b] of at most nu."""
    for pi in range(limits.max_p + 1):
        for b in range(reference.length + 1):
            row = load(source, row_of(pi, b), LANES)
            strings = np.uint64(1)
            for m in range(1, min(b, limits.max_n) + 1):
                strings *= np.uint64(WAYS[scratch.symbols[b - m]])
                ways = load(source, row_of(pi, b - m), LANES) * strings
                row = row + (ways & load(AT_LEAST, m * NU_LANES, LANES))
            store(target, row_of(pi, b), row)


@jit_norefs_inline
def _join_j(
    reference: Reference, limits: KernelModel, scratch: Scratch, source: Words, to_j: Words
) -> None:
    """Fill scratch.terms[pi]: the ways to all boundaries, times those from there to J."""
    for pi in range(limits.max_p + 1):
        total = spread(0, source, LANES)
        for b in range(reference.first_b, reference.length + 1):
            total = total + load(source, row_of(pi, b), LANES) * load(to_j, row_of(pi, b), LANES)
        store(scratch.terms, pi * NU_LANES, total)


@jit_norefs_inline
def _sum_empty(reference: Reference, limits: KernelModel, scratch: Scratch, chain: Chain) -> None:
    """Fill scratch.terms[pi]: the ways V N N N J, in which both D have length zero."""
    _pass_junction(reference, limits, scratch, chain.before, chain.after_n)
    _join_j(reference, limits, scratch, chain.after_n, chain.to_j)


@jit_norefs_inline
def _put_empty(
    row: int, tables: Tables, limits: KernelModel, scratch: Scratch, outputs: Outputs
) -> None:
    """Write scratch.terms for each pair, times the ways to erode both of its D completely."""
    pair = 0
    for first in range(limits.n_d - 1):
        for second in range(first + 1, limits.n_d):
            for pi in range(limits.max_p + 1):
                one = tables.d_weights[(D_CLASSES + first) * PI_LANES + pi]
                other = tables.d_weights[(D_CLASSES + second) * PI_LANES + pi]
                scratch.sums[pi] = np.uint64(one) * np.uint64(other)
            _put(row, pair, scratch.sums, limits, scratch, outputs.zero)
            pair += 1


@jit_norefs_inline
def _put(
    row: int, pair: int, ways: Words, limits: KernelModel, scratch: Scratch, out: NumpyArray
) -> None:
    """Write scratch.terms, times the ways of each pi, as the counts of a pair of D genes."""
    n_pi = limits.max_p + 1
    pairs = limits.n_d * (limits.n_d - 1) // 2
    at = (row * pairs + pair) * (limits.max_n + 1) * n_pi
    for nu in range(limits.max_n + 1):
        for pi in range(n_pi):
            out[at + nu * n_pi + pi] = scratch.terms[pi * NU_LANES + nu] * ways[pi]
