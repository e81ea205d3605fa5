"""CPU backend: slices of a batch over threads, one reference after the other in Numba."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.jit import jit_bare, jit_bare_inline
from gangsaw.codecs.core.threads import run_blocks
from gangsaw.tasks.tcr.batch import Batch, Counts
from gangsaw.tasks.tcr.calls import add_up, put_composition, put_d_calls, put_gene_calls
from gangsaw.tasks.tcr.dp1 import put_totals, sum_exact, sum_exact_without_d
from gangsaw.tasks.tcr.dp2 import append_empty, fill_pairs, sum_with_d, weigh
from gangsaw.tasks.tcr.ends import CLASS_ROWS, FIRST_LANE, WAYS, exact_rows
from gangsaw.tasks.tcr.match import (
    NU_LANES,
    find_d,
    find_self_palindromes,
    find_turned_d,
    match_end,
)
from gangsaw.tasks.tcr.model import MAX_D, MAX_LENGTH, MAX_P, Model
from gangsaw.tasks.tcr.tables import D_CLASSES, END_CLASSES, PI_LANES, Tables, make_tables

SLICE = 2048  # references that a thread takes at once: milliseconds, and megabytes of counts
EVERYWHERE = np.uint64(2**64 - 1)


class Limits(NamedTuple):
    """What kernels know of the model."""

    max_p: int
    max_n: int
    min_d_end: int
    dp1: bool
    dp2: bool
    n_d: int


class Place(NamedTuple):
    """One reference and how its V and J match it.

    Attributes
    ----------
    row : number of the reference
    first, length : its symbols are codes[first : first + length]
    v_length, j_length : of the germline parts
    v_match, j_match : symbols that match, palindromes included
    last_a, first_b : boundaries beyond which no junction reaches from V, from J
    v_classes, j_classes : how many classes of the ends of V and J there are: 1, and one for each
        symbol of the palindrome that matches
    """

    row: int
    first: int
    length: int
    v_length: int
    j_length: int
    v_match: int
    j_match: int
    last_a: int
    first_b: int
    v_classes: int
    j_classes: int


class Outputs(NamedTuple):
    """The arrays of Counts, flat; of size 0 where the model leaves them out."""

    full: Any
    zero: Any
    no_d: Any
    no_d_two: Any
    dp1_nonempty: Any
    dp1_empty: Any
    genes: Any
    ndn: Any
    d: Any
    n1: Any
    n2: Any


class Scratch(NamedTuple):
    """What one thread works with; see the functions that fill it. `narrow` numbers are exact."""

    v_rows: Any
    j_rows: Any
    exact: Any
    unit: Any
    direct: Any
    parted: Any
    terms: Any
    total: Any
    line: Any
    sums: Any
    runs: Any
    turns: Any
    reaches: Any
    first_of: Any
    starts: Any
    matches: Any
    crossing_a: Any
    crossing_b: Any
    crossing_class: Any
    class_term: Any
    classes: Any
    term_weight: Any
    pair_weight: Any


def count(batch: Batch, model: Model) -> Counts:
    """Count the paths to each reference of a batch in host memory, several slices at once.

    The counts must fit 64 bits: `bounds.countable` tells.

    Returns
    -------
    Counts : NumPy arrays, in the order of the references
    """
    n, n_d = len(batch.references), len(batch.d)
    shapes = shapes_of(n, n_d, model)
    arrays = {
        name: np.empty(shape or 0, np.int16 if name in CALLS else np.uint64)
        for name, shape in shapes.items()
    }
    outputs = Outputs(**{name: array.reshape(-1) for name, array in arrays.items()})
    tables = make_tables(batch, model)
    limits = Limits(model.max_p, model.max_n, model.min_d_end, model.dp1, model.dp2, n_d)
    wild = with_wildcards(batch)

    def count_slice(i: int) -> None:
        rows = np.arange(i * SLICE, min(n, (i + 1) * SLICE))
        for some, dtypes in ((rows[~wild[rows]], NARROW), (rows[wild[rows]], WIDE)):
            if len(some):
                _count_rows(
                    some,
                    batch.references.codes,
                    batch.references.starts,
                    batch.v_of,
                    batch.j_of,
                    tables,
                    limits,
                    make_scratch(*dtypes),
                    outputs,
                )

    run_blocks(count_slice, -(-n // SLICE))
    return Counts(**{name: arrays[name] if shape else None for name, shape in shapes.items()})


CALLS = {"genes", "ndn", "d", "n1", "n2"}
# of rows and of terms; what makes 16 and 32 bits enough is in bounds.py
NARROW = (np.uint16, np.uint32)
WIDE = (np.uint64, np.uint64)


def shapes_of(n: int, n_d: int, model: Model) -> dict[str, tuple[int, ...] | None]:
    """Return the shape of each array of Counts, None for what the model leaves out."""
    sweep = (model.max_n + 1, model.max_p + 1)
    with_d = (n, n_d, *sweep) if model.dp2 and n_d else None
    totals = model.max_n + 1
    of_d = n_d > 0
    return {
        "full": with_d,
        "zero": with_d,
        "no_d": (n, *sweep) if model.dp2 else None,
        "no_d_two": (n, *sweep) if model.dp2 else None,
        "dp1_nonempty": (n, max(n_d, 1), totals) if model.dp1 else None,
        "dp1_empty": (n, totals) if model.dp1 and of_d else None,
        "genes": (n, 6),
        "ndn": (n, 4),
        "d": (n, n_d, 5) if of_d else None,
        "n1": (n, n_d, 4) if of_d else None,
        "n2": (n, n_d, 4) if of_d else None,
    }


def with_wildcards(batch: Batch) -> npt.NDArray[np.bool_]:
    """(n,) whether a reference holds a code of several nucleotides."""
    references = batch.references
    if not len(references):
        return np.zeros(0, np.bool_)
    several = (WAYS > 1)[references.codes]
    return np.logical_or.reduceat(several, references.starts[:-1])


def make_scratch(narrow: Any, wide: Any) -> Scratch:
    """Allocate what a thread needs for references of up to MAX_LENGTH symbols."""
    rows = END_CLASSES * CLASS_ROWS
    pairs = END_CLASSES**2
    terms = pairs * (D_CLASSES + 1)
    places = MAX_LENGTH * (MAX_D + 2 * MAX_P)
    # pieces that end in a D's right palindrome, and pieces after a palindrome of the reference
    crossing = 2 * MAX_P * places
    int32 = np.int32
    return Scratch(
        v_rows=np.zeros(rows, narrow),
        j_rows=np.zeros(rows, narrow),
        exact=np.zeros(CLASS_ROWS, narrow),
        unit=FIRST_LANE.astype(narrow),
        direct=np.zeros(pairs * NU_LANES, wide),
        parted=np.zeros(pairs * NU_LANES, wide),
        terms=np.zeros(terms * NU_LANES, wide),
        total=np.zeros(NU_LANES, wide),
        line=np.zeros((NU_LANES + 1) * PI_LANES, np.uint64),
        sums=np.zeros(MAX_LENGTH + 1, np.uint64),
        runs=np.zeros(MAX_LENGTH, np.uint64),
        turns=np.zeros(MAX_LENGTH, int32),
        reaches=np.zeros(MAX_LENGTH, int32),
        first_of=np.zeros(MAX_LENGTH + 2, int32),
        starts=np.zeros(places + 1, int32),
        matches=np.zeros(places + 1, int32),
        crossing_a=np.zeros(crossing, int32),
        crossing_b=np.zeros(crossing, int32),
        crossing_class=np.zeros(crossing, int32),
        class_term=np.zeros(D_CLASSES, int32),
        classes=np.zeros(D_CLASSES, int32),
        term_weight=np.zeros(terms, int32),
        pair_weight=np.zeros(pairs, int32),
    )


@jit_bare
def _count_rows(
    rows: Any,
    codes: Any,
    bounds: Any,
    v_of: Any,
    j_of: Any,
    tables: Tables,
    limits: Limits,
    scratch: Scratch,
    outputs: Outputs,
) -> None:
    for x in range(len(rows)):
        row = rows[x]
        place = _match_ends(row, codes, bounds, v_of[row], j_of[row], tables, limits.max_n)
        add_up(codes, place.first, place.length, scratch.sums)
        put_gene_calls(place, outputs.genes)
        end = place.length - place.j_match
        put_composition(scratch.sums, place.v_match, end, outputs.ndn, 4 * row)
        if limits.dp2:
            _count_without_d(codes, place, tables, limits, scratch, outputs)
        if limits.n_d:
            _count_with_d(codes, place, tables, limits, scratch, outputs)
        if limits.dp1:
            _count_dp1(codes, place, tables, limits, scratch, outputs)


@jit_bare_inline
def _match_ends(
    row: int, codes: Any, bounds: Any, v: int, j: int, tables: Tables, max_n: int
) -> Place:
    first, length = bounds[row], bounds[row + 1] - bounds[row]
    starts, ends = tables.v_starts, tables.j_starts
    v_match = match_end(codes, first, 1, length, tables.v, starts[v], starts[v + 1])
    j_match = match_end(codes, first + length - 1, -1, length, tables.j, ends[j], ends[j + 1])
    v_length, j_length = tables.v_germline[v], tables.j_germline[j]
    return Place(
        row,
        first,
        length,
        v_length,
        j_length,
        v_match,
        j_match,
        min(length, v_match + max_n),
        max(0, length - j_match - max_n),
        max(0, v_match - v_length) + 1,
        max(0, j_match - j_length) + 1,
    )


@jit_bare_inline
def _count_without_d(
    codes: Any, place: Place, tables: Tables, limits: Limits, scratch: Scratch, outputs: Outputs
) -> None:
    pairs = fill_pairs(codes, place, D_CLASSES + 1 + limits.n_d, scratch)
    sweep = (limits.max_n + 1, limits.max_p + 1)
    at = place.row * sweep[0] * sweep[1]
    weights = (tables.weights, scratch.pair_weight, D_CLASSES)
    weigh(scratch.direct, pairs, weights, sweep, scratch.line, outputs.no_d, at)
    weigh(scratch.parted, pairs, weights, sweep, scratch.line, outputs.no_d_two, at)


@jit_bare_inline
def _count_with_d(
    codes: Any, place: Place, tables: Tables, limits: Limits, scratch: Scratch, outputs: Outputs
) -> None:
    turns = find_self_palindromes(codes, place.first, place.length, limits.max_p, scratch)
    # DP-1 has its own pieces of D: only the calls are wanted then
    window = (place.last_a if limits.dp2 else -1, place.first_b)
    for gene in range(limits.n_d):
        length = tables.d_germline[gene]
        inside = EVERYWHERE >> np.uint64(64 - length)
        d = (tables.d, gene, inside, length)
        found = find_d(codes, place.first, place.length, d, window, scratch)
        least = (limits.min_d_end, length + limits.max_p)
        found = find_turned_d(
            codes, place.first, place.length, d, least, turns, window, found, scratch
        )
        put_d_calls(gene, limits.n_d, found, place, outputs, scratch.sums)
        if limits.dp2:
            _weigh_d(gene, found[0], place, tables, limits, scratch, outputs)


@jit_bare_inline
def _weigh_d(
    gene: int,
    crossing: int,
    place: Place,
    tables: Tables,
    limits: Limits,
    scratch: Scratch,
    outputs: Outputs,
) -> None:
    terms = sum_with_d(place, crossing, D_CLASSES + 1 + limits.n_d, scratch)
    empty = D_CLASSES + 1 + gene
    pairs = place.v_classes * place.j_classes
    sweep = (limits.max_n + 1, limits.max_p + 1)
    at = (place.row * limits.n_d + gene) * sweep[0] * sweep[1]
    weights = (tables.weights, scratch.pair_weight, empty)
    weigh(scratch.parted, pairs, weights, sweep, scratch.line, outputs.zero, at)
    terms = append_empty(terms, pairs, empty, scratch)
    all_weights = (tables.weights, scratch.term_weight, 0)
    weigh(scratch.terms, terms, all_weights, sweep, scratch.line, outputs.full, at)


@jit_bare_inline
def _count_dp1(
    codes: Any, place: Place, tables: Tables, limits: Limits, scratch: Scratch, outputs: Outputs
) -> None:
    totals = limits.max_n + 1
    exact_rows(codes, place, scratch.exact, scratch.unit)
    if limits.n_d == 0:
        sum_exact_without_d(place, scratch)
        put_totals(scratch, totals, outputs.dp1_nonempty, place.row * totals)
        return
    sum_exact(codes, place, False, scratch)
    put_totals(scratch, totals, outputs.dp1_empty, place.row * totals)
    for gene in range(limits.n_d):
        d = (tables.d_both, gene, EVERYWHERE, tables.d_germline[gene])
        window = (place.last_a, place.first_b)
        find_d(codes, place.first, place.length, d, window, scratch)
        sum_exact(codes, place, True, scratch)
        at = (place.row * limits.n_d + gene) * totals
        put_totals(scratch, totals, outputs.dp1_nonempty, at)
