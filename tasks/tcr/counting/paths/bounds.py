"""Bounds of counts: checks before counting that all counts of a reference fit 64 bits.

Counts grow with nu and with pi, and a D gene adds paths to those without D. So the greatest count
of a reference is that of V N D N J at the greatest nu and pi. Three number sizes follow.

- 16 and 32 bits for references without wildcards: a junction of given ends has one n-string, so a
  row sums to at most 16 ways, max_n + 1. A boundary is the end of at most 2,100 segments of a D of
  up to WORD_D symbols: at most 16 * 2,100 < 2^16 ways. From there to J there are 16 at most, over
  MAX_LENGTH boundaries: 1.4e8 < 2^32. With a longer D the next item holds. Rows of V-D-D-J are
  multiplied by the ways of ends: by 9 for V, which makes 144. A D has 81 ways for each of 2,100
  segments and of 240 with a palindrome of the reference. An empty D has 4,941, which makes 2.8e7.
  The junction between the D genes has 16: 4.5e8 < 2^32. Products of two rows are summed in 64 bits:
  below 3.3e18.
- 64 bits for all others. Kernels then count modulo 2^64, and no term is negative. So the count is
  exact if its true value fits, whatever the order of the sums. Unless the product of all w(R) is
  small enough, that value is computed in floating point, with an error far below SLACK.
- DP-1 needs no check: at most 15 n-nucleotides are at most 2^30 strings. There are 16 ways to
  split them between the junctions, and at most 36,000 segments of D at MAX_LENGTH boundaries: below
  2^58.

For sweeps beyond the vectors of the fixed-width kernels, every reference with possibly large
counts is counted in floating point first, in DP-1, too.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.tcr.counting.kernels.batch import Batch, check_lengths
from gangsaw.tasks.tcr.counting.kernels.d_words import SHORT
from gangsaw.tasks.tcr.counting.kernels.reference import Reference, References
from gangsaw.tasks.tcr.counting.kernels.stages.ends import WAYS, class_range
from gangsaw.tasks.tcr.counting.kernels.stages.match import (
    find_palindromes,
    match_ends,
    unpack_segment,
)
from gangsaw.tasks.tcr.counting.kernels.stages.scratch import (
    KernelModel,
    Scratch,
    find_everywhere,
    make_counting_scratch,
)
from gangsaw.tasks.tcr.counting.kernels.tables import D_CLASSES, PI_LANES, Tables, make_tables
from gangsaw.tasks.tcr.counting.kernels.wide import cpu as wide
from gangsaw.tasks.tcr.counting.paths.distinct import select_references
from gangsaw.tasks.tcr.model import MAX_LENGTH, MAX_N, MAX_P, Model
from gangsaw.tasks.tcr.model.nucleotides import Codes

Floats = npt.NDArray[np.float64]

END_WAYS = 9  # maximum multiplicity of one gene end: two strands, pi = 4
ROW = MAX_N + 1
LIMIT = 2.0**64
LOG_WAYS = np.log2(np.maximum(WAYS, 1))  # no code is 0 in a batch
SLACK = 1 - 2.0**-30  # about 10^5 roundings of 2^-53 each


def countable(batch: Batch, model: Model) -> npt.NDArray[np.bool_]:
    """Return a mask (n,): True if all counts of a reference fit 64 bits, so that `count` is exact.

    Parameters
    ----------
    batch : references in host memory
    model : limits of the paths

    Returns
    -------
    (n,) bool : False only for references with a dozen wildcards or more
    """
    fits = np.ones(len(batch.references), np.bool_)
    if not len(fits):
        return fits
    if model.is_wide:
        return _countable_wide(batch, model)
    if not model.dp2:
        return fits
    doubtful = np.flatnonzero(_wildness(batch) > _harmless(model, _longest_d(batch)))
    if len(doubtful):
        fits[doubtful] = find_largest_dp2_counts(batch, model, doubtful) < LIMIT * SLACK
    return fits


def _countable_wide(batch: Batch, model: Model) -> npt.NDArray[np.bool_]:
    """Return the mask of `countable` for sweeps of any length."""
    fits = np.ones(len(batch.references), np.bool_)
    doubtful = np.flatnonzero(_wildness(batch) > _harmless_wide(batch, model))
    if len(doubtful):
        fits[doubtful] = (
            wide.find_largest_counts(select_references(batch, doubtful), model) < LIMIT * SLACK
        )
    return fits


def _wildness(batch: Batch) -> Floats:
    """Return log2 of the number of concrete sequences that each reference stands for, (n,)."""
    codes, starts = batch.references.data, batch.references.offsets
    found: Floats = np.add.reduceat(LOG_WAYS[codes], starts[:-1])
    return found


def _harmless_wide(batch: Batch, model: Model) -> float:
    """Return the `_wildness` up to which no count of a batch exceeds 64 bits, for wide sweeps.

    V, J and each junction have at most one choice per boundary. D has at most one per pair of
    boundaries and pair of cuts.
    """
    v, d, j = (int(parts.lengths.max(initial=0)) for parts in (batch.v, batch.d, batch.j))
    length = int(batch.references.lengths.max(initial=0)) + 1
    ends = [2 * min(model.max_p, size) + 1 for size in (v, j)]
    cuts = (2 * d + 1) * (3 * d + 1) * (2 * min(model.max_p, d) + 1) ** 2
    genes = model.d_segments if len(batch.d) else 0
    choices = math.prod(ends) * length ** (2 + genes) * max(1, cuts) ** genes
    return float(np.log2(LIMIT * SLACK)) - math.log2(choices)


def _longest_d(batch: Batch) -> int:
    return int(batch.d.lengths.max(initial=0))


def _harmless(model: Model, longest_d: int) -> float:
    """Return the `_wildness` up to which no DP-2 count exceeds 64 bits."""
    # segments of a D with its palindrome that end at one boundary: of all lengths, and with a
    # palindrome of the reference
    size = longest_d + MAX_P
    pieces = size * (size + 1) // 2 + (size + 1) * MAX_P
    most = replace(model, strands=2, min_d_end=0)
    one_d = pieces * END_WAYS**2 + most.empty_d_ways(longest_d, MAX_P)
    d = one_d if model.d_segments == 1 else one_d * ROW * one_d
    return float(np.log2(LIMIT * SLACK / (ROW**2 * END_WAYS**2 * d * (MAX_LENGTH + 1))))


def find_largest_dp2_counts(
    batch: Batch, model: Model, rows: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Return the greatest DP-2 count of each of the references `rows`, accurate to 9 digits."""
    check_lengths(batch.references.offsets)
    limits = KernelModel.of(model, len(batch.d))
    out = np.zeros(len(rows), np.float64)
    chain = np.zeros((6, MAX_LENGTH + 1))
    scratch = make_counting_scratch(np.uint64, np.uint64, _longest_d(batch))
    tables = make_tables(batch, model)
    _largest(rows, References.of(batch), tables, limits, scratch, chain, out)
    return out


