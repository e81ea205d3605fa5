"""D gene calls: the genes with the longest exact match in the middle of a junction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from gangsaw.codecs.core.nucleotides.alphabet import BASES
from gangsaw.tasks.tcr.annotation.index import GeneIndex
from gangsaw.tasks.tcr.annotation.nucleotypes import NucleotypeRow
from gangsaw.tasks.tcr.germline.genes.genes import WholeGenes
from gangsaw.tasks.tcr.germline.names import d_pairs_with_j

LEAST = 5  # bases, the default of IgBLAST's -min_D_match: shorter matches occur by chance
CODON = 3
CODES = bytes.maketrans(BASES, bytes(range(len(BASES))))


@dataclass(frozen=True)
class DRuns:
    """Index of D genes by their substrings of at least `LEAST` bases.

    Attributes
    ----------
    names : names of the genes
    pairs : for each gene, numbers in the `GeneIndex` of the J genes that can be joined to it
    runs : for each substring (base codes), the numbers of the genes that contain it
    longest : number of bases of the longest gene
    """

    names: tuple[str, ...]
    pairs: tuple[frozenset[int], ...]
    runs: dict[bytes, tuple[int, ...]] = field(repr=False)
    longest: int

    @classmethod
    def of(cls, genes: WholeGenes, index: GeneIndex) -> DRuns:
        """Return the index of the D genes of a locus."""
        names = tuple(gene.name for gene in genes.d)
        fits = d_pairs_with_j(names, index.names[index.n_v :])
        pairs = (frozenset((row.nonzero()[0] + index.n_v).tolist()) for row in fits)
        found: dict[bytes, tuple[int, ...]] = {}
        for number, gene in enumerate(genes.d):
            for run in sorted(set(_runs(gene.part.encode("ascii").translate(CODES)))):
                found[run] = (*found.get(run, ()), number)
        longest = max((len(gene.part) for gene in genes.d), default=0)
        return cls(names, tuple(pairs), found, longest)

    def call(self, middle: bytes, j: Sequence[int]) -> str:
        """Return the D genes with the longest match in the middle of a junction.

        Only genes that can be joined to one of the given J genes count.

        Parameters
        ----------
        middle : codes of the bases between V and J
        j : numbers of the J genes in the `GeneIndex`

        Returns
        -------
        Names, separated by commas; "" if no match has at least `LEAST` bases
        """
        for length in range(min(len(middle), self.longest), LEAST - 1, -1):
            found = {
                number
                for at in range(len(middle) - length + 1)
                for number in self.runs.get(middle[at : at + length], ())
                if not self.pairs[number].isdisjoint(j)
            }
            if found:
                return ",".join(self.names[number] for number in sorted(found))
        return ""


def middle_of(one: NucleotypeRow, index: GeneIndex) -> bytes:
    """Return the codes of the junction bases that match neither the V gene nor the J gene."""
    codes, offsets, codons = index.genes
    v, j = one.v[0], one.j[0]
    of_v = codes[offsets[v] + codons[v] : offsets[v + 1]].tobytes()
    of_j = codes[offsets[j] : offsets[j] + codons[j] + CODON].tobytes()
    first = _count_common_prefix(one.junction, of_v)
    return one.junction[
        first : max(first, len(one.junction) - _count_common_prefix(one.junction[::-1], of_j[::-1]))
    ]


def _count_common_prefix(a: bytes, b: bytes) -> int:
    """Return the length of the common prefix of two byte strings."""
    n = min(len(a), len(b))
    return next((at for at in range(n) if a[at] != b[at]), n)


def _runs(codes: bytes) -> Iterator[bytes]:
    n = len(codes)
    return (codes[a:b] for a in range(n) for b in range(a + LEAST, n + 1))
