"""V and J genes as base codes, and their k-mer index."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.nucleotides.codes import CODES
from gangsaw.tasks.tcr.annotation.kernels.genes import K
from gangsaw.tasks.tcr.germline.genes.genes import Gene, WholeGenes

Ints = NDArray[np.int64]
KmerIndex = tuple[Ints, Ints, Ints, int]
GeneCodes = tuple[NDArray[np.uint8], Ints, Ints]


@dataclass(frozen=True)
class GeneIndex:
    """V genes followed by J genes, with the arrays that the annotation kernels take.

    Attributes
    ----------
    names : names of the genes
    texts : bases of the whole genes
    codons : offset of the conserved codon in each gene
    n_v : number of V genes
    """

    names: tuple[str, ...]
    texts: tuple[str, ...]
    codons: tuple[int, ...]
    n_v: int

    @cached_property
    def genes(self) -> GeneCodes:
        """Codes of all genes, offsets of the genes (n + 1,), offsets of conserved codons (n,)."""
        codes = CODES[np.frombuffer("".join(self.texts).encode("ascii"), np.uint8)]
        offsets = np.concatenate(([0], np.cumsum([len(text) for text in self.texts])))
        return codes, offsets, np.array(self.codons, np.int64)

    @cached_property
    def kmers(self) -> KmerIndex:
        """K-mer index: offsets (4**K + 1,), genes, positions, and the longest gene in bases."""
        codes, offsets, _ = self.genes
        words = np.zeros(max(0, codes.size - K + 1), np.int64)
        for step in range(K):
            words = words * 4 + codes[step : step + words.size]
        gene = np.repeat(np.arange(len(self.texts)), np.diff(offsets))[: words.size]
        place = np.arange(words.size) - offsets[gene]
        whole = place + K <= np.diff(offsets)[gene]
        order = np.argsort(words[whole], kind="stable")
        counts = np.bincount(words[whole], minlength=4**K)
        starts = np.concatenate(([0], np.cumsum(counts)))
        longest = int(np.diff(offsets).max())
        return starts, gene[whole][order], place[whole][order], longest


def build_gene_index(genes: WholeGenes) -> GeneIndex:
    """Return the index of a locus.

    Raises
    ------
    BadParams : no V gene, or no J gene, extends beyond the CDR3, so that no read can be matched
    """
    if not genes.has_frames:
        raise BadParams(f"{genes.source}: its genes end at the CDR3; reads need whole genes")
    v, j = ([gene for gene in own if gene.frame] for own in (genes.v, genes.j))
    return GeneIndex(
        tuple(gene.name for gene in (*v, *j)),
        (*map(_v_text, v), *map(_j_text, j)),
        (*(len(gene.frame) for gene in v), *(len(gene.part) for gene in j)),
        len(v),
    )


def _v_text(gene: Gene) -> str:
    return gene.frame + gene.codon + gene.part


def _j_text(gene: Gene) -> str:
    return gene.part + gene.codon + gene.frame
