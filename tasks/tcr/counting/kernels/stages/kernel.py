"""Kernel that counts the references of a slice, one after the other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.tcr.counting.kernels.d_words import SHORT
from gangsaw.tasks.tcr.counting.kernels.reference import Reference, References
from gangsaw.tasks.tcr.counting.kernels.stages.calls import (
    Found,
    add_up,
    put_composition,
    put_d_calls,
    put_gene_calls,
)
from gangsaw.tasks.tcr.counting.kernels.stages.d_segments import extended_d, find_d
from gangsaw.tasks.tcr.counting.kernels.stages.dp2 import (
    append_empty,
    sum_with_d,
    sum_without_d,
    weigh,
)
from gangsaw.tasks.tcr.counting.kernels.stages.match import (
    find_palindromes,
    find_palindromic_d,
    has_window,
    match_ends,
)
from gangsaw.tasks.tcr.counting.kernels.stages.scratch import KernelModel, Outputs, Scratch
from gangsaw.tasks.tcr.counting.kernels.stages.words import find_words, look_up_d
from gangsaw.tasks.tcr.counting.kernels.tables import D_CLASSES, Tables


@jit(norefs=True)
def count_rows(
    rows: npt.NDArray[np.int64],
    references: References,
    tables: Tables,
    limits: KernelModel,
    scratch: Scratch,
    outputs: Outputs,
) -> None:
    """Write the calls of the references `rows` of a batch, and the counts of DP-2 with one D."""
    symbols = scratch.symbols
    for x in range(len(rows)):
        row = rows[x]
        reference = match_ends(row, references, tables, limits.max_n, symbols)
        add_up(symbols, reference.length, scratch.sums)
        put_gene_calls(reference, outputs.genes)
        end = reference.length - reference.j_match
        put_composition(scratch.sums, reference.v_match, end, outputs.ndn, 4 * row)
        if limits.dp2:
            _count_without_d(reference, tables, limits, scratch, outputs)
        if limits.n_d:
            _count_with_d(reference, tables, limits, scratch, outputs)


@jit(inline=True, part=True, norefs=True)
def _count_without_d(
    reference: Reference, tables: Tables, limits: KernelModel, scratch: Scratch, outputs: Outputs
) -> None:
    pairs = sum_without_d(scratch.symbols, reference, D_CLASSES + 1 + limits.n_d, scratch)
    sweep = (limits.max_n + 1, limits.max_p + 1)
    at = reference.row * sweep[0] * sweep[1]
    weights = (tables.weights, scratch.pair_weight, D_CLASSES)
    for out in (outputs.no_d, outputs.no_d_two):
        out[at : at + sweep[0] * sweep[1]] = 0
    weigh(scratch.direct, pairs, weights, sweep, scratch, outputs.no_d, at)
    weigh(scratch.parted, pairs, weights, sweep, scratch, outputs.no_d_two, at)


@jit(inline=True, part=True, norefs=True)
def _count_with_d(
    reference: Reference, tables: Tables, limits: KernelModel, scratch: Scratch, outputs: Outputs
) -> None:
    symbols, length = scratch.symbols, reference.length
    find_palindromes(symbols, length, limits.max_p, scratch)
    # DP-1 and two D genes need only the calls here: their counts have windows of their own
    window = (reference.last_a if limits.one_d else -SHORT, reference.first_b)
    words = tables.words
    of_words = (words.counts, words.ends, words.short_holders)
    if limits.by_words:
        find_words(symbols, length, limits.n_d, words.long_holders, scratch)
    for gene in range(limits.n_d):
        if tables.first_equal[gene] < gene:
            _copy_gene(tables.first_equal[gene], gene, reference.row, limits, outputs)
            continue
        d, codes = extended_d(gene, tables, limits.max_p)
        if limits.by_words:
            found = look_up_d(symbols, length, d, of_words, limits.n_d, window, scratch)
        else:
            found = find_d(symbols, length, d, codes, window, scratch)
        ends = (limits.min_d_end, tables.d_germline[gene] + limits.max_p)
        found = find_palindromic_d(symbols, length, d, codes, ends, window, found, scratch)
        put_d_calls(gene, limits.n_d, found, reference, outputs, scratch.sums)
        if limits.one_d:
            _count_dp2(gene, found, reference, tables, limits, scratch, outputs)


@jit(inline=True, part=True, norefs=True)
def _copy_gene(source: int, gene: int, row: int, limits: KernelModel, outputs: Outputs) -> None:
    """Copy the counts and calls of D gene `source` to `gene`, which has the same sequence."""
    first = row * limits.n_d
    copy_row_items(outputs.d, first + source, first + gene, 5)
    copy_row_items(outputs.n1, first + source, first + gene, 4)
    copy_row_items(outputs.n2, first + source, first + gene, 4)
    if limits.one_d:
        size = (limits.max_n + 1) * (limits.max_p + 1)
        copy_row_items(outputs.zero, first + source, first + gene, size)
        copy_row_items(outputs.full, first + source, first + gene, size)


@jit(inline=True, part=True, norefs=True)
def copy_row_items(array: NumpyArray, source: int, target: int, size: int) -> None:
    """Copy row `source` of a flat array with rows of `size` items to row `target`."""
    for i in range(size):
        array[target * size + i] = array[source * size + i]


@jit(inline=True, part=True, norefs=True)
def _count_dp2(
    gene: int,
    found: Found,
    reference: Reference,
    tables: Tables,
    limits: KernelModel,
    scratch: Scratch,
    outputs: Outputs,
) -> None:
    """Write the DP-2 counts of a D gene from its segments, `found`."""
    size = (limits.max_n + 1) * (limits.max_p + 1)
    choice = reference.row * limits.n_d + gene
    places = (reference.row * size, gene * size, choice * size)
    append_empty(tables.empty_d, outputs.no_d_two, places, size, outputs.zero, outputs.full)
    if found[0] + found[1] == 0 and not has_window(reference):
        return
    terms = sum_with_d(reference, found[0], found[1], D_CLASSES + 1 + limits.n_d, scratch)
    weights = (tables.weights, scratch.term_weight, 0)
    sweep = (limits.max_n + 1, limits.max_p + 1)
    weigh(scratch.terms, terms, weights, sweep, scratch, outputs.full, choice * size)
