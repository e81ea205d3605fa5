"""DP-1 without the lane limit of vectors: each total of n-nucleotides, boundary by boundary."""

from __future__ import annotations

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.tcr.counting.kernels.reference import Reference
from gangsaw.tasks.tcr.counting.kernels.stages.ends import WAYS
from gangsaw.tasks.tcr.counting.kernels.stages.scratch import Outputs
from gangsaw.tasks.tcr.counting.kernels.wide.chain import weigh_pieces
from gangsaw.tasks.tcr.counting.kernels.wide.tables import WideLimits, WideTables, WideWork


@jit(part=True, norefs=True)
def count_exact(
    reference: Reference, tables: WideTables, limits: WideLimits, work: WideWork, outputs: Outputs
) -> None:
    """Write the DP-1 path counts of a reference, by the total number of n-nucleotides."""
    row, totals = reference.row, limits.max_n + 1
    _leave_v(reference, limits, work)
    if limits.n_d == 0:
        _sum_without_d(reference, limits, work)
        _put(work, totals, outputs.dp1_nonempty, row * totals)
        return
    _sum(reference, False, limits, work)
    _put(work, totals, outputs.dp1_empty, row * totals)
    for gene in range(limits.n_d):
        arrays = (tables.both, tables.ones, tables.ones)
        places = (tables.both_starts[gene], tables.both_starts[gene + 1], 0, 0, 0)
        weigh_pieces(reference, arrays, places, work)
        _sum(reference, True, limits, work)
        _put(work, totals, outputs.dp1_nonempty, (row * limits.n_d + gene) * totals)


@jit(part=True, norefs=True)
def _leave_v(reference: Reference, limits: WideLimits, work: WideWork) -> None:
    """Fill work.from_v[b, n]: numbers of paths to boundary b by V and exactly n n-nucleotides."""
    side = reference.length + 1
    for b in range(side):
        strings = work.unit[0]
        for n in range(min(b, limits.max_n) + 1):
            if n:
                strings *= WAYS[work.symbols[b - n]]
            found = strings if b - n <= reference.v_match else work.unit[1]
            work.from_v[b * side + n] = found
        for n in range(min(b, limits.max_n) + 1, side):
            work.from_v[b * side + n] = 0


@jit(part=True, norefs=True)
def _sum(reference: Reference, has_d: bool, limits: WideLimits, work: WideWork) -> None:
    """Fill work.total[n]: numbers of paths V N D N J with n n-nucleotides.

    D is a segment of work.weights if `has_d`, else it is empty.

    after_d[n] has, at b, the ways that end there, including those that end with D.
    """
    side = reference.length + 1
    most = min(limits.max_n, reference.length)
    work.total[: limits.max_n + 1] = 0
    work.after_d[:side] = 0
    for b in range(side):
        if b:
            for n in range(most, 0, -1):
                work.after_d[n] = work.after_d[n - 1] * WAYS[work.symbols[b - 1]]
            work.after_d[0] = 0
        if not has_d:
            for n in range(most + 1):
                work.after_d[n] += work.from_v[b * side + n]
        for a in range(b if has_d else 0):
            ways = work.weights[b * side + a]
            if ways:
                for n in range(most + 1):
                    work.after_d[n] += work.from_v[a * side + n] * ways
        if b >= reference.length - reference.j_match:
            for n in range(most + 1):
                work.total[n] += work.after_d[n]


@jit(part=True, norefs=True)
def _sum_without_d(reference: Reference, limits: WideLimits, work: WideWork) -> None:
    """Fill work.total[n]: numbers of paths V N J with n n-nucleotides."""
    side = reference.length + 1
    work.total[: limits.max_n + 1] = 0
    for b in range(reference.length - reference.j_match, side):
        for n in range(min(limits.max_n, reference.length) + 1):
            work.total[n] += work.from_v[b * side + n]


@jit(part=True, norefs=True)
def _put(work: WideWork, totals: int, out: NumpyArray, at: int) -> None:
    for n in range(totals):
        out[at + n] = work.total[n]
