"""Region calls: lengths of the gene matches, and distance and composition between them."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.tcr.counting.kernels.reference import Reference
from gangsaw.tasks.tcr.counting.kernels.stages.scratch import Outputs
from gangsaw.tasks.tcr.model.nucleotides import Codes

Words: TypeAlias = npt.NDArray[np.uint64]
Shorts: TypeAlias = npt.NDArray[np.int16]
Found: TypeAlias = tuple[int, int, int, int, int]  # result of find_d

FIELD = 16  # bits of one nucleotide's count in a word; at most MAX_LENGTH, so sums do not carry
# a count of one for each nucleotide of an IUPAC code
SPREAD = np.array(
    [sum(1 << FIELD * bit for bit in range(4) if code >> bit & 1) for code in range(16)], np.uint64
)


@jit(inline=True, part=True, norefs=True)
def add_up(symbols: Codes, length: int, sums: Words) -> None:
    """Fill sums[k] with the numbers of A, T, C and G in R[:k], packed as four 16-bit fields."""
    total = np.uint64(0)
    sums[0] = total
    for k in range(length):
        total += SPREAD[symbols[k]]
        sums[k + 1] = total


@jit(inline=True, part=True, norefs=True)
def put_composition(sums: Words, start: int, stop: int, out: Shorts, at: int) -> None:
    """Write the numbers of A, T, C and G in R[start:stop] to out[at : at + 4].

    `sums` are those of add_up.
    """
    word = sums[stop] - sums[start] if start < stop else np.uint64(0)
    for nucleotide in range(4):
        out[at + nucleotide] = (word >> np.uint64(FIELD * nucleotide)) & np.uint64(0xFFFF)


@jit(inline=True, part=True, norefs=True)
def put_gene_calls(reference: Reference, out: Shorts) -> None:
    """Write the lengths of a reference and of its V and J matches, columns GENE_CALLS."""
    at = 6 * reference.row
    out[at] = reference.length
    out[at + 1] = reference.v_length
    out[at + 2] = reference.j_length
    out[at + 3] = reference.v_match
    out[at + 4] = reference.j_match
    out[at + 5] = reference.length - reference.j_match - reference.v_match


@jit(inline=True, part=True, norefs=True)
def put_d_calls(
    gene: int, n_d: int, found: Found, reference: Reference, outputs: Outputs, sums: Words
) -> None:
    """Write the columns D_CALLS and the compositions of N1 and N2, from the result of find_d."""
    _, _, longest, first, last = found
    if longest == 0:
        first, last = 1, reference.length
    end = reference.length - reference.j_match
    at = reference.row * n_d + gene
    outputs.d[5 * at] = longest
    outputs.d[5 * at + 1] = first
    outputs.d[5 * at + 2] = last
    outputs.d[5 * at + 3] = first - (reference.v_match + 1)
    outputs.d[5 * at + 4] = end - last
    put_composition(sums, reference.v_match, first - 1, outputs.n1, 4 * at)
    put_composition(sums, last, end, outputs.n2, 4 * at)
