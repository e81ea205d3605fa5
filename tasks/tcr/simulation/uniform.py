"""Uniform recombination: all genes, changes of an end, and n-nucleotides are equally likely.

This model is for species without an estimated one. It makes no claim about nature: it only uses
the events that recombination paths count.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gangsaw.codecs.core.nucleotides.codes import LETTER_OF_CODE
from gangsaw.codecs.core.plugins.parameters import require_int
from gangsaw.tasks.tcr.germline.genes.genes import Gene, WholeGenes
from gangsaw.tasks.tcr.germline.genes.lines import Bases, Ints, ragged_of
from gangsaw.tasks.tcr.simulation.recombination import Ends, Recombinations, before, behind


@dataclass(frozen=True)
class Uniform:
    """Uniform model of recombination.

    V, D and J are drawn uniformly. The lengths of the end of V and of the start of J change by
    -e..p bases. Then those of the start and the end of D change. Here e is the minimum of `erosion`
    and the bases left. Each junction has 0..max_n n-nucleotides, each A, C, G or T.

    Attributes
    ----------
    genes : genes to recombine
    max_n : maximum of n-nucleotides of a junction
    max_p : longest palindrome p of a gene's end
    erosion : maximum of deleted bases of an end
    """

    genes: WholeGenes
    max_n: int = 10
    max_p: int = 4
    erosion: int = 10

    def __post_init__(self) -> None:
        """Raise `BadParams` for numbers out of range; remove genes shorter than a palindrome."""
        for name, most in (("max_n", 100), ("max_p", 20), ("erosion", 1000)):
            require_int(name, getattr(self, name), 0, most)
        object.__setattr__(self, "genes", self.genes.long(max(1, self.max_p)))

    @property
    def name(self) -> str:
        """Name of the model and its genes."""
        return f"uniform, {self.genes.source}"

    @cached_property
    def ends(self) -> Ends:
        """Genes with palindromes; the codons of Cys and Phe or Trp are never cut."""
        p, genes = self.max_p, self.genes
        v = [gene.codon + behind(gene.part, p) for gene in genes.v]
        d = [before(gene.part, p) + behind(gene.part, p)[len(gene.part) :] for gene in genes.d]
        j = [before(gene.part, p) + gene.codon for gene in genes.j]
        of_v, of_d, of_j = (ragged_of(texts) for texts in (v, d, j))
        return Ends(genes.v, genes.d, genes.j, of_v, of_d, of_j, p, p, p, p)

    def draw(self, rng: np.random.Generator, n: int) -> Recombinations:
        """Return n random recombinations of the model."""
        (v, v_whole), (j, j_whole) = (self._chosen(rng, g, n) for g in (self.genes.v, self.genes.j))
        v_cut, j_cut = self._cuts(rng, v_whole), self._cuts(rng, j_whole)
        n1, n1_lengths = self._draw_bases(rng, n)
        if not self.genes.d:
            return Recombinations(v, j, v_cut, j_cut, n1, n1_lengths)
        d, whole = self._chosen(rng, self.genes.d, n)
        left = self._cuts(rng, whole)
        right = self._cuts(rng, whole - np.maximum(left - self.max_p, 0))
        n2, n2_lengths = self._draw_bases(rng, n)
        return Recombinations(v, j, v_cut, j_cut, n1, n1_lengths, d, left, right, n2, n2_lengths)

    def _chosen(
        self, rng: np.random.Generator, genes: tuple[Gene, ...], n: int
    ) -> tuple[Ints, Ints]:
        """Return numbers of random genes (n,), and the lengths of their parts."""
        which = rng.integers(0, len(genes), n)
        return which, np.array([len(gene.part) for gene in genes])[which]

    def _cuts(self, rng: np.random.Generator, left: Ints) -> Ints:
        """Return random cuts (n,) of gene ends with palindromes, given the bases that are left."""
        return rng.integers(0, self.max_p + np.minimum(self.erosion, left) + 1)

    def _draw_bases(self, rng: np.random.Generator, n: int) -> tuple[Bases, Ints]:
        letters = LETTER_OF_CODE[rng.integers(0, 4, (n, self.max_n))]
        return letters, rng.integers(0, self.max_n + 1, n)