@jit(norefs=True)
def _largest(
    rows: npt.NDArray[np.int64],
    references: References,
    tables: Tables,
    limits: KernelModel,
    scratch: Scratch,
    chain: Floats,
    out: Floats,
) -> None:
    symbols = scratch.symbols
    at_v, to_d, after_d, to_next, after_next, to_j = chain
    for x in range(len(rows)):
        reference = match_ends(rows[x], references, tables, limits.max_n, symbols)
        find_palindromes(symbols, reference.length, limits.max_p, scratch)
        _end_at_v(reference, tables, limits, at_v)
        _pass_junction(reference, limits, symbols, at_v, to_d)
        greatest = 0.0
        if limits.n_d == 0:
            _pass_junction(reference, limits, symbols, to_d, to_j)
            greatest = _join_j(reference, tables, limits, to_j)
        for first in range(limits.n_d):
            _pass_d(first, reference, tables, limits, scratch, to_d, after_d)
            _pass_junction(reference, limits, symbols, after_d, to_next)
            if limits.one_d:
                greatest = max(greatest, _join_j(reference, tables, limits, to_next))
                continue
            for second in range(first + 1, limits.n_d):
                _pass_d(second, reference, tables, limits, scratch, to_next, after_next)
                _pass_junction(reference, limits, symbols, after_next, to_j)
                greatest = max(greatest, _join_j(reference, tables, limits, to_j))
        out[x] = greatest


@jit(inline=True, part=True, norefs=True)
def _end_at_v(reference: Reference, tables: Tables, limits: KernelModel, ways: Floats) -> None:
    """Fill ways[k]: the number of ways to a V of k symbols, for the greatest pi."""
    ways[: reference.length + 1] = 0
    for p in range(reference.v_classes):
        fewest, most = class_range(reference.v_match, reference.v_length, p)
        for k in range(fewest, most + 1):
            ways[k] = tables.end_weights[p * PI_LANES + limits.max_p]


@jit(inline=True, part=True, norefs=True)
def _join_j(reference: Reference, tables: Tables, limits: KernelModel, ways: Floats) -> float:
    """Return the number of paths: sum over boundaries b of ways[b] times those of J from b."""
    total = 0.0
    for p in range(reference.j_classes):
        fewest, most = class_range(reference.j_match, reference.j_length, p)
        for k in range(fewest, most + 1):
            weight = tables.end_weights[p * PI_LANES + limits.max_p]
            total += ways[reference.length - k] * weight
    return total


@jit(inline=True, part=True, norefs=True)
def _pass_junction(
    reference: Reference, limits: KernelModel, symbols: Codes, source: Floats, target: Floats
) -> None:
    """Extend partial paths by an N junction: fill target[b] from source[a].

    Each is multiplied by the number of n-strings that the reference symbols R[a:b] stand for.
    """
    for b in range(reference.length + 1):
        strings = 1.0
        target[b] = source[b]
        for m in range(1, min(b, limits.max_n) + 1):
            strings *= WAYS[symbols[b - m]]
            target[b] += source[b - m] * strings


@jit(inline=True, part=True, norefs=True)
def _pass_d(
    gene: int,
    reference: Reference,
    tables: Tables,
    limits: KernelModel,
    scratch: Scratch,
    source: Floats,
    target: Floats,
) -> None:
    """Extend partial paths by a D gene: fill target[b] from source[a].

    Each is multiplied by the number of ways of D to be the reference symbols R[a:b].
    """
    longer, crossing, _ = find_everywhere(gene, reference, tables, limits, scratch)
    weights, pi = tables.d_weights, limits.max_p
    for b in range(reference.length + 1):
        target[b] = source[b] * weights[(D_CLASSES + gene) * PI_LANES + pi]
        for t in range(1, min(b, SHORT) + 1):
            target[b] += source[b - t] * scratch.matches[b * SHORT + t - 1] * weights[pi]
    for piece in range(longer):
        a, b, number = unpack_segment(scratch.longer[piece])
        target[b] += source[a] * number * weights[pi]
    for piece in range(crossing):
        a, b, d_class = unpack_segment(scratch.crossing[piece])
        target[b] += source[a] * weights[d_class * PI_LANES + pi]
