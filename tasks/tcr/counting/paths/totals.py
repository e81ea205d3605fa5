"""Totals over D genes: the total of paths, and the best D gene of a reference.

Alleles of one gene differ in a nucleotide or two, so most of their paths are the same. So the
allele with the most paths represents its gene. A D gene downstream of the J gene does not count.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.memory.threads import run_blocks
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.tcr.counting.kernels.batch import Batch
from gangsaw.tasks.tcr.counting.paths.best_d import D_ENDS, best_d, d_ends
from gangsaw.tasks.tcr.counting.paths.dataset import SWEEP, TOTAL_DIM, Variable
from gangsaw.tasks.tcr.model import Model

Counts = NDArray[np.uint64]
Numbers = NDArray[np.int64]
ALLELE = re.compile(r"\*[A-Za-z0-9_.-]+")
SLICE = 2048  # references of a thread's task
MOST = np.uint64(2**64 - 1)
BEYOND = f"{2**64 - 1}: so many or more"


@dataclass(frozen=True)
class DGenes:
    """D genes (or pairs of D genes) that have counts, and the J genes that they can be joined to.

    Attributes
    ----------
    choices : names of the genes or pairs, in the order of the counts
    pairs_with_j : (D genes, J genes) bool, True if a D can be joined to a J
    """

    choices: tuple[str, ...]
    pairs_with_j: NDArray[np.bool_]

    @property
    def allowed(self) -> NDArray[np.bool_]:
        """Mask (choices, J genes) of possible joins; pairs of D genes can be joined to any J."""
        if len(self.choices) == len(self.pairs_with_j):
            return self.pairs_with_j
        return np.ones((len(self.choices), self.pairs_with_j.shape[1]), np.bool_)


def strip_alleles(name: str) -> str:
    """Return the name of a D gene, or of a pair, without alleles."""
    return ALLELE.sub("", name)


def totals(model: Model, n_d: int) -> tuple[Variable, ...]:
    """Return the variables of `total_arrays`: path counts summed over D genes, and best D."""
    dp2 = (
        Variable(
            "paths_total",
            ("reference", *SWEEP),
            "uint64",
            "1",
            "DP-2 paths: paths_no_d and those of every D gene that pairs with the J, of alleles of "
            f"one gene those of that with the most; {BEYOND}",
        ),
    )
    dp1 = (
        Variable(
            "dp1_total",
            ("reference", TOTAL_DIM),
            "uint64",
            "1",
            "DP-1 paths of every D gene that pairs with the J, of the alleles of one gene those of "
            f"that with the most; {BEYOND}",
        ),
    )
    ends = tuple(
        Variable(name, ("reference",), "int16", UNITS.get(name, "nucleotide"), description)
        for name, description in {**V_J_ENDS, **(D_ENDS if n_d else N_OF_VJ)}.items()
    )
    return (*(dp2 if model.dp2 else ()), *(dp1 if model.dp1 and n_d else ()), *ends)


V_J_ENDS = {
    "v_erosion": "Nucleotides that V lacks at its end; negative: so many palindromic ones",
    "j_erosion": "Nucleotides that J lacks at its beginning; negative: so many palindromic ones",
}
UNITS = {"d_index": "1"}
N_OF_VJ = {"n_length": "Nucleotides between V match and J match"}


def total_arrays(
    counted: Mapping[str, NumpyArray], batch: Batch, model: Model, genes: DGenes
) -> dict[str, NumpyArray]:
    """Return the arrays of the variables `totals`: counts summed over D genes, and best D calls.

    `counted` has the arrays of `dataset.variables` for the same batch.
    """
    found: dict[str, NumpyArray] = {
        f"{gene}_erosion": np.subtract(counted[f"{gene}_length"], counted[f"{gene}_match"])
        for gene in "vj"
    }
    allowed = genes.allowed[:, batch.j_of] if genes.choices else np.ones((0, len(batch.j_of)), bool)
    if model.dp2:
        without, by_d = counted["paths_no_d"], counted.get("paths_full")
        found["paths_total"] = add_genes(without, by_d, genes.choices, allowed)
    if not len(batch.d):
        return found | {"n_length": np.maximum(counted["vj_distance"], 0)}
    if model.dp1:
        by_d = counted["dp1_paths"]
        names = genes.choices
        found["dp1_total"] = add_genes(np.zeros_like(by_d[:, 0]), by_d, names, allowed)
    best = best_d(counted, genes.pairs_with_j[:, batch.j_of].T)
    return found | d_ends(counted, best, batch, model.max_p)


def add_genes(
    without: NumpyArray, by_d: NumpyArray | None, names: Sequence[str], allowed: NDArray[np.bool_]
) -> Counts:
    """Sum the counts without D and those of each D gene, saturated at the largest uint64.

    Parameters
    ----------
    without : (n, ...) counts without D
    by_d : (n, choices, ...) counts of each D gene or pair; None without D genes
    names : names of the choices
    allowed : (choices, n) bool, True for choices that a reference can have
    """
    total = np.array(without, np.uint64)
    if by_d is None or not len(total):
        return total
    numbers = {gene: i for i, gene in enumerate(dict.fromkeys(map(strip_alleles, names)))}
    of_choice = np.array([numbers[strip_alleles(name)] for name in names], np.int64)
    order = np.argsort(of_choice, kind="stable")
    flat = np.ascontiguousarray(by_d, np.uint64).reshape(-1)
    may = np.ascontiguousarray(allowed.T, np.uint8).reshape(-1)
    own = total.reshape(len(total), -1)

    def add(i: int) -> None:
        rows = np.arange(i * SLICE, min(len(own), (i + 1) * SLICE))
        _add_genes(rows, flat, order, of_choice[order], may, own, np.zeros(own.shape[1], np.uint64))

    run_blocks(add, -(-len(own) // SLICE))
    return total


@jit(norefs=True)
def _add_genes(
    rows: Numbers,
    by_d: Counts,
    order: Numbers,
    genes: Numbers,
    allowed: NDArray[np.uint8],
    total: Counts,
    most: Counts,
) -> None:
    """Add to `total` (rows, ...), for each gene, the counts of its allele with the most paths."""
    n, size = len(order), total.shape[1]
    for row in rows:
        for i in range(n):
            at = row * n + order[i]
            if allowed[at]:
                for k in range(size):
                    most[k] = max(most[k], by_d[at * size + k])
            if i + 1 == n or genes[i + 1] != genes[i]:
                for k in range(size):
                    more = total[row, k] + most[k]
                    total[row, k] = MOST if more < most[k] else more
                    most[k] = 0
