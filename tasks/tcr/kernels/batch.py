"""Arguments and results of the kernels: references with their genes, and the counts of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Array
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.tcr.model import MAX_LENGTH, Model

# columns of Calls.genes and Calls.d (SPEC.md, "Calls"): positions count from 1
GENE_CALLS = ("length", "v_length", "j_length", "v_match", "j_match", "vj_distance")
D_CALLS = ("d_length", "d_first", "d_last", "vd_distance", "dj_distance")
CALLS = {"genes", "ndn", "d", "n1", "n2"}  # fields of Counts that are int16, not counts


@dataclass(frozen=True)
class Sequences:
    """Sequences of 4-bit nucleotide codes, back to back.

    Attributes
    ----------
    codes : (total,) uint8
    starts : (n + 1,) int64, where each begins in `codes`; the last is their total length
    """

    codes: npt.NDArray[np.uint8]
    starts: npt.NDArray[np.int64]

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.starts) - 1


def check_lengths(starts: npt.NDArray[np.int64]) -> None:
    """Refuse references that are too long for the kernels.

    Parameters
    ----------
    starts : of Sequences, in host memory

    Raises
    ------
    BadParams : one is longer than MAX_LENGTH; the message names the first
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

    All arrays are in host memory (NumPy) or all on one device (CuPy): that chooses the backend.
    Who makes a batch has checked: no code is 0, no sequence is empty, references are at most
    MAX_LENGTH long, V, J and D parts at least max_p, D genes at most MAX_D, indices are within the
    parts.

    Attributes
    ----------
    references : (n) CDR3 without the conserved Cys and Phe/Trp codons
    v, j : germline parts, without palindromes: V after its Cys codon, J before its Phe/Trp codon
    v_of, j_of : (n,) int32, which part of `v` and `j` each reference has
    d : whole D genes, without palindromes; none for a V-J chain
    """

    references: Sequences
    v: Sequences
    j: Sequences
    v_of: npt.NDArray[np.int32]
    j_of: npt.NDArray[np.int32]
    d: Sequences


@dataclass(frozen=True)
class Counts:
    """Counts and calls of n references, in their order; what the model leaves out is None.

    D choices are the D genes, or with two D genes in a row the pairs (first, second) in the order
    (0, 1), (0, 2), ..., (1, 2), ...: joining by deletion keeps the order of the genome.

    Attributes
    ----------
    full : (n, D choices, nu, pi) uint64, DP-2 paths, zero-length D included
    zero : (n, D choices, nu, pi) uint64, DP-2 paths in which every D has length zero
    no_d : (n, nu, pi) uint64, DP-2 paths V N J
    no_d_two : (n, nu, pi) uint64, DP-2 paths V N N J, which tell where the n-nucleotides were split
    dp1_nonempty : (n, D genes, total n) uint64, DP-1 paths with a D of at least one symbol; for a
        V-J chain one "D choice" with the paths V N J
    dp1_empty : (n, total n) uint64, DP-1 paths with an empty D, for each way to empty it
    genes : (n, 6) int16, columns GENE_CALLS
    ndn : (n, 4) int16, nucleotides A, T, C, G between V and J match
    d : (n, D genes, 5) int16, columns D_CALLS
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
    """Return the shape of each array of Counts, None for what the model leaves out.

    sweep : how many nu and pi there are; None: those of the model
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
