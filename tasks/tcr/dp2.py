"""DP-2: all values of nu in a vector, all values of pi by weights at the end.

What pi changes are multiplicities of gene ends alone, and those depend on how many symbols of its
palindrome an end keeps, its class. So the ways are counted once for each class of the four ends
that occurs (a term, with a lane for each nu) and weighed for each pi when all places are known.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.jit import jit_bare_inline
from gangsaw.codecs.core.simd import load, spread, static, store, widen, widen_to
from gangsaw.tasks.tcr.ends import CLASS_ROWS, LANES, j_rows, kept_range, v_rows
from gangsaw.tasks.tcr.match import NU_LANES
from gangsaw.tasks.tcr.tables import D_CLASSES, END_CLASSES, PI_LANES

PIS = static(PI_LANES)


@jit_bare_inline
def fill_pairs(codes: Any, place: Any, per_pair: int, scratch: Any) -> int:
    """Fill the rows of each class of V and of J, and the terms without D of each pair of them."""
    for v in range(place.v_classes):
        v_rows(codes, place, v, scratch.v_rows)
    for j in range(place.j_classes):
        j_rows(codes, place, j, scratch.j_rows)
    term = 0
    for v in range(place.v_classes):
        for j in range(place.j_classes):
            sum_direct(place, v, j, term, scratch)
            sum_parted(place, v, j, term, scratch)
            scratch.pair_weight[term] = pair_row(v, j, per_pair) * PI_LANES
            term += 1
    return term


@jit_bare_inline
def sum_direct(place: Any, v: int, j: int, term: int, scratch: Any) -> None:
    """Fill the term of V N J: the rows of J at the ends of V."""
    fewest, most = kept_range(place.v_match, place.v_length, v)
    ways = spread(0, scratch.direct, LANES)
    for k in range(max(fewest, place.first_b), most + 1):
        row = load(scratch.j_rows, j * CLASS_ROWS + k * NU_LANES, LANES)
        ways = ways + widen_to(row, scratch.direct)
    store(scratch.direct, term * NU_LANES, ways)


@jit_bare_inline
def sum_parted(place: Any, v: int, j: int, term: int, scratch: Any) -> None:
    """Fill the term of V N N J: any boundary can part the junctions."""
    ways = spread(0, scratch.parted, LANES)
    for a in range(place.first_b, place.last_a + 1):
        before = load(scratch.v_rows, v * CLASS_ROWS + a * NU_LANES, LANES)
        after = load(scratch.j_rows, j * CLASS_ROWS + a * NU_LANES, LANES)
        ways = ways + widen_to(before * after, scratch.parted)
    store(scratch.parted, term * NU_LANES, ways)


@jit_bare_inline
def sum_inside(place: Any, v: int, j: int, term: int, scratch: Any) -> None:
    """Fill the term of D without palindromes: places of one b are added up before J's factor."""
    v_at, j_at = v * CLASS_ROWS, j * CLASS_ROWS
    total = spread(0, scratch.terms, LANES)
    for b in range(max(1, place.first_b), place.length + 1):
        ways = spread(0, scratch.v_rows, LANES)
        for piece in range(scratch.first_of[b], scratch.first_of[b + 1]):
            row = load(scratch.v_rows, v_at + scratch.starts[piece], LANES)
            ways = ways + row * scratch.matches[piece]
        after = load(scratch.j_rows, j_at + b * NU_LANES, LANES)
        total = total + widen_to(ways, scratch.terms) * widen_to(after, scratch.terms)
    store(scratch.terms, term * NU_LANES, total)


@jit_bare_inline
def sum_crossing(crossing: int, v: int, j: int, term: int, scratch: Any) -> None:
    """Add the places of D with palindromes to the terms of their classes, given by class_term."""
    v_at, j_at = v * CLASS_ROWS, j * CLASS_ROWS
    for piece in range(crossing):
        before = load(scratch.v_rows, v_at + scratch.crossing_a[piece], LANES)
        after = load(scratch.j_rows, j_at + scratch.crossing_b[piece], LANES)
        at = (term + scratch.class_term[scratch.crossing_class[piece]]) * NU_LANES
        ways = widen_to(before * after, scratch.terms)
        store(scratch.terms, at, load(scratch.terms, at, LANES) + ways)


@jit_bare_inline
def list_classes(crossing: int, scratch: Any) -> int:
    """Number the classes of D that occur: scratch.classes has them, .class_term their numbers."""
    for d_class in range(1, D_CLASSES):
        scratch.class_term[d_class] = 0
    scratch.classes[0] = 0
    n = 1
    for piece in range(crossing):
        d_class = scratch.crossing_class[piece]
        if scratch.class_term[d_class] == 0:
            scratch.class_term[d_class] = n
            scratch.classes[n] = d_class
            n += 1
    return n


@jit_bare_inline
def sum_with_d(place: Any, crossing: int, per_pair: int, scratch: Any) -> int:
    """Fill the terms of one D gene, for each pair of classes of V and J; return their number.

    scratch.term_weight gets where in the table of weights those of each term are.
    """
    n_classes = list_classes(crossing, scratch)
    term = 0
    for v in range(place.v_classes):
        for j in range(place.j_classes):
            for n in range(n_classes):
                row = pair_row(v, j, per_pair) + scratch.classes[n]
                scratch.term_weight[term + n] = row * PI_LANES
                store(scratch.terms, (term + n) * NU_LANES, spread(0, scratch.terms, LANES))
            sum_inside(place, v, j, term, scratch)
            sum_crossing(crossing, v, j, term, scratch)
            term += n_classes
    return term


@jit_bare_inline
def append_empty(n_terms: int, pairs: int, row: int, scratch: Any) -> int:
    """Add the terms of a D of length zero, at any boundary; return the number of all."""
    for pair in range(pairs):
        parted = load(scratch.parted, pair * NU_LANES, LANES)
        store(scratch.terms, n_terms * NU_LANES, parted)
        scratch.term_weight[n_terms] = scratch.pair_weight[pair] + row * PI_LANES
        n_terms += 1
    return n_terms


@jit_bare_inline
def pair_row(v: int, j: int, per_pair: int) -> int:
    """Row of the table of weights at which those of a pair of classes of V and J begin."""
    return (v * END_CLASSES + j) * per_pair


@jit_bare_inline
def weigh(
    terms: Any,
    n_terms: int,
    weights: Any,
    sweep: Any,
    line: Any,
    out: Any,
    at: int,
) -> None:
    """out[at + nu * pis + pi] = sum of terms[term, nu] table[where[term] + row, pi].

    `weights` is (table, where, row), `sweep` is how many nu and how many pi there are. Each nu
    writes a whole vector to `line`, of which the next overwrites what is beyond the last pi.
    """
    table, where, row = weights
    for nu in range(sweep[0]):
        total = spread(0, line, PIS)
        for term in range(n_terms):
            factor = widen(load(table, where[term] + row * PI_LANES, PIS))
            total = total + factor * np.uint64(terms[term * NU_LANES + nu])
        store(line, nu * sweep[1], total)
    for i in range(sweep[0] * sweep[1]):
        out[at + i] = line[i]
