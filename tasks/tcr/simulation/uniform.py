"""Uniform recombination: each gene, change of an end, and n-nucleotide is as likely as any other.

For species without a model of probabilities. It is no claim on nature: the paths that the counts
know have all letters that they need, and nothing else is assumed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gangsaw.codecs.core.nucleotides.codes import LETTER_OF_CODE
from gangsaw.codecs.core.parameters import require_int
from gangsaw.tasks.tcr.genes.genes import Gene, WholeGenes
from gangsaw.tasks.tcr.genes.lines import Ints, Letters, ragged_of
from gangsaw.tasks.tcr.simulation.recombination import Ends, Recombinations, before, behind


@dataclass(frozen=True)
class Uniform:
    """The model.

    V, D and J are drawn uniformly. The end of V, and the begin of J, change by -e..p letters, the
    begin of D and then its end too, e the least of `erosion` and the letters that are left there.
    Each junction has 0..max_n letters, each A, C, G or T.

    Attributes
    ----------
    genes : that are joined
    max_n : most n-nucleotides of a junction
    max_p : longest palindrome p of a gene's end
    erosion : most letters that an end loses
    """

    genes: WholeGenes
    max_n: int = 10
    max_p: int = 4
    erosion: int = 10

    def __post_init__(self) -> None:
        """Refuse numbers out of range; leave out genes that are shorter than a palindrome."""
        for name, most in (("max_n", 100), ("max_p", 20), ("erosion", 1000)):
            require_int(name, getattr(self, name), 0, most)
        object.__setattr__(self, "genes", self.genes.long(max(1, self.max_p)))

    @property
    def name(self) -> str:
        """Of the model and the genes."""
        return f"uniform, {self.genes.source}"

    @cached_property
    def ends(self) -> Ends:
        """WholeGenes with palindromes; the codons of Cys and Phe or Trp are never cut."""
        p, genes = self.max_p, self.genes
        v = [gene.codon + behind(gene.part, p) for gene in genes.v]
        d = [before(gene.part, p) + behind(gene.part, p)[len(gene.part) :] for gene in genes.d]
        j = [before(gene.part, p) + gene.codon for gene in genes.j]
        of_v, of_d, of_j = (ragged_of(texts) for texts in (v, d, j))
        return Ends(genes.v, genes.d, genes.j, of_v, of_d, of_j, p, p, p, p)

    def draw(self, rng: np.random.Generator, n: int) -> Recombinations:
        """Return n random references."""
        (v, v_whole), (j, j_whole) = (self._chosen(rng, g, n) for g in (self.genes.v, self.genes.j))
        v_cut, j_cut = self._cuts(rng, v_whole), self._cuts(rng, j_whole)
        n1, n1_lengths = self._letters(rng, n)
        if not self.genes.d:
            return Recombinations(v, j, v_cut, j_cut, n1, n1_lengths)
        d, whole = self._chosen(rng, self.genes.d, n)
        left = self._cuts(rng, whole)
        right = self._cuts(rng, whole - np.maximum(left - self.max_p, 0))
        n2, n2_lengths = self._letters(rng, n)
        return Recombinations(v, j, v_cut, j_cut, n1, n1_lengths, d, left, right, n2, n2_lengths)

    def _chosen(
        self, rng: np.random.Generator, genes: tuple[Gene, ...], n: int
    ) -> tuple[Ints, Ints]:
        """Return (n,) numbers of genes, and the letters of their parts."""
        which = rng.integers(0, len(genes), n)
        return which, np.array([len(gene.part) for gene in genes])[which]

    def _cuts(self, rng: np.random.Generator, left: Ints) -> Ints:
        """Return (n,) letters cut off the ends of genes of which some letters are left."""
        return rng.integers(0, self.max_p + np.minimum(self.erosion, left) + 1)

    def _letters(self, rng: np.random.Generator, n: int) -> tuple[Letters, Ints]:
        letters = LETTER_OF_CODE[rng.integers(0, 4, (n, self.max_n))]
        return letters, rng.integers(0, self.max_n + 1, n)
