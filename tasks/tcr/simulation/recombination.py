"""What models of recombination have in common: genes with palindromes, cuts, n-nucleotides."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from gangsaw.tasks.sequences.ragged import Ragged
from gangsaw.tasks.tcr.genes.genes import Gene
from gangsaw.tasks.tcr.genes.lines import Ints, Letters, joined, together
from gangsaw.tasks.tcr.germline.anchors import other_strand

NONE = np.zeros(0, np.int64)
NO_LETTERS = np.zeros((0, 0), np.uint8)


class Recombinations(NamedTuple):
    """What happened to n references. Cuts are letters lost of a gene with its palindromes.

    Attributes
    ----------
    v, d, j : (n,) numbers of genes; `d` is () of chains without
    v_cut, d_left, d_right, j_cut : (n,) letters cut off; those of D are () like it
    n1, n2 : (n, most) letters of the junctions of V and D (or J), and of D and J
    n1_lengths, n2_lengths : (n,) how many of them there are: the first of `n1`, the last of `n2`
    """

    v: Ints
    j: Ints
    v_cut: Ints
    j_cut: Ints
    n1: Letters
    n1_lengths: Ints
    d: Ints = NONE
    d_left: Ints = NONE
    d_right: Ints = NONE
    n2: Letters = NO_LETTERS
    n2_lengths: Ints = NONE

    def some(self, which: Ints) -> Recombinations:
        """Return those of some references."""
        kept = {name: each[which] for name, each in self._asdict().items() if len(each)}
        return self._replace(**kept)  # () of no D stays


class Ends(NamedTuple):
    """WholeGenes as they are cut: with palindromes behind V, on both sides of D, before J.

    Attributes
    ----------
    genes_v, genes_d, genes_j : the genes
    v, d, j : their letters with palindromes: V from its Cys codon, J up to its Phe or Trp codon
    p_v, p_d_left, p_d_right, p_j : letters of a palindrome at an end, of a gene that is as long
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
    """A model of recombination."""

    @property
    def name(self) -> str:
        """Of the model, for people."""
        ...

    @property
    def ends(self) -> Ends:
        """WholeGenes with palindromes."""
        ...

    def draw(self, rng: np.random.Generator, n: int) -> Recombinations:
        """Return at most n random references, fewer where the model draws what cannot be."""
        ...


def junctions(ends: Ends, events: Recombinations) -> Ragged:
    """Return the letters of references, from the Cys codon to the Phe or Trp codon."""
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
    return joined(text, np.stack(firsts, 1).reshape(n, -1), np.stack(lengths, 1).reshape(n, -1))


def _matrix(letters: Letters) -> Ragged:
    """Return the rows of a matrix as lines; none of ()."""
    n, width = letters.shape if letters.ndim == 2 else (0, 0)
    return Ragged(letters.ravel(), np.arange(n + 1, dtype=np.int64) * width)


def behind(text: str, p: int) -> str:
    """Return letters with a palindrome of p behind them; they are as many or more."""
    return text + other_strand(text[len(text) - p :])


def before(text: str, p: int) -> str:
    """Return letters with a palindrome of p before them; they are as many or more."""
    return other_strand(text[:p]) + text
