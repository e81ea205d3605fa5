"""DP-2: all values of nu as vector lanes, all values of pi by weights at the end.

Only the multiplicities of gene ends depend on pi. They also depend on the class of an end, its
number of palindrome symbols. So the ways are counted once for each combination of classes of the
four ends that occurs. Such a term has a lane for each nu, and is weighted for each pi at the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.integers import (
    load,
    resize_to,
    spread,
    static,
    store,
)
from gangsaw.codecs.core.numba.vectors.tuples import add_outer_product, store_tuple, zeros_tuple
from gangsaw.tasks.tcr.counting.kernels.d_words import SHORT
from gangsaw.tasks.tcr.counting.kernels.stages.ends import (
    LANES,
    class_range,
    j_rows,
    row_of,
    v_rows,
)
from gangsaw.tasks.tcr.counting.kernels.stages.match import NU_LANES, unpack_segment
from gangsaw.tasks.tcr.counting.kernels.tables import D_CLASSES, END_CLASSES, PI_LANES
from gangsaw.tasks.tcr.model import USUAL_N

AT_ONCE = USUAL_N + 1  # values of nu whose sums are in registers
NUS, PIS = static(AT_ONCE), static(PI_LANES)


@jit(inline=True, part=True, norefs=True)
def sum_without_d(symbols: Any, reference: Any, per_pair: int, scratch: Any) -> int:
    """Fill the rows of V and J by class, and the terms of V N J and V N N J by pair of classes.

    A class of an end is its number of palindrome symbols. `per_pair` is the number of weight rows
    of a pair of classes. Return the number of pairs.
    """
    for v in range(reference.v_classes):
        v_rows(symbols, reference, v, scratch.v_rows)
    for j in range(reference.j_classes):
        j_rows(symbols, reference, j, scratch.j_rows)
    term = 0
    for v in range(reference.v_classes):
        for j in range(reference.j_classes):
            sum_direct(reference, v, j, term, scratch)
            sum_parted(reference, v, j, term, scratch)
            scratch.pair_weight[term] = pair_row(v, j, per_pair) * PI_LANES
            term += 1
    return term


@jit(inline=True, part=True, norefs=True)
def sum_direct(reference: Any, v: int, j: int, term: int, scratch: Any) -> None:
    """Fill term number `term`: paths V N J by nu, for classes v and j of the ends.

    A class is the number of palindrome symbols.
    """
    fewest, most = class_range(reference.v_match, reference.v_length, v)
    ways = spread(0, scratch.direct, LANES)
    for k in range(max(fewest, reference.first_b), most + 1):
        row = load(scratch.j_rows, row_of(j, k), LANES)
        ways = ways + resize_to(row, scratch.direct)
    store(scratch.direct, term * NU_LANES, ways)


@jit(inline=True, part=True, norefs=True)
def sum_parted(reference: Any, v: int, j: int, term: int, scratch: Any) -> None:
    """Fill term number `term`: paths V N N J by nu, for classes v and j of the ends.

    Their two junctions meet at any boundary.
    """
    ways = spread(0, scratch.parted, LANES)
    for a in range(reference.first_b, reference.last_a + 1):
        before = load(scratch.v_rows, row_of(v, a), LANES)
        after = load(scratch.j_rows, row_of(j, a), LANES)
        ways = ways + resize_to(before * after, scratch.parted)
    store(scratch.parted, term * NU_LANES, ways)


@jit(inline=True, part=True, norefs=True)
def sum_inside(reference: Any, v: int, j: int, longer: int, term: int, scratch: Any) -> None:
    """Fill term number `term`: paths V N D N J by nu, D without palindromes, classes v and j.

    Segments that end at the same boundary b share the factor of J. `longer` is the number of
    segments of more than SHORT symbols.
    """
    total = spread(0, scratch.terms, LANES)
    for b in range(max(1, reference.first_b), min(reference.length, reference.last_a + SHORT) + 1):
        ways = short_pieces(scratch.v_rows, v, b, scratch.matches)
        after = load(scratch.j_rows, row_of(j, b), LANES)
        total = total + resize_to(ways, scratch.terms) * resize_to(after, scratch.terms)
    for piece in range(longer):
        a, b, number = unpack_segment(scratch.longer[piece])
        before = load(scratch.v_rows, row_of(v, a), LANES) * number
        after = load(scratch.j_rows, row_of(j, b), LANES)
        total = total + resize_to(before * after, scratch.terms)
    store(scratch.terms, term * NU_LANES, total)


@jit(inline=True, part=True, norefs=True)
def short_pieces(rows: Any, p: int, b: int, matches: Any) -> Any:
    """Return the number of paths to boundary b through a D segment of 1..SHORT symbols.

    Segments with palindromes are not counted.

    Parameters
    ----------
    rows : numbers of paths from V to each boundary
    p : class of V
    b : end of the segments
    matches : numbers of segments by end and length, see find_pieces
    """
    ways = load(rows, row_of(p, b - 1), LANES) * matches[b * SHORT]
    for t in range(1, SHORT):
        ways = ways + load(rows, row_of(p, b - 1 - t), LANES) * matches[b * SHORT + t]
    return ways


@jit(inline=True, part=True, norefs=True)
def short_pieces_back(rows: Any, p: int, a: int, matches: Any) -> Any:
    """Return the number of paths from boundary a to J through a D segment of 1..SHORT symbols.

    Parameters
    ----------
    rows : numbers of paths from each boundary to J
    p : class of J
    a : start of the segments
    matches : numbers of segments by end and length, see find_pieces
    """
    ways = load(rows, row_of(p, a + 1), LANES) * matches[(a + 1) * SHORT]
    for t in range(1, SHORT):
        ways = ways + load(rows, row_of(p, a + 1 + t), LANES) * matches[(a + 1 + t) * SHORT + t]
    return ways


@jit(inline=True, part=True, norefs=True)
def sum_crossing(crossing: int, v: int, j: int, term: int, scratch: Any) -> None:
    """Add D segments with palindromes to the terms of their classes, for classes v and j.

    `crossing` is the number of these segments, `term` the first term of v and j, to which
    class_term of list_classes is added.
    """
    for piece in range(crossing):
        a, b, d_class = unpack_segment(scratch.crossing[piece])
        before = load(scratch.v_rows, row_of(v, a), LANES)
        after = load(scratch.j_rows, row_of(j, b), LANES)
        at = (term + scratch.class_term[d_class]) * NU_LANES
        ways = resize_to(before * after, scratch.terms)
        store(scratch.terms, at, load(scratch.terms, at, LANES) + ways)


@jit(inline=True, part=True, norefs=True)
def list_classes(crossing: int, scratch: Any) -> int:
    """Fill scratch.classes with the classes of D that occur, class_term with their indices.

    A class of D is the pair of numbers of palindrome symbols at its two ends. `crossing` is the
    number of segments with palindromes.

    Return the number of classes.
    """
    for d_class in range(1, D_CLASSES):
        scratch.class_term[d_class] = 0
    scratch.classes[0] = 0
    n = 1
    for piece in range(crossing):
        d_class = scratch.crossing[piece] >> np.uint32(16)
        if scratch.class_term[d_class] == 0:
            scratch.class_term[d_class] = n
            scratch.classes[n] = d_class
            n += 1
    return n


@jit(inline=True, part=True, norefs=True)
def sum_with_d(reference: Any, longer: int, crossing: int, per_pair: int, scratch: Any) -> int:
    """Fill the terms of one D gene: path counts by nu, for each combination of classes of ends.

    A class is the number of palindrome symbols of an end. `longer` and `crossing` are the numbers
    of segments that find_d listed. scratch.term_weight gets the offset of each term's weights.
    Return the number of terms.
    """
    n_classes = list_classes(crossing, scratch)
    term = 0
    for v in range(reference.v_classes):
        for j in range(reference.j_classes):
            for n in range(n_classes):
                row = pair_row(v, j, per_pair) + scratch.classes[n]
                scratch.term_weight[term + n] = row * PI_LANES
                store(scratch.terms, (term + n) * NU_LANES, spread(0, scratch.terms, LANES))
            sum_inside(reference, v, j, longer, term, scratch)
            sum_crossing(crossing, v, j, term, scratch)
            term += n_classes
    return term


@jit(part=True, norefs=True)
def append_empty(ways: Any, parted: Any, offsets: Any, size: int, zero: Any, full: Any) -> None:
    """Write the paths with a D of length zero, at any boundary; other paths are added later.

    Their number is that of V N N J (`parted`) times the ways to delete D (`ways`). `offsets` has
    the offsets in `parted`, in `ways`, and in the counts `zero` and `full`; `size` is the number of
    counts.
    """
    of_parted, of_ways, at = offsets
    if parted[of_parted + size - 1] == 0:  # count of the greatest nu and pi: if it is 0, all are
        zero[at : at + size] = 0
        full[at : at + size] = 0
        return
    for i in range(size):
        paths = parted[of_parted + i] * ways[of_ways + i]
        zero[at + i] = paths
        full[at + i] = paths


@jit(inline=True, part=True, norefs=True)
def pair_row(v: int, j: int, per_pair: int) -> int:
    """Return the first of the `per_pair` weight rows of a pair of classes of V and J."""
    return (v * END_CLASSES + j) * per_pair


@jit(inline=True, part=True, norefs=True)
def weigh(
    terms: Any, n_terms: int, weights: Any, sweep: Any, scratch: Any, out: Any, at: int
) -> None:
    """Multiply the terms, with a lane for each nu, by weights for each pi; add the sums to counts.

    out[at + nu * pis + pi] += sum of terms[term, nu] table[where[term] + row, pi].

    The last nu and the last pi have the greatest sum: if it fits 32 bits, all sums do.

    Parameters
    ----------
    terms, n_terms : ways by term and nu
    weights : (table of multiplicities, offset of each term in it, row)
    sweep : number of values of nu and of pi
    out, at : counts of all references, and the offset of this one
    """
    table, where, row = weights
    greatest = np.uint64(0)
    for term in range(n_terms):
        factor = np.uint64(table[where[term] + row * PI_LANES + sweep[1] - 1])
        greatest += factor * np.uint64(terms[term * NU_LANES + sweep[0] - 1])
    if greatest == 0:
        return
    for first in range(0, sweep[0], AT_ONCE):
        if greatest >> np.uint64(32):
            weigh_in(terms, n_terms, weights, first, sweep, scratch.line, out, at)
        else:
            weigh_in(terms, n_terms, weights, first, sweep, scratch.short_line, out, at)


@jit(part=True, norefs=True)
def weigh_in(
    terms: Any, n_terms: int, weights: Any, first: int, sweep: Any, line: Any, out: Any, at: int
) -> None:
    """Add weighted terms to counts like `weigh`, for AT_ONCE values of nu from `first` on.

    Sums are vectors over pi; `line` is a buffer for them, whose dtype sets their width.

    Each nu writes a whole vector; the next nu overwrites the items after the last pi. An inner loop
    over the terms, one nu at a time, ended in a mispredicted branch each time.
    """
    table, where, row = weights
    sums = zeros_tuple(line, PIS, NUS)
    for term in range(n_terms):
        factors = resize_to(load(table, where[term] + row * PI_LANES, PIS), line)
        sums = add_outer_product(sums, terms, term * NU_LANES + first, factors)
    store_tuple(line, 0, sweep[1], sums)
    for i in range(min(AT_ONCE, sweep[0] - first) * sweep[1]):
        out[at + first * sweep[1] + i] += line[i]
