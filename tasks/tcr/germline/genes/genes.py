"""Whole genes: their CDR3 part, their conserved codon, and their bases beyond it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.nucleotides.alphabet import BASES
from gangsaw.tasks.tcr.germline.anchors import CODON, reverse_complement_iupac
from gangsaw.tasks.tcr.germline.germline import Germline
from gangsaw.tasks.tcr.germline.opening import open_records
from gangsaw.tasks.tcr.germline.parts import LEFT_OUT, Record

CYS, PHE = "TGT", "TTT"  # conserved codons, where the source has only the CDR3 part of a gene


class Gene(NamedTuple):
    """Gene with bases A, C, G and T only.

    Attributes
    ----------
    name : allele, as in the source
    part : bases that a CDR3 can contain
    codon : conserved codon, Cys before the part (V) or Phe or Trp after it (J); "" for D
    frame : bases beyond the codon: before it (V) or after it (J); "" where the source has only the
        part
    """

    name: str
    part: str
    codon: str = ""
    frame: str = ""


class WholeGenes(NamedTuple):
    """Genes of one locus and species.

    Attributes
    ----------
    source, locus : as in `Germline`
    v, d, j : genes, sorted by their numbers
    notes : messages about single genes, each beginning with the gene's name
    """

    source: str
    locus: str
    v: tuple[Gene, ...]
    d: tuple[Gene, ...]
    j: tuple[Gene, ...]
    notes: tuple[str, ...]

    @property
    def has_frames(self) -> bool:
        """True if at least one V and one J gene extend beyond the CDR3."""
        return all(any(gene.frame for gene in genes) for genes in (self.v, self.j))

    def long(self, sequence: int) -> WholeGenes:
        """Return the genes with at least the given number of bases in the CDR3.

        Raises
        ------
        BadParams : no V or no J gene, or none of several D genes, is that long
        """
        v, d, j = (_of(genes, sequence) for genes in (self.v, self.d, self.j))
        for name, before, after in (("V", self.v, v), ("D", self.d, d), ("J", self.j, j)):
            if before and not after:
                raise BadParams(f"{self.source}: no {name} has {sequence} bases in a CDR3")
        return self._replace(v=v, d=d, j=j)


def _of(genes: tuple[Gene, ...], sequence: int) -> tuple[Gene, ...]:
    return tuple(gene for gene in genes if len(gene.part) >= sequence)


def open_genes(
    source: str | Path | Sequence[str | Path],
    *,
    locus: str,
    species: str | None = None,
    anchors: str | Path | None = None,
) -> WholeGenes:
    """Return whole genes.

    Genes with IUPAC codes of several bases are left out, with a note for each.

    Parameters
    ----------
    source : "olga", path or list of these
        "olga" for the genes of its models [1]_, or FASTA files and tables (one, or several for V, D
        and J), compressed by gzip or not.
    locus : {"TRA", "TRB", "TRG", "TRD", "IGH", "IGK", "IGL"}
        Locus, in any case. Genes such as TRAV29/DV5 count for TRA and TRD.
    species : str, optional
        "human", "mouse" or the source's name, such as "Macaca mulatta". It is required for olga,
        and for files with several species.
    anchors : path, optional
        Table of `gene` and `anchor_index` (from 0, in the sequence without gaps), as in olga. It
        overrides found anchors and those of other tables.

    Returns
    -------
    `WholeGenes`
        Whole V, D and J genes.

    Raises
    ------
    BadParams
        A source is invalid, or no V or no J gene remains. The message names the file, line and
        gene, and what to do.

    See Also
    --------
    open_germline : Return the parts that paths are counted for.

    References
    ----------
    .. [1] Z. Sethna et al., "OLGA: fast computation of generation probabilities of B- and T-cell
       receptor amino acid sequences and motifs", Bioinformatics 35, 2974-2981, 2019.

    Examples
    --------
    >>> from gangsaw import tcr
    >>> genes = tcr.open_genes("olga", locus="TRB", species="human")
    >>> genes.locus, len(genes.d)
    ('TRB', 3)
    """
    germline, records = open_records(source, locus=locus, species=species, anchors=anchors)
    wholes = {record.name: record for record in records}
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
    """Return a gene's bases, or their reverse complement, whichever `fits`; "" if neither does.

    The result is "" too if the record has only the part in the CDR3.
    """
    whole = record.whole or ("" if record.is_part else record.sequence)
    return next(
        (text for text in (whole, reverse_complement_iupac(whole)) if whole and fits(text)), ""
    )


def _plain(
    germline: Germline, v: Sequence[Gene], d: Sequence[Gene], j: Sequence[Gene]
) -> WholeGenes:
    """Return the genes without ambiguous bases, with notes on the others."""
    regions = {"V": v, "D": d, "J": j}
    left = {name: tuple(filter(_is_plain, genes)) for name, genes in regions.items()}
    for name in "VJ":
        if not left[name]:
            raise BadParams(f"{germline.source}: each {name} gene has ambiguous bases")
    others = [gene.name for genes in regions.values() for gene in genes if not _is_plain(gene)]
    notes = tuple(f"{name} {LEFT_OUT}: it has ambiguous bases" for name in others)
    kept = (left["V"], left["D"], left["J"])
    return WholeGenes(germline.source, germline.locus, *kept, germline.notes + notes)


def _is_plain(gene: Gene) -> bool:
    return not set(gene.frame + gene.codon + gene.part) - set(BASES.decode())
