"""Best D gene of a reference, with its deletions and the junctions at its sides."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.nucleotides.codes import COMPLEMENT_OF_SET
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.ragged import RaggedArray
from gangsaw.tasks.tcr.counting.kernels.batch import Batch
from gangsaw.tasks.tcr.counting.kernels.tables import with_left, with_right
from gangsaw.tasks.tcr.model.nucleotides import Codes

Numbers = NDArray[np.int64]
Shorts = NDArray[np.int16]
NONE = -1  # no D gene matches
NEVER = np.iinfo(np.int64).min
D_ENDS = {
    "d_index": "D gene, as a place along d_gene from 0: of those that pair with the J the one with "
    "the longest match, then with the fewest nucleotides beside it; -1: none matches",
    "n1_length": "Nucleotides between V match and the left-most match of d_index; -1: no D",
    "n2_length": "Nucleotides between the right-most match of d_index and J match; -1: no D",
    "d5_erosion": "Nucleotides that the left-most match of d_index lacks of the beginning of the "
    "gene; negative: so many palindromic ones; 0: no D",
    "d3_erosion": "The same of the end of the gene",
}


def best_d(counted: Mapping[str, NumpyArray], allowed: NDArray[np.bool_]) -> Shorts:
    """Return the best D gene of each reference: longest match, then fewest n-nucleotides.

    Parameters
    ----------
    counted : variables of paths/dataset.py
    allowed : (n, D genes) bool
        True for genes that can be joined to the J.

    Returns
    -------
    (n,) int16 : indices along d_gene; NONE if no D gene matches
    """
    distances = sum(np.maximum(counted[name], 0).astype(np.int64) for name in D_DISTANCES)
    length = counted["d_length"].astype(np.int64)
    score = np.where(allowed & (length > 0), (length << 16) - distances, NEVER)
    best = score.argmax(axis=1)
    has_one = score[np.arange(len(best)), best] > NEVER
    return np.where(has_one, best, NONE).astype(np.int16)


D_DISTANCES = ("vd_distance", "dj_distance")


def d_ends(
    counted: Mapping[str, NumpyArray], best: Shorts, batch: Batch, max_p: int
) -> dict[str, NumpyArray]:
    """Return the arrays of the variables `D_ENDS`: where the best D genes begin and end."""
    rows, has_one = np.arange(len(best)), best >= 0
    chosen = np.maximum(best, 0).astype(np.int64)

    def of_best(name: str) -> Shorts:
        own: Shorts = counted[name][rows, chosen]
        return own

    def between(name: str) -> Shorts:
        return np.where(has_one, np.maximum(of_best(name), 0), NONE).astype(np.int16)

    first, length = of_best("d_first").astype(np.int64), of_best("d_length").astype(np.int64)
    begins = np.zeros(len(best), np.int64)
    extended = [with_left(with_right(part, max_p), max_p, part) for part in batch.d]
    genes = RaggedArray.from_rows(extended).arrays
    places = (batch.references.offsets[:-1] + first - 1, np.where(has_one, length, 0))
    longest = np.minimum(batch.d.lengths, max_p)
    codes, bounds = batch.references.data, batch.references.offsets
    turned = COMPLEMENT_OF_SET[codes]
    _find_begins(codes, turned, bounds[1:], *places, chosen, *genes, longest, begins)
    begins = np.where(has_one, begins, 0)
    sizes = batch.d.lengths[chosen]
    ends = np.where(has_one, sizes - begins - length, 0)
    return {
        "d_index": best,
        "n1_length": between("vd_distance"),
        "n2_length": between("dj_distance"),
        "d5_erosion": begins.astype(np.int16),
        "d3_erosion": ends.astype(np.int16),
    }


@jit(norefs=True)
def _find_begins(
    codes: Codes,
    is_reverse: Codes,
    ends: Numbers,
    positions: Numbers,
    lengths: Numbers,
    chosen: Numbers,
    genes: Codes,
    starts: Numbers,
    longest: Numbers,
    begins: Numbers,
) -> None:
    """Fill begins: 0-based first symbol of a D gene's match; -i if i symbols precede the gene.

    These symbols are a palindrome of the following ones in the reference, with at most the D gene's
    `longest` symbols. SPEC.md, "DP-2".
    """
    for row in range(len(positions)):
        a, length, gene = positions[row], lengths[row], chosen[row]
        start = starts[gene] + longest[gene]
        size = starts[gene + 1] - start
        last = size - length
        f = 0
        while f <= last and matching(codes, a, genes, start + f, length) < length:
            f += 1
        if f <= last or length == 0:
            begins[row] = min(f, max(last, 0))
            continue
        # with a shorter palindrome the rest would be longer than the gene
        for i in range(max(1, length - size), min(longest[gene], length, (ends[row] - a) // 2) + 1):
            turns = 0
            while turns < i and codes[a + i - 1 - turns] & is_reverse[a + i + turns]:
                turns += 1
            if turns == i and matching(codes, a + i, genes, start, length - i) == length - i:
                begins[row] = -i
                break


@jit(inline=True, part=True, norefs=True)
def matching(codes: Codes, a: int, genes: Codes, start: int, most: int) -> int:
    """Return how many gene symbols from `start` on, at most `most`, match codes from `a` on."""
    k = 0
    while k < most and genes[start + k] & codes[a + k]:
        k += 1
    return k
