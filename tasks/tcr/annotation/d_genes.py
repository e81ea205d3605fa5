"""The D genes of junctions: by the longest run of letters that a gene has in the middle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from gangsaw.codecs.core.nucleotides.letters import BASES
from gangsaw.tasks.tcr.annotation.index import GeneIndex
from gangsaw.tasks.tcr.annotation.nucleotypes import NucleotypeRow
from gangsaw.tasks.tcr.genes.genes import WholeGenes
from gangsaw.tasks.tcr.germline.names import d_pairs_with_j

LEAST = 5  # letters, as IgBLAST's -min_D_match has it: shorter runs are there by chance
CODON = 3
CODES = bytes.maketrans(BASES, bytes(range(len(BASES))))


@dataclass(frozen=True)
class DRuns:
    """D genes by their runs of letters.

    Attributes
    ----------
    names : of all
    pairs : by gene, numbers of the J in the index that it can be joined to
    runs : numbers of the genes that have a run of at least LEAST letters, as codes
    longest : letters of the longest gene
    """

    names: tuple[str, ...]
    pairs: tuple[frozenset[int], ...]
    runs: dict[bytes, tuple[int, ...]] = field(repr=False)
    longest: int

    @classmethod
    def of(cls, genes: WholeGenes, index: GeneIndex) -> DRuns:
        """Return those of a locus."""
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
        """Return the genes with the longest run in the middle of a junction, "" where none has one.

        Only genes that can be joined to one of these J count.
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
    """Return what of a junction is neither V's nor J's: codes of letters."""
    codes, offsets, codons = index.genes
    v, j = one.v[0], one.j[0]
    of_v = codes[offsets[v] + codons[v] : offsets[v + 1]].tobytes()
    of_j = codes[offsets[j] : offsets[j] + codons[j] + CODON].tobytes()
    first = _alike(one.junction, of_v)
    return one.junction[
        first : max(first, len(one.junction) - _alike(one.junction[::-1], of_j[::-1]))
    ]


def _alike(a: bytes, b: bytes) -> int:
    """Return how many letters both begin with."""
    n = min(len(a), len(b))
    return next((at for at in range(n) if a[at] != b[at]), n)


def _runs(codes: bytes) -> Iterator[bytes]:
    n = len(codes)
    return (codes[a:b] for a in range(n) for b in range(a + LEAST, n + 1))
