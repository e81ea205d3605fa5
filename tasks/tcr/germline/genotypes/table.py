"""Tables of genotypes: TSV or CSV in the style of TIgGER, with a column of samples."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.tcr.germline.genotypes.genotypes import Genotypes, Lacking, Region
from gangsaw.tasks.tcr.germline.names import GeneName, gene_name
from gangsaw.tasks.tcr.germline.parts import Part
from gangsaw.tasks.tcr.germline.resolve import alleles_of, left_out, parsed
from gangsaw.tasks.tcr.germline.table import GeneRow, table_rows
from gangsaw.tasks.tcr.germline.text import read_decompressed_text

# names of each column in any case; the first name in the header wins
_COLUMNS = {
    "sample": ("sample_id", "sample", "subject_id", "subject", "donor", "repertoire_id"),
    "gene": ("gene",),
    "alleles": ("genotyped_alleles", "alleles", "allele"),
}
_DELETED = {"", "del", "deleted", "deletion", "none"}
_UNKNOWN = {"unk", "unknown", "na", "nan", "nd"}
_BETWEEN = re.compile(r"[,;|\s]+")
REGIONS: tuple[Region, ...] = ("V", "D", "J")
Own = dict[tuple[str, GeneName], set[int]]  # (sample, gene) -> indices of its alleles


def read_genotypes(
    path: str | Path, parts: Mapping[Region, Sequence[Part]], notes: Iterable[str] = ()
) -> Genotypes:
    """Return the genotypes of a table.

    Columns may have any order and case. They are: the sample (`sample_id`, `sample`, `subject_id`,
    `subject`, `donor` or `repertoire_id`), the `gene`, and its alleles (`genotyped_alleles`,
    `alleles` or `allele`), as "01,02" or "TRBV5-1*01,TRBV5-1*02". Other columns are ignored.

    A gene without alleles, or with `Del`, is absent in the donor. A gene with `Unk`, or without a
    row, is unknown: all its germline alleles count. Alleles of several rows of a gene are merged.
    Genes of other loci, and genes that the notes list as left out, are ignored.

    Parameters
    ----------
    path : TSV or CSV, .gz or not
    parts : germline parts by region; genes of absent regions are ignored
    notes : notes of the germline

    Raises
    ------
    BadParams : the file does not exist, columns are missing, a name is invalid, or the germline
        lacks a gene or allele; the message names the line
    """
    path = Path(path)
    need = [(role,) for role in _COLUMNS]
    table = _Table(parts, notes)
    own: Own = {}
    samples: dict[str, None] = {}
    for row in table_rows(path, read_decompressed_text(path), need, _COLUMNS):
        if not (sample := row.cells["sample"]):
            raise BadParams(f"{row.where}: no sample")
        samples[sample] = None
        table.take(row, own)
    return Genotypes(path.name, tuple(samples), tuple(table.lacking(own, each) for each in samples))


class _Table:
    """Index of the germline's genes and alleles, to resolve the names in a table of genotypes."""

    def __init__(self, parts: Mapping[Region, Sequence[Part]], notes: Iterable[str]) -> None:
        self.parts = {region: tuple(parts.get(region, ())) for region in REGIONS}
        names = {region: [parsed(p.name) for p in own] for region, own in self.parts.items()}
        self.genes = {region: alleles_of(own) for region, own in names.items()}
        self.loci = {locus for own in names.values() for name in own for locus in name.loci}
        self.left_out = left_out(notes)

    def take(self, row: GeneRow, own: Own) -> None:
        """Add the alleles that a row names to `own`: (sample, gene) -> indices of alleles."""
        gene = gene_name(row.cells["gene"])
        if gene is None:
            text = row.cells["gene"]
            raise BadParams(f"{row.where}: {text!r} is no name of a gene such as TRBV6-2")
        text = row.cells["alleles"].strip().strip("\"'")
        region = next(region for region in REGIONS if region == gene.region)
        passed = not self.parts[region] or not self.loci & set(gene.loci)
        if passed or text.lower() in _UNKNOWN:
            return
        alleles = self.genes[region].get(gene.without_allele)
        if alleles is None:
            if not self._is_left_out(gene):
                raise BadParams(f"{row.where}: {gene.without_allele} is not in the germline")
            return
        named = [] if text.lower() in _DELETED else [one for one in _BETWEEN.split(text) if one]
        places = {self._place(row, gene, one, alleles) for one in named}
        own.setdefault((row.cells["sample"], gene.without_allele), set()).update(places - {-1})

    def _place(self, row: GeneRow, gene: GeneName, text: str, alleles: dict[str, int]) -> int:
        """Return the index of an allele; -1 if notes list it as left out."""
        name = gene_name(text) if "*" in text else gene_name(f"{gene.without_allele}*{text}")
        if name is None or name.without_allele != gene.without_allele:
            raise BadParams(f"{row.where}: {text!r} is no allele of {gene.without_allele}")
        if name.allele in alleles:
            return alleles[name.allele]
        if name in self.left_out:
            return -1
        known = ", ".join(self.parts[gene.region][i].name for i in alleles.values())  # type: ignore[index]
        raise BadParams(f"{row.where}: {name} is not in the germline, which has {known}")

    def _is_left_out(self, gene: GeneName) -> bool:
        return any(gene.without_allele == other.without_allele for other in self.left_out)

    def lacking(self, own: Own, sample: str) -> Lacking:
        """Return the parts that a donor lacks: other alleles of genes with known alleles."""
        found: dict[str, tuple[int, ...]] = {}
        for region in REGIONS:
            every: set[int] = set()
            for (of, gene), places in own.items():
                if of == sample and gene.region == region:
                    every |= set(self.genes[region][gene].values()) - places
            found[region.lower()] = tuple(sorted(every))
        return Lacking(**found)
