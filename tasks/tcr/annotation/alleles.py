"""Letters of reads that no known allele has: candidates of new ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.nucleotides.letters import BASES
from gangsaw.tasks.tcr.annotation.index import GeneIndex, Ints

HEADER = "allele\tplace\tgermline\tread\treads\tof_reads\tjunctions_at_least\n"
LEAST_SHARE = 0.2  # of a gene's reads: an allele of one chromosome has a half
LEAST_JUNCTIONS = 5  # with fewer it may be an error of one cell's, copied
LEAST_READS = 10


@dataclass(frozen=True)
class AlleleCandidate:
    """A letter that many reads of an allele have, and the allele has not.

    Attributes
    ----------
    allele : the nearest that is known
    place : of the letter in the gene as its source has it, from 1
    germline, read : letters
    reads, of_reads : with this letter, and with any, of Q20 or better
    junctions : distinct ones of these reads, at least, up to 64
    """

    allele: str
    place: int
    germline: str
    read: str
    reads: int
    of_reads: int
    junctions: int

    def line(self) -> str:
        """Return it as a row of the table."""
        return "\t".join(map(str, vars(self).values())) + "\n"


def candidates(index: GeneIndex, seen: Ints, bits: NDArray[np.uint64]) -> list[AlleleCandidate]:
    """Return candidates in the order of genes and places.

    Parameters
    ----------
    seen, bits : (letters of all genes, 4): reads, and hashes of their junctions, a bit each
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
