"""From what a source says of a gene to the part of it that a CDR3 can hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from gangsaw.tasks.tcr.germline.anchors import (
    CODON,
    anchor_near,
    find_anchor,
    has_anchor,
    other_strand,
)
from gangsaw.tasks.tcr.germline.names import GeneName
from gangsaw.tasks.tcr.nucleotides import strict

LEFT_OUT = "left out"  # in each note on a gene that no part was made of
LONGEST = 100  # nucleotides; the longest known have 40: a longer part does not begin at its anchor
LONGEST_GENE = 10_000  # the V-, D- and J-REGIONs have at most some 350
_RESIDUE = {"V": "Cys", "J": "Phe or Trp"}
_EMPTY = "nothing of it is in the CDR3"
_MOTIF = {"V": "conserved Cys", "J": "F/W-G-X-G motif"}


@dataclass(frozen=True)
class Part:
    """The part of a germline gene that a CDR3 can hold.

    Attributes
    ----------
    name : allele, as in the source
    sequence : upper-case IUPAC letters; V after the Cys codon, J before the Phe/Trp codon, D whole
    """

    name: str
    sequence: str


@dataclass(frozen=True)
class Record:
    """What a source says of one allele.

    Attributes
    ----------
    name, gene : as in the source, and as understood
    sequence : upper-case letters without gaps; of the gene, or of its part if `is_part`
    where : file and line, for errors
    species : as the source calls it, "" where it does not
    anchor : where the codon of the Cys or Phe/Trp begins, from 0, if the source says so
    column : where column 104 of the IMGT numbering begins, from 0, in a gapped V gene
    frame : where the first codon begins, 0..2, as the header says
    is_part : the sequence is cut already
    flaw : why the source itself gives no part
    """

    name: str
    gene: GeneName
    sequence: str
    where: str
    species: str = ""
    anchor: int | None = None
    column: int | None = None
    frame: int | None = None
    is_part: bool = False
    flaw: str = ""


class Read(NamedTuple):
    """The records of a source, and notes on what else is in it."""

    records: list[Record]
    notes: tuple[str, ...] = ()


class Cut(NamedTuple):
    """A part, or None, and a remark on it, or ""."""

    part: Part | None
    note: str = ""


def part_of(record: Record) -> Cut:
    """Return the part of a record's gene, and what is wrong with it.

    Raises
    ------
    BadParams : its sequence holds other letters than nucleotides
    """
    if record.flaw or not record.sequence:
        return _without(record, record.flaw or (_EMPTY if record.is_part else "it has no sequence"))
    if len(record.sequence) > LONGEST_GENE:
        return _without(record, f"{len(record.sequence)} nucleotides are more than a gene has")
    strict(record.sequence, f"{record.where}: {record.name}")
    if record.gene.region == "D":
        return Cut(Part(record.name, record.sequence))
    if record.is_part:
        return _sized(record, record.sequence)
    return _cut_where_said(record) if record.anchor is not None else _cut_where_found(record)


def _without(record: Record, why: str) -> Cut:
    return Cut(None, f"{record.name} {LEFT_OUT}: {why}")


def _cut(record: Record, sequence: str, anchor: int, note: str = "") -> Cut:
    part = sequence[anchor + CODON :] if record.gene.region == "V" else sequence[:anchor]
    return _sized(record, part, note)


def _sized(record: Record, part: str, note: str = "") -> Cut:
    if not part:
        return _without(record, _EMPTY)
    if len(part) > LONGEST:
        return _without(record, f"{len(part)} nucleotides of a CDR3 are more than {LONGEST}")
    return Cut(Part(record.name, part), f"{record.name} {note}" if note else "")


def _cut_where_found(record: Record) -> Cut:
    """Search the anchor, on the other strand too."""
    region, sequence = record.gene.region, record.sequence
    if record.column is not None and has_anchor(region, sequence, record.column):
        return _cut(record, sequence, record.column)
    found = find_anchor(region, sequence, record.frame)
    if found is not None:
        return _cut(record, sequence, found.at, found.doubt)
    other = other_strand(sequence)
    found = find_anchor(region, other)
    if found is not None and not found.doubt:
        return _cut(record, other, found.at, "was reverse-complemented")
    where = "" if record.frame is None else ", in the frame of its header"
    return _without(record, f"no {_MOTIF[region]} found{where}")


def _cut_where_said(record: Record) -> Cut:
    """Take the anchor of the source, unless it is plainly that of the other strand or a slip."""
    region, sequence, said = record.gene.region, record.sequence, record.anchor
    assert said is not None
    if said + CODON > len(sequence):
        return _without(record, f"it ends before its anchor, nucleotide {said + 1}")
    if has_anchor(region, sequence, said):
        return _cut(record, sequence, said)
    other = other_strand(sequence)
    found = find_anchor(region, other)
    if found is not None and found.at == said:
        return _cut(record, other, said, "was reverse-complemented")
    codon = sequence[said : said + CODON]
    near = anchor_near(region, sequence, said)
    if near is not None:
        moved = f"was cut at nucleotide {near + 1}: {codon} at its anchor, {said + 1}, is no "
        return _cut(record, sequence, near, moved + _RESIDUE[region])
    return _cut(record, sequence, said, f"has {codon} at its anchor, no {_RESIDUE[region]}")
