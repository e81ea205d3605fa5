"""Opening of germline sources: read files, select species and locus, find the CDR3 parts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.options import none_of
from gangsaw.tasks.tcr.germline.fasta import is_fasta, read_fasta
from gangsaw.tasks.tcr.germline.germline import Germline
from gangsaw.tasks.tcr.germline.names import WITH_D, GeneName
from gangsaw.tasks.tcr.germline.olga import read_olga
from gangsaw.tasks.tcr.germline.parts import Part, PartOrReason, Read, Record, cut_germline_part
from gangsaw.tasks.tcr.germline.species import latin
from gangsaw.tasks.tcr.germline.table import NoColumns, read_anchors, read_gene_table
from gangsaw.tasks.tcr.germline.text import read_decompressed_text
from gangsaw.tasks.tcr.model import LOCI


def open_germline(
    source: str | Path | Sequence[str | Path],
    *,
    locus: str,
    species: str | None = None,
    anchors: str | Path | None = None,
) -> Germline:
    """Return the germline parts of one locus and species.

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
    Germline
        V parts after the codon of Cys, J parts before that of Phe or Trp, and whole D genes.

    Raises
    ------
    BadParams
        A source is invalid. The message names the file, line and gene, and what to do.

    See Also
    --------
    open_genes : Return whole genes.

    References
    ----------
    .. [1] Z. Sethna et al., "OLGA: fast computation of generation probabilities of B- and T-cell
       receptor amino acid sequences and motifs", Bioinformatics 35, 2974-2981, 2019.

    Examples
    --------
    >>> from gangsaw import tcr
    >>> germline = tcr.open_germline("olga", locus="TRB", species="human")
    >>> germline.locus, len(germline.d)
    ('TRB', 3)
    """
    return open_records(source, locus=locus, species=species, anchors=anchors)[0]


def open_records(
    source: str | Path | Sequence[str | Path],
    *,
    locus: str,
    species: str | None,
    anchors: str | Path | None,
) -> tuple[Germline, Sequence[Record]]:
    """Return the germline of `open_germline` and its records; each file is opened once."""
    locus = _checked_locus(locus)
    name, read = chosen_records(source, locus, species, anchors)
    return _germline(name, locus, read.records, read.notes), read.records


def chosen_records(
    source: str | Path | Sequence[str | Path],
    locus: str,
    species: str | None,
    anchors: str | Path | None,
) -> tuple[str, Read]:
    """Return the name of a source, and its records of one locus and species."""
    name, read = _read(source, locus, species)
    records = read.records if anchors is None else _anchored(read.records, Path(anchors))
    chosen = _of_species(name, [r for r in records if locus in r.gene.loci], locus, species)
    return name, Read(_distinct(chosen), read.notes)


def _checked_locus(locus: str) -> str:
    if locus.upper() not in LOCI:
        raise none_of("locus", LOCI, locus)
    return locus.upper()


def _read(
    source: str | Path | Sequence[str | Path], locus: str, species: str | None
) -> tuple[str, Read]:
    paths = [source] if isinstance(source, str | Path) else list(source)
    if not paths:
        raise BadParams("no germline: give FASTA files, tables or olga")
    if "olga" in paths:
        if len(paths) > 1:
            raise BadParams("olga is a whole germline: give it alone, or files")
        model, found = read_olga(locus, species)
        return model, Read(found)
    files = [Path(path) for path in paths]
    read = [_of_file(path) for path in files]
    records = [record for one in read for record in one.records]
    notes = tuple(note for one in read for note in one.notes)
    of = f" ({species})" if species else ""
    return ", ".join(path.name for path in files) + of, Read(records, notes)


def _of_file(path: Path) -> Read:
    text = read_decompressed_text(path)
    if is_fasta(text):
        return read_fasta(path, text)
    try:
        return Read(read_gene_table(path, text))
    except NoColumns as error:
        raise BadParams(f"{error}, and it is no FASTA, which begins with >") from None


def _anchored(records: list[Record], path: Path) -> list[Record]:
    """Return the records with the anchors of a table, matched by allele, else by gene."""
    given = read_anchors([path])
    at = [
        None if r.is_part else given.get(r.name, given.get(r.name.partition("*")[0]))
        for r in records
    ]
    if all(anchor is None for anchor in at):
        raise BadParams(
            f"{path}: none of its genes is in the germline, whole; names must be the same"
        )
    return [
        r if anchor is None else replace(r, anchor=anchor)
        for r, anchor in zip(records, at, strict=True)
    ]


def _of_species(
    name: str, records: list[Record], locus: str, species: str | None
) -> Iterable[Record]:
    """Return the records of one species, or of the only one; without a species they match any."""
    if not records:
        raise BadParams(f"{name}: no gene of {locus} in it")
    there = {latin(r.species): r.species for r in records if r.species}
    labels = ", ".join(sorted(there.values()))
    if species is None:
        if len(there) > 1:
            raise BadParams(f"{name} has genes of {labels}: name the species")
        return records
    if there and latin(species) not in there:
        raise BadParams(f"{name}: no {locus} gene of {species}, only of {labels}")
    return [r for r in records if latin(r.species) in ("", latin(species))]


def _distinct(records: Iterable[Record]) -> list[Record]:
    """Return each allele once; raise `BadParams` if two files differ in its sequence."""
    first: dict[GeneName, Record] = {}
    for record in records:
        known = first.setdefault(record.gene, record)
        if known.sequence != record.sequence:
            raise BadParams(
                f"{record.where}: {record.name} has another sequence than in {known.where}: "
                "keep one of them"
            )
    return list(first.values())


def _germline(name: str, locus: str, records: list[Record], notes: tuple[str, ...]) -> Germline:
    ordered = sorted(records, key=lambda record: record.gene.order)
    found = [(record.gene.region, cut_germline_part(record)) for record in ordered]
    notes += tuple(each.note for _, each in found if each.note)
    v, d, j = (_parts(name, locus, region, found) for region in "VDJ")
    return Germline(name, v, d, j, notes)


def _parts(
    name: str, locus: str, region: str, found: list[tuple[str, PartOrReason]]
) -> tuple[Part, ...]:
    mine = [each for r, each in found if r == region]
    parts = tuple(each.part for each in mine if each.part is not None)
    if parts or (region == "D" and locus not in WITH_D):
        return parts
    if not mine:
        raise BadParams(f"{name}: no {region} gene of {locus} in it: give its file, too")
    raise BadParams(f"{name}: none of {len(mine)} {region} genes can be used: {mine[0].note}")
