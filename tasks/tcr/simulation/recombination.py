"""Common parts of recombination models: genes with palindromes, cuts, n-nucleotides."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from gangsaw.tasks.genomics.sequences.ragged import Ragged
from gangsaw.tasks.tcr.germline.anchors import reverse_complement_iupac
from gangsaw.tasks.tcr.germline.genes.genes import Gene
from gangsaw.tasks.tcr.germline.genes.lines import Bases, Ints, concatenate_slices, together

NONE = np.zeros(0, np.int64)
NO_BASES = np.zeros((0, 0), np.uint8)


class Recombinations(NamedTuple):
    """Recombination events of n references; cuts count bases of a gene with its palindromes.

    Attributes
    ----------
    v, d, j : (n,) int64
        Numbers of genes; `d` is empty for loci without D genes.
    v_cut, d_left, d_right, j_cut : (n,) int64
        Deleted bases; those of D are empty like `d`.
    n1, n2 : (n, most) uint8
        Inserted bases between V and D (or J), and between D and J.
    n1_lengths, n2_lengths : (n,) int64
        Number of inserted bases: the first of `n1`, the last of `n2`.
    """

    v: Ints
    j: Ints
    v_cut: Ints
    j_cut: Ints
    n1: Bases
    n1_lengths: Ints
    d: Ints = NONE
    d_left: Ints = NONE
    d_right: Ints = NONE
    n2: Bases = NO_BASES
    n2_lengths: Ints = NONE

    def some(self, which: Ints) -> Recombinations:
        """Return the recombination events of selected references."""
        kept = {name: each[which] for name, each in self._asdict().items() if len(each)}
        return self._replace(**kept)  # the arrays of an absent D stay empty


class Ends(NamedTuple):
    """Genes with palindromes: after V, on both sides of D, before J.

    Attributes
    ----------
    genes_v, genes_d, genes_j : genes
    v, d, j : their bases with palindromes: V from its Cys codon, J up to its Phe or Trp codon
    p_v, p_d_left, p_d_right, p_j : bases of the palindrome at an end, for genes at least as long
    """

    genes_v: tuple[Gene, ...]
    genes_d: tuple[Gene, ...]
    genes_j: tuple[Gene, ...]
    v: Ragged
    d: Ragged
    j: Ragged
    p_v: int
    p_d_left: int
    p_d_right: int
    p_j: int


class Recombination(Protocol):
    """Interface of recombination models."""

    @property
    def name(self) -> str:
        """Name of the model, for messages."""
        ...

    @property
    def ends(self) -> Ends:
        """Bases of the genes with palindromes at the ends that are joined."""
        ...

    def draw(self, rng: np.random.Generator, n: int) -> Recombinations:
        """Return up to n random recombinations, fewer if the model draws impossible ones."""
        ...


def build_junctions(ends: Ends, events: Recombinations) -> Ragged:
    """Build the junctions that events make of genes, from the Cys to the Phe or Trp codon."""
    n = len(events.v)
    n1, n2 = (_matrix(letters) for letters in (events.n1, events.n2))
    text, (v, d, j, of_n1, of_n2) = together([ends.v, ends.d, ends.j, n1, n2])
    firsts = [v[events.v], of_n1]
    lengths = [ends.v.lengths[events.v] - events.v_cut, events.n1_lengths]
    if len(events.d):
        d_length = ends.d.lengths[events.d] - events.d_left - events.d_right
        firsts += [d[events.d] + events.d_left, of_n2 + events.n2.shape[1] - events.n2_lengths]
        lengths += [d_length, events.n2_lengths]
    firsts.append(j[events.j] + events.j_cut)
    lengths.append(ends.j.lengths[events.j] - events.j_cut)
    return concatenate_slices(
        text, np.stack(firsts, 1).reshape(n, -1), np.stack(lengths, 1).reshape(n, -1)
    )


def _matrix(bases: Bases) -> Ragged:
    """Return the rows of a matrix of bases as a ragged array; no rows for an empty matrix."""
    n, width = bases.shape if bases.ndim == 2 else (0, 0)
    return Ragged(bases.ravel(), np.arange(n + 1, dtype=np.int64) * width)


def behind(text: str, p: int) -> str:
    """Append the palindrome of its last p bases to a gene of at least p bases."""
    return text + reverse_complement_iupac(text[len(text) - p :])


def before(text: str, p: int) -> str:
    """Prepend the palindrome of its first p bases to a gene of at least p bases."""
    return reverse_complement_iupac(text[:p]) + text
