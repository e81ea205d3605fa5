"""Candidates of new alleles: bases in reads that no known allele has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.nucleotides.alphabet import BASES
from gangsaw.tasks.tcr.annotation.index import GeneIndex, Ints

HEADER = "allele\tplace\tgermline\tread\treads\tof_reads\tjunctions_at_least\n"
LEAST_SHARE = 0.2  # share of a gene's reads: an allele on one chromosome has a half
LEAST_JUNCTIONS = 5  # distinct junctions: fewer may all descend from one error in one cell
LEAST_READS = 10


@dataclass(frozen=True)
class AlleleCandidate:
    """Base that many reads have where their nearest known allele has another.

    Attributes
    ----------
    allele : nearest known allele
    place : 1-based position of the base in the gene, as given in its source
    germline, read : base of the known allele, and base in the reads
    reads, of_reads : number of reads with this base, and with any base, of Q20 or better
    junctions : lower bound on the number of distinct junctions in these reads, up to 64
    """

    allele: str
    place: int
    germline: str
    read: str
    reads: int
    of_reads: int
    junctions: int

    def line(self) -> str:
        """Return the fields as a tab-separated line of the table with the header `HEADER`."""
        return "\t".join(map(str, vars(self).values())) + "\n"


def find_allele_candidates(
    index: GeneIndex, seen: Ints, bits: NDArray[np.uint64]
) -> list[AlleleCandidate]:
    """Return the bases that many reads have and their gene lacks, sorted by gene and position.

    Parameters
    ----------
    index : V and J genes that the reads were aligned with
    seen : (bases of all genes, 4) int64
        Reads with A, C, G or T at each gene position.
    bits : (bases of all genes, 4) uint64
        One bit per hashed junction of these reads.
    """
    codes, offsets, _ = index.genes
    total, junctions = seen.sum(axis=1), np.bitwise_count(bits)
    odd = (seen >= LEAST_READS) & (seen >= LEAST_SHARE * total[:, None])
    odd &= junctions >= LEAST_JUNCTIONS
    odd[np.arange(codes.size), codes] = False
    letters, found = BASES.decode(), []
    for at, code in np.argwhere(odd).tolist():
        gene = int(np.searchsorted(offsets, at, side="right")) - 1
        own = letters[codes[at]], letters[code]
        counts = int(seen[at, code]), int(total[at]), int(junctions[at, code])
        found.append(AlleleCandidate(index.names[gene], at - int(offsets[gene]) + 1, *own, *counts))
    return found
