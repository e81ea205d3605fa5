"""Arguments and results of the kernels: references with their genes, and their counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Array
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.ragged import RaggedArray
from gangsaw.tasks.tcr.model import MAX_LENGTH, Model

# columns of Calls.genes and Calls.d (SPEC.md, "Calls"): positions are 1-based
GENE_CALLS = ("length", "v_length", "j_length", "v_match", "j_match", "vj_distance")
D_CALLS = ("d_length", "d_first", "d_last", "vd_distance", "dj_distance")
CALLS = {"genes", "ndn", "d", "n1", "n2"}  # int16 fields of Counts; all others are uint64 counts


def check_lengths(starts: npt.NDArray[np.int64]) -> None:
    """Raise `BadParams` if a reference is too long for the kernels.

    Parameters
    ----------
    starts : (n + 1,) int64
        Offsets of the references; in host memory.

    Raises
    ------
    BadParams : a reference is longer than MAX_LENGTH; the message names the first
    """
    lengths = np.diff(starts)
    if wrong := np.flatnonzero(lengths > MAX_LENGTH).tolist():
        raise BadParams(
            f"reference {wrong[0]}: the CDR3 has {lengths[wrong[0]]} nucleotides; "
            f"at most {MAX_LENGTH} are counted"
        )


@dataclass(frozen=True)
class Batch:
    """References and the germline parts that they are compared with.

    All arrays are in host memory (NumPy), or all on one device (CuPy), which selects the backend.
    The caller has checked that no code is 0, no sequence is empty, and indices are valid.
    References have at most MAX_LENGTH nucleotides, V, J and D parts at least max_p, and D genes at
    most MAX_D.

    Attributes
    ----------
    references : n CDR3 without the conserved Cys and Phe/Trp codons, as 4-bit codes, like all parts
    v, j : germline parts, without palindromes: V after its Cys codon, J before its Phe/Trp codon
    v_of, j_of : (n,) int32, indices of the parts in `v` and `j` of each reference
    d : whole D genes, without palindromes; none for a V-J chain
    """

    references: RaggedArray
    v: RaggedArray
    j: RaggedArray
    v_of: npt.NDArray[np.int32]
    j_of: npt.NDArray[np.int32]
    d: RaggedArray


@dataclass(frozen=True)
class Counts:
    """Path counts and gene calls of n references, in their order; None if outside the model.

    A D choice is a D gene. With two D genes in a row it is a pair (first, second), in the order
    (0, 1), (0, 2), ..., (1, 2), ...: joining by deletion keeps the order of the genome.

    Attributes
    ----------
    full : (n, D choices, nu, pi) uint64, DP-2 paths, including zero-length D
    zero : (n, D choices, nu, pi) uint64, DP-2 paths in which every D has length zero
    no_d : (n, nu, pi) uint64, DP-2 paths V N J
    no_d_two : (n, nu, pi) uint64, DP-2 paths V N N J, distinguished by the split of n-nucleotides
    dp1_nonempty : (n, D genes, total n) uint64, DP-1 paths with a D of at least one symbol; for a
        V-J chain one "D choice" with the paths V N J
    dp1_empty : (n, total n) uint64, DP-1 paths with an empty D, once per way to delete it
    genes : (n, 6) int16, lengths of reference and matches of V and J, columns GENE_CALLS
    ndn : (n, 4) int16, nucleotides A, T, C, G between the matches of V and J
    d : (n, D genes, 5) int16, length and positions of the D match, columns D_CALLS
    n1, n2 : (n, D genes, 4) int16, nucleotides A, T, C, G between V and D, and D and J
    """

    full: Array | None
    zero: Array | None
    no_d: Array | None
    no_d_two: Array | None
    dp1_nonempty: Array | None
    dp1_empty: Array | None
    genes: Array | None
    ndn: Array | None
    d: Array | None
    n1: Array | None
    n2: Array | None


def shapes_of(
    n: int, n_d: int, model: Model, sweep: tuple[int, int] | None = None
) -> dict[str, tuple[int, ...] | None]:
    """Return the shape of each array of Counts, or None for arrays outside the model.

    Parameters
    ----------
    n : number of references
    n_d : number of D genes
    model : limits of the paths
    sweep : number of values of nu and of pi; None for those of the model
    """
    sweep = sweep or (len(model.nus), len(model.pis))
    choices = n_d if model.d_segments == 1 else n_d * (n_d - 1) // 2
    with_d = (n, choices, *sweep) if model.dp2 and n_d else None
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
