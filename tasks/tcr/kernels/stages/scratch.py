"""Arguments of kernels: the model's limits, working memory, where counts go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.numba.jit import jit_norefs_inline
from gangsaw.tasks.tcr.kernels.d_words import SHORT
from gangsaw.tasks.tcr.kernels.reference import Reference
from gangsaw.tasks.tcr.kernels.stages.ends import CLASS_ROWS, FIRST_LANE
from gangsaw.tasks.tcr.kernels.stages.match import (
    CHUNK,
    NU_LANES,
    PAD,
    find_turned_d,
)
from gangsaw.tasks.tcr.kernels.stages.places import extended_d, find_d
from gangsaw.tasks.tcr.kernels.tables import D_CLASSES, END_CLASSES, PI_LANES, WORD_D, Tables
from gangsaw.tasks.tcr.model import MAX_LENGTH, MAX_P, Model
from gangsaw.tasks.tcr.model.nucleotides import Codes


class KernelModel(NamedTuple):
    """What kernels know of the model."""

    max_p: int
    max_n: int
    min_d_end: int
    dp2: bool
    one_d: bool  # DP-2 with one D gene at a time
    n_d: int
    by_words: bool = False  # whether D genes are looked up: see DWords

    @classmethod
    def of(cls, model: Model, n_d: int) -> KernelModel:
        """Return those of a model and a number of D genes."""
        one_d = model.dp2 and model.d_segments == 1
        return cls(model.max_p, model.max_n, model.min_d_end, model.dp2, one_d, n_d)


class Outputs(NamedTuple):
    """The arrays of Counts, flat; of size 0 where the model leaves them out."""

    full: npt.NDArray[np.uint64]
    zero: npt.NDArray[np.uint64]
    no_d: npt.NDArray[np.uint64]
    no_d_two: npt.NDArray[np.uint64]
    dp1_nonempty: npt.NDArray[np.uint64]
    dp1_empty: npt.NDArray[np.uint64]
    genes: npt.NDArray[np.int16]
    ndn: npt.NDArray[np.int16]
    d: npt.NDArray[np.int16]
    n1: npt.NDArray[np.int16]
    n2: npt.NDArray[np.int16]


class Scratch(NamedTuple):
    """What one thread works with; the functions that fill an array say what it holds.

    Rows, of boundaries, are of the narrow type, terms and totals of the wide one.
    """

    symbols: Codes
    v_rows: NumpyArray
    j_rows: NumpyArray
    exact: NumpyArray
    unit: NumpyArray
    direct: NumpyArray
    parted: NumpyArray
    terms: NumpyArray
    total: NumpyArray
    line: npt.NDArray[np.uint64]
    short_line: npt.NDArray[np.uint32]
    sums: npt.NDArray[np.uint64]
    runs: npt.NDArray[np.uint64]
    padded: npt.NDArray[np.uint8]
    reaches: npt.NDArray[np.uint8]
    matches: npt.NDArray[np.uint16]
    longer: npt.NDArray[np.uint32]
    diagonals: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]
    words: npt.NDArray[np.uint16]
    hits: npt.NDArray[np.uint8]
    n_hits: npt.NDArray[np.int64]
    crossing: npt.NDArray[np.uint32]
    class_term: npt.NDArray[np.uint32]
    classes: npt.NDArray[np.uint32]
    term_weight: npt.NDArray[np.uint32]
    pair_weight: npt.NDArray[np.uint32]


def make_outputs(arrays: Mapping[str, NumpyArray]) -> Outputs:
    """Return the arrays of Counts, by name, flat."""
    return Outputs._make(arrays[name].reshape(-1) for name in Outputs._fields)


def make_scratch(
    narrow: npt.DTypeLike, wide: npt.DTypeLike, longest_d: int = WORD_D, n_d: int = 0
) -> Scratch:
    """Allocate what a thread needs for references of up to MAX_LENGTH symbols."""
    pairs = END_CLASSES**2
    terms = pairs * (D_CLASSES + 1)
    places = MAX_LENGTH * min(MAX_LENGTH, longest_d + 2 * MAX_P)
    line = (NU_LANES + 1) * PI_LANES
    return Scratch(
        symbols=np.zeros(MAX_LENGTH + CHUNK, np.uint8),
        v_rows=np.zeros(END_CLASSES * CLASS_ROWS, narrow),
        j_rows=np.zeros(END_CLASSES * CLASS_ROWS, narrow),
        exact=np.zeros(CLASS_ROWS, narrow),
        unit=FIRST_LANE.astype(narrow),
        direct=np.zeros((pairs + 1) * NU_LANES, wide),
        parted=np.zeros((pairs + 1) * NU_LANES, wide),
        terms=np.zeros((terms + 1) * NU_LANES, wide),
        total=np.zeros(NU_LANES, wide),
        line=np.zeros(line, np.uint64),
        short_line=np.zeros(line, np.uint32),
        sums=np.zeros(MAX_LENGTH + 1, np.uint64),
        runs=np.zeros(MAX_LENGTH, np.uint64),
        padded=np.zeros(PAD + MAX_LENGTH + 2 * CHUNK, np.uint8),
        reaches=np.zeros(MAX_LENGTH + CHUNK, np.uint8),
        matches=np.zeros((MAX_LENGTH + 1 + SHORT) * SHORT, np.uint16),
        longer=np.zeros(places, np.uint32),
        diagonals=np.zeros(longest_d + 2 * MAX_P + 1, np.int64),
        lengths=np.zeros(MAX_LENGTH + 2, np.int64),
        words=np.zeros(MAX_LENGTH + 1, np.uint16),
        hits=np.zeros(n_d * MAX_LENGTH, np.uint8),
        n_hits=np.zeros(n_d, np.int64),
        # in D's right palindrome up to MAX_P ends, before its left end up to MAX_P starts
        crossing=np.zeros(2 * MAX_P * places, np.uint32),
        class_term=np.zeros(D_CLASSES, np.uint32),
        classes=np.zeros(D_CLASSES, np.uint32),
        term_weight=np.zeros(terms, np.uint32),
        pair_weight=np.zeros(pairs, np.uint32),
    )


@jit_norefs_inline
def find_everywhere(
    gene: int, reference: Reference, tables: Tables, limits: KernelModel, scratch: Scratch
) -> tuple[int, int, int]:
    """Find all places of a D gene, whatever V and J reach.

    Return how many longer and crossing there are, and the greatest length.
    """
    germline = tables.d_germline[gene]
    d, symbols_of_d = extended_d(gene, tables, limits.max_p)
    window = (reference.length, 0)
    found = find_d(scratch.symbols, reference.length, d, symbols_of_d, window, scratch)
    ends = (limits.min_d_end, germline + limits.max_p)
    found = find_turned_d(
        scratch.symbols, reference.length, d, symbols_of_d, ends, window, found, scratch
    )
    return found[0], found[1], found[2]
