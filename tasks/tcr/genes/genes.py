"""Whole genes: what of them the CDR3 holds, its conserved codons, and what lies beyond these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.nucleotides.letters import BASES
from gangsaw.tasks.tcr.germline.anchors import CODON, other_strand
from gangsaw.tasks.tcr.germline.germline import Germline
from gangsaw.tasks.tcr.germline.opening import chosen_records, open_germline
from gangsaw.tasks.tcr.germline.parts import LEFT_OUT, Record

CYS, PHE = "TGT", "TTT"  # codons of genes of which the source has the CDR3's part alone


class Gene(NamedTuple):
    """A gene whose letters are all A, C, G or T.

    Attributes
    ----------
    name : allele, as in the source
    part : what of it a CDR3 can hold
    codon : of the conserved Cys before it (V), or Phe or Trp behind it (J); "" of D
    frame : what lies beyond the codon: before it (V) or behind it (J); "" where the source has the
        part alone
    """

    name: str
    part: str
    codon: str = ""
    frame: str = ""


class WholeGenes(NamedTuple):
    """The genes of one locus and species.

    Attributes
    ----------
    source, locus : as of `Germline`
    v, d, j : genes, in the order of their numbers
    notes : on single genes, each beginning with the gene's name
    """

    source: str
    locus: str
    v: tuple[Gene, ...]
    d: tuple[Gene, ...]
    j: tuple[Gene, ...]
    notes: tuple[str, ...]

    @property
    def has_frames(self) -> bool:
        """Whether some V and some J reach beyond the CDR3."""
        return all(any(gene.frame for gene in genes) for genes in (self.v, self.j))

    def long(self, letters: int) -> WholeGenes:
        """Return it without genes of fewer letters in the CDR3; BadParams where no V or J is left.

        Nor may all D be so short.
        """
        v, d, j = (_of(genes, letters) for genes in (self.v, self.d, self.j))
        for name, before, after in (("V", self.v, v), ("D", self.d, d), ("J", self.j, j)):
            if before and not after:
                raise BadParams(f"{self.source}: no {name} has {letters} letters in a CDR3")
        return self._replace(v=v, d=d, j=j)


def _of(genes: tuple[Gene, ...], letters: int) -> tuple[Gene, ...]:
    return tuple(gene for gene in genes if len(gene.part) >= letters)


def open_genes(
    source: str | Path | Sequence[str | Path],
    *,
    locus: str,
    species: str | None = None,
    anchors: str | Path | None = None,
) -> WholeGenes:
    """Return whole genes; parameters and errors are those of `open_germline`.

    Those with letters of several nucleotides are left out, each with a note. BadParams where no V,
    or no J, is left.
    """
    germline = open_germline(source, locus=locus, species=species, anchors=anchors)
    _, read = chosen_records(source, germline.locus or locus, species, anchors)
    wholes = {record.name: record for record in read.records}
    v = tuple(_v_gene(part.name, part.sequence, wholes[part.name]) for part in germline.v)
    j = tuple(_j_gene(part.name, part.sequence, wholes[part.name]) for part in germline.j)
    return _plain(germline, v, tuple(Gene(part.name, part.sequence) for part in germline.d), j)


def _v_gene(name: str, part: str, record: Record) -> Gene:
    whole = _directed(record, lambda text: text.endswith(part))
    at = len(whole) - len(part) - CODON
    return (
        Gene(name, part, whole[at : at + CODON], whole[:at]) if at >= 0 else Gene(name, part, CYS)
    )


def _j_gene(name: str, part: str, record: Record) -> Gene:
    whole = _directed(record, lambda text: text.startswith(part))
    codon, frame = whole[len(part) : len(part) + CODON], whole[len(part) + CODON :]
    return Gene(name, part, codon, frame) if len(codon) == CODON else Gene(name, part, PHE)


def _directed(record: Record, fits: Callable[[str], bool]) -> str:
    """Return the letters of a gene in the direction in which its part lies so; "" of a part."""
    whole = record.whole or ("" if record.is_part else record.sequence)
    return next((text for text in (whole, other_strand(whole)) if whole and fits(text)), "")


def _plain(
    germline: Germline, v: Sequence[Gene], d: Sequence[Gene], j: Sequence[Gene]
) -> WholeGenes:
    """Return the genes whose letters are plain, and notes on the others."""
    regions = {"V": v, "D": d, "J": j}
    left = {name: tuple(filter(_is_plain, genes)) for name, genes in regions.items()}
    for name in "VJ":
        if not left[name]:
            raise BadParams(f"{germline.source}: each {name} gene has letters of several bases")
    others = [gene.name for genes in regions.values() for gene in genes if not _is_plain(gene)]
    notes = tuple(f"{name} {LEFT_OUT}: it has letters of several bases" for name in others)
    kept = (left["V"], left["D"], left["J"])
    return WholeGenes(germline.source, germline.locus, *kept, germline.notes + notes)


def _is_plain(gene: Gene) -> bool:
    return not set(gene.frame + gene.codon + gene.part) - set(BASES.decode())
