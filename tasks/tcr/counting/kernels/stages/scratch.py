"""Kernel arguments: the model's limits, working memory, and output arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.tcr.counting.kernels.d_words import SHORT
from gangsaw.tasks.tcr.counting.kernels.reference import Reference
from gangsaw.tasks.tcr.counting.kernels.stages.d_segments import extended_d, find_d
from gangsaw.tasks.tcr.counting.kernels.stages.ends import CLASS_ROWS, FIRST_LANE
from gangsaw.tasks.tcr.counting.kernels.stages.match import CHUNK, NU_LANES, PAD, find_palindromic_d
from gangsaw.tasks.tcr.counting.kernels.tables import (
    D_CLASSES,
    END_CLASSES,
    PI_LANES,
    WORD_D,
    Tables,
)
from gangsaw.tasks.tcr.model import MAX_LENGTH, MAX_P, Model
from gangsaw.tasks.tcr.model.nucleotides import Codes


class KernelModel(NamedTuple):
    """Limits of a `Model` as plain numbers and flags, for Numba.

    Attributes
    ----------
    max_p, max_n : longest palindrome, most n-nucleotides of a junction
    min_d_end : fewest symbols of D that its J-side cut leaves
    dp2 : True if DP-2 is counted
    n_d : number of D genes
    """

    max_p: int
    max_n: int
    min_d_end: int
    dp2: bool
    one_d: bool  # DP-2 with one D gene at a time
    n_d: int
    by_words: bool = False  # True if D genes are looked up by words, see `DWords`

    @classmethod
    def of(cls, model: Model, n_d: int) -> KernelModel:
        """Return the limits of a model, with the number of D genes."""
        one_d = model.dp2 and model.d_segments == 1
        return cls(model.max_p, model.max_n, model.min_d_end, model.dp2, one_d, n_d)


class Outputs(NamedTuple):
    """Output arrays: those of `Counts`, flattened; arrays outside the model have size 0."""

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
    """Buffers of one thread; the docstring of the function that fills an array has its content.

    Rows of boundaries (`v_rows`, `j_rows`, `exact`) have the narrow dtype: uint16, or uint64 for
    references with wildcards. Terms and totals have the wide one.
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
    """Return the arrays of Counts, by name, as flattened `Outputs`."""
    return Outputs._make(arrays[name].reshape(-1) for name in Outputs._fields)


def make_counting_scratch(
    narrow: npt.DTypeLike, wide: npt.DTypeLike, longest_d: int = WORD_D, n_d: int = 0
) -> Scratch:
    """Return zeroed buffers of a thread for references of up to MAX_LENGTH symbols.

    Parameters
    ----------
    narrow, wide : dtypes of rows of boundaries, and of terms and totals
    longest_d : symbols of the longest D gene
    n_d : number of D genes
    """
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
        # up to MAX_P ends in D's right palindrome, up to MAX_P starts before its left end
        crossing=np.zeros(2 * MAX_P * places, np.uint32),
        class_term=np.zeros(D_CLASSES, np.uint32),
        classes=np.zeros(D_CLASSES, np.uint32),
        term_weight=np.zeros(terms, np.uint32),
        pair_weight=np.zeros(pairs, np.uint32),
    )


@jit(inline=True, part=True, norefs=True)
def find_everywhere(
    gene: int, reference: Reference, tables: Tables, limits: KernelModel, scratch: Scratch
) -> tuple[int, int, int]:
    """Find all segments of a D gene in a reference, even if V or J cannot reach them.

    Return the numbers of longer and crossing segments, and the greatest length.
    """
    germline = tables.d_germline[gene]
    d, symbols_of_d = extended_d(gene, tables, limits.max_p)
    window = (reference.length, 0)
    found = find_d(scratch.symbols, reference.length, d, symbols_of_d, window, scratch)
    ends = (limits.min_d_end, germline + limits.max_p)
    found = find_palindromic_d(
        scratch.symbols, reference.length, d, symbols_of_d, ends, window, found, scratch
    )
    return found[0], found[1], found[2]
