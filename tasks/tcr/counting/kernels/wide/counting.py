"""Kernel of both counts and of the calls of references, for each pi and each nu."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.tcr.counting.kernels.reference import Reference, References
from gangsaw.tasks.tcr.counting.kernels.stages.calls import (
    add_up,
    put_composition,
    put_d_calls,
    put_gene_calls,
)
from gangsaw.tasks.tcr.counting.kernels.stages.match import match_ends
from gangsaw.tasks.tcr.counting.kernels.stages.scratch import Outputs
from gangsaw.tasks.tcr.counting.kernels.wide.chain import (
    add_emptied,
    find_wide_palindromes,
    join_to_j,
    leave_v,
    pass_d,
    pass_junction,
    reach_j,
    weigh_d,
)
from gangsaw.tasks.tcr.counting.kernels.wide.exact import count_exact
from gangsaw.tasks.tcr.counting.kernels.wide.tables import WideLimits, WideTables, WideWork


@jit(norefs=True)
def count_wide_rows(
    rows: npt.NDArray[np.int64],
    references: References,
    tables: WideTables,
    limits: WideLimits,
    work: WideWork,
    outputs: Outputs,
) -> None:
    """Write the calls and all counts of the references `rows` of a batch."""
    for x in range(len(rows)):
        row = rows[x]
        reference = match_ends(row, references, tables, limits.max_n, work.symbols)
        add_up(work.symbols, reference.length, work.sums)
        put_gene_calls(reference, outputs.genes)
        end = reference.length - reference.j_match
        put_composition(work.sums, reference.v_match, end, outputs.ndn, 4 * row)
        find_wide_palindromes(work.symbols, reference.length, limits.max_p, work.turns)
        for gene in range(limits.n_d):
            _call_d(gene, reference, tables, limits, work, outputs)
        v, j = references.v_of[row], references.j_of[row]
        for p in range(len(limits.pis)):
            if limits.dp2:
                _leave_and_reach(v, j, p, reference, tables, limits, work)
                _count_without_d(p, reference, limits, work, outputs)
                if limits.d_segments == 1:
                    _count_with_d(p, reference, tables, limits, work, outputs)
                else:
                    _count_pairs(p, reference, tables, limits, work, outputs)
        if limits.dp1:
            count_exact(reference, tables, limits, work, outputs)


@jit(part=True, norefs=True)
def _leave_and_reach(
    v: int,
    j: int,
    p: int,
    reference: Reference,
    tables: WideTables,
    limits: WideLimits,
    work: WideWork,
) -> None:
    """Count the partial paths from part v and those to part j, for the pi with index p."""
    v_width = tables.v_starts[v + 1] - tables.v_starts[v] + 1
    j_width = tables.j_starts[j + 1] - tables.j_starts[j] + 1
    leave_v(reference, tables.v_ways, tables.v_offsets[v] + p * v_width, limits, work)
    reach_j(reference, tables.j_ways, tables.j_offsets[j] + p * j_width, limits, work)


@jit(part=True, norefs=True)
def _call_d(
    gene: int,
    reference: Reference,
    tables: WideTables,
    limits: WideLimits,
    work: WideWork,
    outputs: Outputs,
) -> None:
    """Write the D calls of a gene: its longest matches, with palindromes of up to max_p symbols."""
    _weigh(gene, len(limits.pis) - 1, reference, tables, limits, work)
    side = reference.length + 1
    longest, first, last = 0, 0, 0
    for b in range(1, side):
        for a in range(b):
            if work.weights[b * side + a] and b - a >= longest:
                first = a + 1 if b - a > longest else min(first, a + 1)
                longest, last = b - a, b
    found = (0, 0, longest, first, last)
    put_d_calls(gene, limits.n_d, found, reference, outputs, work.sums)


@jit(part=True, norefs=True)
def _weigh(
    gene: int, p: int, reference: Reference, tables: WideTables, limits: WideLimits, work: WideWork
) -> None:
    weigh_d(gene, p, reference, tables, work)
    if limits.min_d_end == 0:
        add_emptied(gene, p, reference, tables, work)


@jit(part=True, norefs=True)
def _count_without_d(
    p: int, reference: Reference, limits: WideLimits, work: WideWork, outputs: Outputs
) -> None:
    """Write the counts of paths without D, V N J and V N N J, for the pi with index p.

    The latter stay in work.total.
    """
    n_nus, row = len(limits.nus), reference.row
    work.total[:n_nus] = 0
    for b in range(reference.length - reference.j_match, reference.length + 1):
        for k in range(n_nus):
            work.total[k] += work.from_v[b * n_nus + k] * work.j_row[b]
    write_pi_counts(row, p, work.unit[0], limits, work.total, outputs.no_d)
    join_to_j(reference, work.from_v, limits, work)
    write_pi_counts(row, p, work.unit[0], limits, work.total, outputs.no_d_two)


@jit(part=True, norefs=True)
def _count_with_d(
    p: int,
    reference: Reference,
    tables: WideTables,
    limits: WideLimits,
    work: WideWork,
    outputs: Outputs,
) -> None:
    """Write the counts of paths V N D N J of each D gene, for the pi with index p.

    work.total has the counts V N N J.
    """
    n_pis = len(limits.pis)
    for gene in range(limits.n_d):
        empty = tables.empty_ways[gene * n_pis + p]
        write_pi_counts(
            reference.row * limits.n_d + gene, p, empty, limits, work.total, outputs.zero
        )
    for gene in range(limits.n_d):
        empty = tables.empty_ways[gene * n_pis + p]
        _weigh(gene, p, reference, tables, limits, work)
        pass_d(reference, work.from_v, empty, work.after_d, limits, work)
        join_to_j(reference, work.after_d, limits, work)
        write_pi_counts(
            reference.row * limits.n_d + gene, p, work.unit[0], limits, work.total, outputs.full
        )


@jit(part=True, norefs=True)
def _count_pairs(
    p: int,
    reference: Reference,
    tables: WideTables,
    limits: WideLimits,
    work: WideWork,
    outputs: Outputs,
) -> None:
    """Write the counts of paths V N D N D N J of each pair of D genes, for the pi with index p."""
    n_d, n_pis = limits.n_d, len(limits.pis)
    first_pair = reference.row * (n_d * (n_d - 1) // 2)
    pass_junction(reference, work.from_v, work.after_n, limits, work)
    join_to_j(reference, work.after_n, limits, work)
    pair = first_pair
    for first in range(n_d):
        for second in range(first + 1, n_d):
            empty = tables.empty_ways[first * n_pis + p] * tables.empty_ways[second * n_pis + p]
            write_pi_counts(pair, p, empty, limits, work.total, outputs.zero)
            pair += 1
    pair = first_pair
    for first in range(n_d - 1):
        empty = tables.empty_ways[first * n_pis + p]
        _weigh(first, p, reference, tables, limits, work)
        pass_d(reference, work.from_v, empty, work.after_d, limits, work)
        pass_junction(reference, work.after_d, work.after_n, limits, work)
        for second in range(first + 1, n_d):
            empty = tables.empty_ways[second * n_pis + p]
            _weigh(second, p, reference, tables, limits, work)
            pass_d(reference, work.after_n, empty, work.after_d, limits, work)
            join_to_j(reference, work.after_d, limits, work)
            write_pi_counts(pair, p, work.unit[0], limits, work.total, outputs.full)
            pair += 1


@jit(part=True, norefs=True)
def write_pi_counts(
    place: int, p: int, ways: int, limits: WideLimits, total: NumpyArray, out: NumpyArray
) -> None:
    """Write total[nu] times `ways` as the path counts of one pi (index p): out[place, nu, p]."""
    n_nus, n_pis = len(limits.nus), len(limits.pis)
    for k in range(n_nus):
        out[(place * n_nus + k) * n_pis + p] = total[k] * ways
