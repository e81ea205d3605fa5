"""V-D-D-J: counts from V to J, boundary by boundary, for each pi.

With two D genes there are too many classes of ends to count each one, so multiplicities are
multiplied in at once. A row has all nu of one boundary. The rows of each pi replace those of a
class in other kernels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.integers import load, resize_to, spread, store
from gangsaw.tasks.tcr.counting.kernels.reference import Reference, References
from gangsaw.tasks.tcr.counting.kernels.stages.dp2 import (
    short_pieces,
    short_pieces_back,
    sum_without_d,
)
from gangsaw.tasks.tcr.counting.kernels.stages.ends import (
    CLASS_ROWS,
    LANES,
    WAYS,
    clear_after,
    row_of,
)
from gangsaw.tasks.tcr.counting.kernels.stages.match import (
    NU_LANES,
    find_palindromes,
    match_ends,
    unpack_segment,
)
from gangsaw.tasks.tcr.counting.kernels.stages.scratch import (
    KernelModel,
    Outputs,
    Scratch,
    find_everywhere,
)
from gangsaw.tasks.tcr.counting.kernels.tables import D_CLASSES, END_CLASSES, PI_LANES, Tables

# row m: all bits set in lanes nu >= m, since a junction of m nucleotides counts only for these
AT_LEAST = np.where(np.arange(NU_LANES) >= np.arange(NU_LANES)[:, None], ~np.uint64(0), 0)
AT_LEAST = AT_LEAST.astype(np.uint64).ravel()
ONCE = np.ones(END_CLASSES, np.uint64)


class Chain(NamedTuple):
    """Buffers of the V-D-D-J count: numbers of partial paths at each boundary, by pi and nu.

    Rows have one dtype, with 32 bits for references without wildcards: paths/bounds.py.

    Attributes
    ----------
    before : paths from V over a junction to each boundary
    after_d : the same, then over the first D
    after_n : the same, then over the junction after it
    to_j : paths from each boundary over a junction to J
    over_d : for each D gene, paths from each boundary over this gene and a junction to J
    over_d_from : (D genes,) first boundary that has such paths
    totals : (pi, nu) sums to write
    both_empty : (pi,) ways to delete both D genes of a pair completely
    """

    before: NumpyArray
    after_d: NumpyArray
    after_n: NumpyArray
    to_j: NumpyArray
    over_d: NumpyArray
    over_d_from: npt.NDArray[np.int64]
    totals: npt.NDArray[np.uint64]
    both_empty: npt.NDArray[np.uint64]


def make_chain(dtype: npt.DTypeLike, n_d: int) -> Chain:
    """Return zeroed buffers for END_CLASSES values of pi and n_d genes."""
    over_d = np.zeros(n_d * END_CLASSES * CLASS_ROWS, dtype)
    totals = np.zeros(END_CLASSES * NU_LANES, np.uint64)
    before, after_d, after_n, to_j = (np.zeros(END_CLASSES * CLASS_ROWS, dtype) for _ in range(4))
    over_d_from = np.zeros(n_d, np.int64)
    return Chain(before, after_d, after_n, to_j, over_d, over_d_from, totals, ONCE.copy())


@jit(norefs=True)
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
        find_palindromes(symbols, reference.length, limits.max_p, scratch)
        _sum_empty(reference, limits, scratch, chain)
        _put_empty(reference.row, tables, limits, chain, outputs)
        _count_pairs(reference, tables, limits, scratch, chain, outputs)


@jit(inline=True, part=True, norefs=True)
def _count_pairs(
    reference: Reference,
    tables: Tables,
    limits: KernelModel,
    scratch: Scratch,
    chain: Chain,
    outputs: Outputs,
) -> None:
    """Count all pairs of D genes in genomic order.

    The ways from V over the first D, and those over the second D to J, meet after the junction
    between them. So each D is passed once per direction, not once per pair. The loop runs backward,
    since a first D needs all the D genes that follow.
    """
    for d in range(limits.n_d - 1, -1, -1):
        longer, crossing, longest = find_everywhere(d, reference, tables, limits, scratch)
        found = (d, longer, crossing)
        if d < limits.n_d - 1:
            # no segment of D reaches further, and none that leads to J begins earlier
            reached = min(reference.length, reference.last_a + longest)
            last = min(reference.length, reached + limits.max_n)
            _pass_d(found, reference.last_a, reached, tables, limits, scratch, chain)
            _clear(reached + 1, last, limits, chain.after_d)
            _pass_junction(last, limits, scratch, chain.after_d, chain.after_n)
            _join_seconds(d, last, reference.row, limits, chain, outputs)
        if d:
            chain.over_d_from[d] = max(0, reference.first_b - longest)
            _pass_d_back(found, reference, tables, limits, scratch, chain)


@jit(inline=True, part=True, norefs=True)
def _weigh_ends(
    reference: Reference, tables: Tables, limits: KernelModel, scratch: Scratch, chain: Chain
) -> None:
    """Fill chain.before and .to_j from the rows of V and J, by their ways for each pi.

    Rows are summed over classes, the numbers of palindrome symbols.
    """
    for pi in range(limits.max_p + 1):
        for b in range(reference.length + 1):
            v_row = spread(0, chain.before, LANES)
            j_row = spread(0, chain.before, LANES)
            if b <= reference.last_a:
                for p in range(reference.v_classes):
                    ways = tables.end_weights[p * PI_LANES + pi]
                    row = load(scratch.v_rows, row_of(p, b), LANES)
                    v_row = v_row + resize_to(row, chain.before) * ways
            if b >= reference.first_b:
                for p in range(reference.j_classes):
                    ways = tables.end_weights[p * PI_LANES + pi]
                    row = load(scratch.j_rows, row_of(p, b), LANES)
                    j_row = j_row + resize_to(row, chain.before) * ways
            store(chain.before, row_of(pi, b), v_row)
            store(chain.to_j, row_of(pi, b), j_row)
        clear_after(reference.length, pi, chain.to_j)


@jit(inline=True, part=True, norefs=True)
def _pass_d(
    found: tuple[int, int, int],
    last_a: int,
    reached: int,
    tables: Tables,
    limits: KernelModel,
    scratch: Scratch,
    chain: Chain,
) -> None:
    """Extend the partial paths from V by a D gene: fill chain.after_d from chain.before.

    The gene matches R[a:b]. Only a <= last_a and b <= reached have paths. `found` is the gene and
    its numbers of longer and crossing segments.

    Only a <= last_a and b <= reached have ways. `found` is the gene and its numbers of longer and
    crossing segments.
    """
    gene, longer, crossing = found
    source, target = chain.before, chain.after_d
    for pi in range(limits.max_p + 1):
        inside = tables.d_weights[pi]
        empty = tables.d_weights[(D_CLASSES + gene) * PI_LANES + pi]
        for b in range(reached + 1):
            row = load(source, row_of(pi, b), LANES) * empty
            if b:
                row = row + short_pieces(source, pi, b, scratch.matches) * inside
            store(target, row_of(pi, b), row)
        for piece in range(longer):
            a, b, number = unpack_segment(scratch.longer[piece])
            if a <= last_a:
                _add(source, row_of(pi, a), number * np.int64(inside), target, row_of(pi, b))
        for piece in range(crossing):
            a, b, d_class = unpack_segment(scratch.crossing[piece])
            if a <= last_a:
                ways = np.int64(tables.d_weights[d_class * PI_LANES + pi])
                _add(source, row_of(pi, a), ways, target, row_of(pi, b))


@jit(inline=True, part=True, norefs=True)
def _pass_d_back(
    found: tuple[int, int, int],
    reference: Reference,
    tables: Tables,
    limits: KernelModel,
    scratch: Scratch,
    chain: Chain,
) -> None:
    """Extend the partial paths to J by a D gene before them: fill chain.over_d from chain.to_j.

    `found` is the gene and its numbers of longer and crossing segments.
    """
    gene, longer, crossing = found
    source, target = chain.to_j, chain.over_d
    for pi in range(limits.max_p + 1):
        at = gene * END_CLASSES + pi
        inside = tables.d_weights[pi]
        empty = tables.d_weights[(D_CLASSES + gene) * PI_LANES + pi]
        for a in range(chain.over_d_from[gene], reference.length + 1):
            row = load(source, row_of(pi, a), LANES) * empty
            row = row + short_pieces_back(source, pi, a, scratch.matches) * inside
            store(target, row_of(at, a), row)
        for piece in range(longer):
            a, b, number = unpack_segment(scratch.longer[piece])
            if b >= reference.first_b:
                _add(source, row_of(pi, b), number * np.int64(inside), target, row_of(at, a))
        for piece in range(crossing):
            a, b, d_class = unpack_segment(scratch.crossing[piece])
            if b >= reference.first_b:
                ways = np.int64(tables.d_weights[d_class * PI_LANES + pi])
                _add(source, row_of(pi, b), ways, target, row_of(at, a))


@jit(inline=True, part=True, norefs=True)
def _add(source: NumpyArray, a: int, ways: np.int64, target: NumpyArray, b: int) -> None:
    store(target, b, load(target, b, LANES) + load(source, a, LANES) * ways)


@jit(inline=True, part=True, norefs=True)
def _clear(first: int, last: int, limits: KernelModel, rows: NumpyArray) -> None:
    """Set the rows of the boundaries first..last to zero, for every pi."""
    for pi in range(limits.max_p + 1):
        for b in range(first, last + 1):
            store(rows, row_of(pi, b), spread(0, rows, LANES))


@jit(inline=True, part=True, norefs=True)
def _pass_junction(
    last: int, limits: KernelModel, scratch: Scratch, source: NumpyArray, target: NumpyArray
) -> None:
    """Extend partial paths by an N junction: fill target[pi, b], b <= last, from source[pi, a].

    Each is multiplied by the number of n-strings that the reference symbols R[a:b] stand for. They
    count in the lanes nu >= b - a.
    """
    for pi in range(limits.max_p + 1):
        for b in range(last + 1):
            row = load(source, row_of(pi, b), LANES)
            strings = np.uint64(1)
            for m in range(1, min(b, limits.max_n) + 1):
                strings *= np.uint64(WAYS[scratch.symbols[b - m]])
                ways = load(source, row_of(pi, b - m), LANES) * strings
                row = row + (ways & resize_to(load(AT_LEAST, m * NU_LANES, LANES), source))
            store(target, row_of(pi, b), row)


@jit(inline=True, part=True, norefs=True)
def _join_seconds(
    first: int, last: int, row: int, limits: KernelModel, chain: Chain, outputs: Outputs
) -> None:
    """Write the counts of pairs of the D gene `first` and each later gene, for reference `row`.

    Paths over the first gene meet those over the second at boundaries up to `last`.
    """
    pair = first * (2 * limits.n_d - first - 1) // 2
    for second in range(first + 1, limits.n_d):
        for pi in range(limits.max_p + 1):
            at = second * END_CLASSES + pi
            first_a = chain.over_d_from[second]
            _join_j(chain.after_n, pi, chain.over_d, at, first_a, last, chain.totals)
        _put(row, pair + second - first - 1, ONCE, limits, chain.totals, outputs.full)


@jit(inline=True, part=True, norefs=True)
def _join_j(
    source: NumpyArray,
    pi: int,
    onward: NumpyArray,
    at: int,
    first: int,
    last: int,
    totals: NumpyArray,
) -> None:
    """Fill totals[pi]: sum over boundaries first..last of source (from V) times onward (to J).

    `at` is the index of the rows in `onward`.
    """
    total = spread(0, totals, LANES)
    for b in range(first, last + 1):
        before = resize_to(load(source, row_of(pi, b), LANES), totals)
        total = total + before * resize_to(load(onward, row_of(at, b), LANES), totals)
    store(totals, pi * NU_LANES, total)


@jit(inline=True, part=True, norefs=True)
def _sum_empty(reference: Reference, limits: KernelModel, scratch: Scratch, chain: Chain) -> None:
    """Fill chain.totals: numbers of paths V N N N J, in which both D have length zero."""
    last = min(reference.length, reference.last_a + limits.max_n)
    _pass_junction(last, limits, scratch, chain.before, chain.after_n)
    for pi in range(limits.max_p + 1):
        _join_j(chain.after_n, pi, chain.to_j, pi, reference.first_b, last, chain.totals)


@jit(inline=True, part=True, norefs=True)
def _put_empty(
    row: int, tables: Tables, limits: KernelModel, chain: Chain, outputs: Outputs
) -> None:
    """Write chain.totals for each pair, times the ways to delete both of its D genes completely."""
    pair = 0
    for first in range(limits.n_d - 1):
        for second in range(first + 1, limits.n_d):
            for pi in range(limits.max_p + 1):
                one = tables.d_weights[(D_CLASSES + first) * PI_LANES + pi]
                other = tables.d_weights[(D_CLASSES + second) * PI_LANES + pi]
                chain.both_empty[pi] = np.uint64(one) * np.uint64(other)
            _put(row, pair, chain.both_empty, limits, chain.totals, outputs.zero)
            pair += 1


@jit(inline=True, part=True, norefs=True)
def _put(
    row: int, pair: int, ways: NumpyArray, limits: KernelModel, totals: NumpyArray, out: NumpyArray
) -> None:
    """Write totals, times `ways` of each pi, as the counts of pair `pair` of reference `row`."""
    n_pi = limits.max_p + 1
    pairs = limits.n_d * (limits.n_d - 1) // 2
    at = (row * pairs + pair) * (limits.max_n + 1) * n_pi
    for nu in range(limits.max_n + 1):
        for pi in range(n_pi):
            out[at + nu * n_pi + pi] = totals[pi * NU_LANES + nu] * ways[pi]
