"""DP-1: exact totals of n-nucleotides as vector lanes, from boundary to boundary."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.integers import load, resize_to, spread, store, to_next_lane
from gangsaw.tasks.tcr.counting.kernels.d_words import SHORT
from gangsaw.tasks.tcr.counting.kernels.reference import Reference, References
from gangsaw.tasks.tcr.counting.kernels.stages.d_segments import find_d
from gangsaw.tasks.tcr.counting.kernels.stages.dp2 import short_pieces
from gangsaw.tasks.tcr.counting.kernels.stages.ends import LANES, WAYS, exact_rows, row_of
from gangsaw.tasks.tcr.counting.kernels.stages.match import (
    EVERYWHERE,
    has_window,
    match_ends,
    unpack_segment,
)
from gangsaw.tasks.tcr.counting.kernels.stages.scratch import KernelModel, Outputs, Scratch
from gangsaw.tasks.tcr.counting.kernels.stages.words import find_words, look_up_d
from gangsaw.tasks.tcr.counting.kernels.tables import Tables
from gangsaw.tasks.tcr.model.nucleotides import Codes


@jit(norefs=True)
def count_exact_rows(
    rows: npt.NDArray[np.int64],
    references: References,
    tables: Tables,
    limits: KernelModel,
    scratch: Scratch,
    outputs: Outputs,
) -> None:
    """Count the DP-1 paths to the references `rows` of a batch."""
    for x in range(len(rows)):
        reference = match_ends(rows[x], references, tables, limits.max_n, scratch.symbols)
        _count_dp1(reference, tables, limits, scratch, outputs)


@jit(inline=True, part=True, norefs=True)
def _count_dp1(
    reference: Reference, tables: Tables, limits: KernelModel, scratch: Scratch, outputs: Outputs
) -> None:
    symbols, row, totals = scratch.symbols, reference.row, limits.max_n + 1
    exact_rows(symbols, reference, scratch.exact, scratch.unit)
    if limits.n_d == 0:
        sum_exact_without_d(reference, scratch)
        put_totals(scratch, totals, outputs.dp1_nonempty, row * totals)
        return
    sum_exact(symbols, reference, False, 0, scratch)
    put_totals(scratch, totals, outputs.dp1_empty, row * totals)
    window = (reference.last_a, reference.first_b)
    words = tables.words
    of_words = (words.both_counts, words.ends, words.short_holders)
    if limits.by_words:
        find_words(symbols, reference.length, limits.n_d, words.long_holders, scratch)
    for gene in range(limits.n_d):
        at = (row * limits.n_d + gene) * totals
        if tables.first_equal[gene] < gene:
            equal = (row * limits.n_d + tables.first_equal[gene]) * totals
            for n in range(totals):
                outputs.dp1_nonempty[at + n] = outputs.dp1_nonempty[equal + n]
            continue
        d = (tables.d_both, gene, EVERYWHERE, tables.d_germline[gene], False)
        codes = (tables.d_codes, tables.d_starts[gene], tables.d_starts[gene + 1])
        if limits.by_words:
            found = look_up_d(symbols, reference.length, d, of_words, limits.n_d, window, scratch)
        else:
            found = find_d(symbols, reference.length, d, codes, window, scratch)
        sum_exact(symbols, reference, True, found[0], scratch)
        put_totals(scratch, totals, outputs.dp1_nonempty, at)


@jit(inline=True, part=True, norefs=True)
def sum_exact(
    symbols: Codes, reference: Reference, has_d: bool, longer: int, scratch: Scratch
) -> None:
    """Fill scratch.total: numbers of paths V N D N J by the total number n of n-nucleotides.

    D is a segment that find_d listed, or empty if not `has_d`. `longer` is the number of segments
    of more than SHORT symbols.

    G[b, n] = V, n-nucleotides and a D that ends at b + w(R[b - 1]) G[b - 1, n - 1].
    """
    total = spread(0, scratch.total, LANES)
    row = spread(0, scratch.exact, LANES)
    piece, first = 0, reference.first_b
    if has_d and not has_window(reference):
        # without short segments there is nothing before the first longer one
        first = unpack_segment(scratch.longer[0])[1] if longer else reference.length + 1
    for b in range(first, reference.length + 1):
        if b:
            row = to_next_lane(row) * WAYS[symbols[b - 1]]
        if has_d and 0 < b <= reference.last_a + SHORT:
            row = row + short_pieces(scratch.exact, 0, b, scratch.matches)
        elif not has_d and b <= reference.last_a:
            row = row + load(scratch.exact, row_of(0, b), LANES)
        while piece < longer and unpack_segment(scratch.longer[piece])[1] == b:
            a, _, number = unpack_segment(scratch.longer[piece])
            row = row + load(scratch.exact, row_of(0, a), LANES) * number
            piece += 1
        if b >= reference.length - reference.j_match:
            total = total + resize_to(row, scratch.total)
    store(scratch.total, 0, total)


@jit(inline=True, part=True, norefs=True)
def sum_exact_without_d(reference: Reference, scratch: Scratch) -> None:
    """Fill scratch.total: numbers of paths V N J by the number n of n-nucleotides."""
    total = spread(0, scratch.total, LANES)
    for a in range(reference.length - reference.j_match, reference.last_a + 1):
        total = total + resize_to(load(scratch.exact, row_of(0, a), LANES), scratch.total)
    store(scratch.total, 0, total)


@jit(inline=True, part=True, norefs=True)
def put_totals(scratch: Scratch, n_totals: int, out: NumpyArray, at: int) -> None:
    """Copy the first `n_totals` items of scratch.total to out[at:]."""
    for n in range(n_totals):
        out[at + n] = scratch.total[n]
