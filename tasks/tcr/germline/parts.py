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
from gangsaw.tasks.tcr.model.nucleotides import strict

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
    is_part : the sequence is the part already
    flaw : why the source itself gives no part
    whole : letters of the gene, where `sequence` is its part and the source has both
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
    whole: str = ""


class Read(NamedTuple):
    """The records of a source, and notes on what else is in it."""

    records: list[Record]
    notes: tuple[str, ...] = ()


class PartOrReason(NamedTuple):
    """The part of a gene and a remark on it, or None and why there is no part."""

    part: Part | None
    note: str = ""


def part_of(record: Record) -> PartOrReason:
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
        return PartOrReason(Part(record.name, record.sequence))
    if record.is_part:
        return _sized(record, record.sequence)
    return _at_given_anchor(record) if record.anchor is not None else _at_found_anchor(record)


def _without(record: Record, why: str) -> PartOrReason:
    return PartOrReason(None, f"{record.name} {LEFT_OUT}: {why}")


def _cdr3_part(record: Record, sequence: str, anchor: int, note: str = "") -> PartOrReason:
    part = sequence[anchor + CODON :] if record.gene.region == "V" else sequence[:anchor]
    return _sized(record, part, note)


def _sized(record: Record, part: str, note: str = "") -> PartOrReason:
    if not part:
        return _without(record, _EMPTY)
    if len(part) > LONGEST:
        return _without(record, f"{len(part)} nucleotides of a CDR3 are more than {LONGEST}")
    return PartOrReason(Part(record.name, part), f"{record.name} {note}" if note else "")


def _at_found_anchor(record: Record) -> PartOrReason:
    """Search the anchor, on the other strand too."""
    region, sequence = record.gene.region, record.sequence
    if record.column is not None and has_anchor(region, sequence, record.column):
        return _cdr3_part(record, sequence, record.column)
    found = find_anchor(region, sequence, record.frame)
    if found is not None:
        return _cdr3_part(record, sequence, found.at, found.doubt)
    other = other_strand(sequence)
    found = find_anchor(region, other)
    if found is not None and not found.doubt:
        return _cdr3_part(record, other, found.at, "was reverse-complemented")
    where = "" if record.frame is None else ", in the frame of its header"
    return _without(record, f"no {_MOTIF[region]} found{where}")


def _at_given_anchor(record: Record) -> PartOrReason:
    """Take the anchor of the source, unless it is that of the other strand or a few codons off."""
    region, sequence, given = record.gene.region, record.sequence, record.anchor
    assert given is not None
    if given + CODON > len(sequence):
        return _without(record, f"it ends before its anchor, nucleotide {given + 1}")
    if has_anchor(region, sequence, given):
        return _cdr3_part(record, sequence, given)
    other = other_strand(sequence)
    found = find_anchor(region, other)
    if found is not None and found.at == given:
        return _cdr3_part(record, other, given, "was reverse-complemented")
    codon = sequence[given : given + CODON]
    near = anchor_near(region, sequence, given)
    if near is not None:
        moved = f"was cut at nucleotide {near + 1}: {codon} at its anchor, {given + 1}, is no "
        return _cdr3_part(record, sequence, near, moved + _RESIDUE[region])
    return _cdr3_part(record, sequence, given, f"has {codon} at its anchor, no {_RESIDUE[region]}")
