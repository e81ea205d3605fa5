"""Ways from V to each boundary, and from each boundary to J, over one junction.

A row has all values of nu, or of n, in one vector: the parameter is innermost (NU_LANES). Rows of
references without wildcards have 16 bits per item, others 64.
"""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.integers import load, spread, static, store, to_next_lane
from gangsaw.tasks.tcr.counting.kernels.d_words import SHORT
from gangsaw.tasks.tcr.counting.kernels.reference import Reference
from gangsaw.tasks.tcr.counting.kernels.stages.match import NU_LANES
from gangsaw.tasks.tcr.model import MAX_LENGTH
from gangsaw.tasks.tcr.model.nucleotides import Codes

LANES = static(NU_LANES)
# Rows of one class. SHORT rows of zeros precede the first boundary, and follow the last that a
# junction reaches. So segments of D of 1..SHORT symbols are summed wherever they begin.
CLASS_ROWS = (MAX_LENGTH + 1 + 2 * SHORT) * NU_LANES
WAYS = np.array([bin(code).count("1") for code in range(16)], np.uint8)  # w(c) of SPEC.md
FIRST_LANE = np.zeros(NU_LANES, np.uint8)
FIRST_LANE[0] = 1


@jit(inline=True, part=True, norefs=True)
def row_of(p: int, boundary: int) -> int:
    """Return the offset in v_rows or j_rows of the row of a boundary and class p.

    The boundary is at least -SHORT; p is the number of palindrome symbols of the gene end.
    """
    return p * CLASS_ROWS + (boundary + SHORT) * NU_LANES


@jit(inline=True, part=True, norefs=True)
def clear_after(boundary: int, p: int, rows: NumpyArray) -> None:
    """Set the rows of the SHORT boundaries after a boundary to zero, for class p."""
    for i in range(1, SHORT + 1):
        store(rows, row_of(p, boundary + i), spread(0, rows, LANES))


@jit(inline=True, part=True, norefs=True)
def class_range(matched: int, germline: int, p: int) -> tuple[int, int]:
    """Return the least and most symbols that V or J can have with p palindrome symbols.

    `matched` is the length of its match, `germline` its length without a palindrome.
    """
    if p == 0:
        return 0, min(matched, germline)
    return germline + p, germline + p


@jit(inline=True, part=True, norefs=True)
def v_rows(symbols: Codes, reference: Reference, p: int, rows: NumpyArray) -> None:
    """Fill rows[a], by nu: numbers of paths from V over one junction to boundary a, for class p.

    They are the sum over k = a - nu .. a, V of k symbols, of the numbers of n-strings R[k:a]. By
    recursion, A[a, nu] = v(a) + w(R[a - 1]) A[a - 1, nu - 1], for a = 0..last_a. The class is the
    number of palindrome symbols of V.
    """
    fewest, most = class_range(reference.v_match, reference.v_length, p)
    row = spread(0, rows, LANES)
    one = spread(1, rows, LANES)
    for a in range(reference.last_a + 1):
        if a:
            row = to_next_lane(row) * WAYS[symbols[a - 1]]
        if fewest <= a <= most:
            row = row + one
        store(rows, row_of(p, a), row)
    clear_after(reference.last_a, p, rows)


@jit(inline=True, part=True, norefs=True)
def j_rows(symbols: Codes, reference: Reference, p: int, rows: NumpyArray) -> None:
    """Fill rows[b], by nu: numbers of paths from boundary b over one junction to J, for class p.

    This is the mirror image of v_rows, for b = first_b..length.
    """
    fewest, most = class_range(reference.j_match, reference.j_length, p)
    row = spread(0, rows, LANES)
    one = spread(1, rows, LANES)
    for b in range(reference.length, reference.first_b - 1, -1):
        if b < reference.length:
            row = to_next_lane(row) * WAYS[symbols[b]]
        if fewest <= reference.length - b <= most:
            row = row + one
        store(rows, row_of(p, b), row)


@jit(inline=True, part=True, norefs=True)
def exact_rows(symbols: Codes, reference: Reference, rows: NumpyArray, unit: NumpyArray) -> None:
    """Fill rows[a], by n: numbers of paths to boundary a by V and exactly n n-nucleotides (DP-1).

    `unit` has 1 in the first lane, else 0.
    """
    row = spread(0, rows, LANES)
    one = load(unit, 0, LANES)
    for a in range(reference.last_a + 1):
        if a:
            row = to_next_lane(row) * WAYS[symbols[a - 1]]
        if a <= reference.v_match:
            row = row + one
        store(rows, row_of(0, a), row)
    clear_after(reference.last_a, 0, rows)
