"""What kernels are handed: the model's limits, a reference, working memory, where counts go."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gangsaw.codecs.core.numba.jit import jit_norefs_inline
from gangsaw.tasks.tcr.kernels.ends import CLASS_ROWS, FIRST_LANE
from gangsaw.tasks.tcr.kernels.match import (
    CHUNK,
    EVERYWHERE,
    NU_LANES,
    PAD,
    SHORT,
    find_d,
    find_turned_d,
    match_end,
)
from gangsaw.tasks.tcr.kernels.tables import D_CLASSES, END_CLASSES, PI_LANES, Tables
from gangsaw.tasks.tcr.model import MAX_D, MAX_LENGTH, MAX_P, Model


class KernelModel(NamedTuple):
    """What kernels know of the model."""

    max_p: int
    max_n: int
    min_d_end: int
    dp2: bool
    one_d: bool  # DP-2 with one D gene at a time
    n_d: int

    @classmethod
    def of(cls, model: Model, n_d: int) -> KernelModel:
        """Return those of a model and a number of D genes."""
        one_d = model.dp2 and model.d_segments == 1
        return cls(model.max_p, model.max_n, model.min_d_end, model.dp2, one_d, n_d)


class Reference(NamedTuple):
    """One reference and how its V and J match it.

    Attributes
    ----------
    row : number of the reference
    length : of the reference
    v_length, j_length : of the germline parts
    v_match, j_match : symbols that match, palindromes included
    last_a, first_b : boundaries beyond which no junction reaches from V, from J
    v_classes, j_classes : how many classes of the ends of V and J there are: 1, and one for each
        symbol of the palindrome that matches
    """

    row: int
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
    """What one thread works with; the functions that fill an array say what it holds.

    Rows, of boundaries, are of the narrow type, terms and totals of the wide one.
    """

    symbols: Any
    v_rows: Any
    j_rows: Any
    exact: Any
    unit: Any
    direct: Any
    parted: Any
    terms: Any
    total: Any
    line: Any
    short_line: Any
    sums: Any
    runs: Any
    padded: Any
    reaches: Any
    matches: Any
    longer: Any
    crossing: Any
    class_term: Any
    classes: Any
    term_weight: Any
    pair_weight: Any


def make_scratch(narrow: Any, wide: Any) -> Scratch:
    """Allocate what a thread needs for references of up to MAX_LENGTH symbols."""
    pairs = END_CLASSES**2
    terms = pairs * (D_CLASSES + 1)
    places = MAX_LENGTH * (MAX_D + 2 * MAX_P)
    line = (NU_LANES + 1) * PI_LANES
    return Scratch(
        symbols=np.zeros(MAX_LENGTH + CHUNK, np.uint8),
        v_rows=np.zeros(END_CLASSES * CLASS_ROWS, narrow),
        j_rows=np.zeros(END_CLASSES * CLASS_ROWS, narrow),
        exact=np.zeros(CLASS_ROWS, narrow),
        unit=FIRST_LANE.astype(narrow),
        direct=np.zeros(pairs * NU_LANES, wide),
        parted=np.zeros(pairs * NU_LANES, wide),
        terms=np.zeros(terms * NU_LANES, wide),
        total=np.zeros(NU_LANES, wide),
        line=np.zeros(line, np.uint64),
        short_line=np.zeros(line, np.uint32),
        sums=np.zeros(MAX_LENGTH + 1, np.uint64),
        runs=np.zeros(MAX_LENGTH, np.uint64),
        padded=np.zeros(PAD + MAX_LENGTH + 2 * CHUNK, np.uint8),
        reaches=np.zeros(MAX_LENGTH + CHUNK, np.uint8),
        matches=np.zeros((MAX_LENGTH + 1) * SHORT, np.uint16),
        longer=np.zeros(places, np.uint32),
        # in D's right palindrome up to MAX_P ends, before its left end up to MAX_P starts
        crossing=np.zeros(2 * MAX_P * places, np.uint32),
        class_term=np.zeros(D_CLASSES, np.uint32),
        classes=np.zeros(D_CLASSES, np.uint32),
        term_weight=np.zeros(terms, np.uint32),
        pair_weight=np.zeros(pairs, np.uint32),
    )


@jit_norefs_inline
def copy_symbols(codes: Any, start: int, stop: int, symbols: Any) -> int:
    """Put one reference where its symbols count from 0; return its length."""
    for k in range(stop - start):
        symbols[k] = codes[start + k]
    return stop - start


@jit_norefs_inline
def match_ends(
    row: int, length: int, v: int, j: int, tables: Tables, max_n: int, symbols: Any
) -> Reference:
    """Return how far V and J of a reference match, and what follows from that."""
    starts, ends = tables.v_starts, tables.j_starts
    v_match = match_end(symbols, 0, 1, length, tables.v, starts[v], starts[v + 1])
    j_match = match_end(symbols, length - 1, -1, length, tables.j, ends[j], ends[j + 1])
    v_length, j_length = tables.v_germline[v], tables.j_germline[j]
    return Reference(
        row,
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


@jit_norefs_inline
def find_everywhere(
    gene: int, reference: Reference, tables: Tables, limits: KernelModel, scratch: Scratch
) -> Any:
    """Find all places of a D gene, whatever V and J reach; return how many longer and crossing."""
    germline = tables.d_germline[gene]
    d = (tables.d, gene, EVERYWHERE >> np.uint64(64 - germline), germline, True)
    window = (reference.length, 0)
    found = find_d(scratch.symbols, reference.length, d, window, scratch)
    ends = (limits.min_d_end, germline + limits.max_p)
    found = find_turned_d(scratch.symbols, reference.length, d, ends, window, found, scratch)
    return found[0], found[1]
