"""Extraction of the CDR3 part of a gene from its record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from gangsaw.tasks.tcr.germline.anchors import (
    CODON,
    anchor_near,
    find_anchor,
    has_anchor,
    reverse_complement_iupac,
)
from gangsaw.tasks.tcr.germline.names import GeneName
from gangsaw.tasks.tcr.model.nucleotides import strict

LEFT_OUT = "left out"  # in each note on a gene without a usable part
LONGEST = 100  # nucleotides; known parts have up to 40: longer ones do not begin at their anchor
LONGEST_GENE = 10_000  # nucleotides; V-, D- and J-REGIONs have at most about 350
_RESIDUE = {"V": "Cys", "J": "Phe or Trp"}
_EMPTY = "nothing of it is in the CDR3"
_MOTIF = {"V": "conserved Cys", "J": "F/W-G-X-G motif"}


@dataclass(frozen=True)
class Part:
    """Part of a germline gene that a CDR3 can contain.

    Attributes
    ----------
    name : allele, as in the source
    sequence : upper-case IUPAC codes; V after the Cys codon, J before the Phe/Trp codon, D whole
    """

    name: str
    sequence: str


@dataclass(frozen=True)
class Record:
    """Record of one allele in a source.

    Attributes
    ----------
    name, gene : name in the source, and the parsed name
    sequence : upper-case bases without gaps; of the gene, or of its part if `is_part`
    where : file and line, for messages
    species : name in the source, or ""
    anchor : 0-based position of the Cys or Phe/Trp codon, if the source has it
    column : 0-based position of IMGT column 104 in a gapped V gene
    frame : position of the first codon, 0..2, from the header
    is_part : True if the sequence is the CDR3 part
    flaw : reason in the source why it has no part
    whole : bases of the gene, if `sequence` is its part and the source has both
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
    """Records of a source, and notes on its other content."""

    records: list[Record]
    notes: tuple[str, ...] = ()


class PartOrReason(NamedTuple):
    """CDR3 part of a gene with an optional note, or None with the reason."""

    part: Part | None
    note: str = ""


def cut_germline_part(record: Record) -> PartOrReason:
    """Return the CDR3 part of a record's gene, with a note on its problems.

    Raises
    ------
    BadParams : its sequence has characters other than IUPAC codes of nucleotides
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
    return _cut_at_anchor(record) if record.anchor is not None else _at_found_anchor(record)


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
    """Return the CDR3 part at an anchor found by search, also on the reverse complement."""
    region, sequence = record.gene.region, record.sequence
    if record.column is not None and has_anchor(region, sequence, record.column):
        return _cdr3_part(record, sequence, record.column)
    found = find_anchor(region, sequence, record.frame)
    if found is not None:
        return _cdr3_part(record, sequence, found.at, found.doubt)
    other = reverse_complement_iupac(sequence)
    found = find_anchor(region, other)
    if found is not None and not found.doubt:
        return _cdr3_part(record, other, found.at, "was reverse-complemented")
    where = "" if record.frame is None else ", in the frame of its header"
    return _without(record, f"no {_MOTIF[region]} found{where}")


def _cut_at_anchor(record: Record) -> PartOrReason:
    """Return the part at the source's anchor, corrected if it is a few codons off.

    The anchor may also be that of the reverse complement.
    """
    region, sequence, given = record.gene.region, record.sequence, record.anchor
    assert given is not None
    if given + CODON > len(sequence):
        return _without(record, f"it ends before its anchor, nucleotide {given + 1}")
    if has_anchor(region, sequence, given):
        return _cdr3_part(record, sequence, given)
    other = reverse_complement_iupac(sequence)
    found = find_anchor(region, other)
    if found is not None and found.at == given:
        return _cdr3_part(record, other, given, "was reverse-complemented")
    codon = sequence[given : given + CODON]
    near = anchor_near(region, sequence, given)
    if near is not None:
        moved = f"was cut at nucleotide {near + 1}: {codon} at its anchor, {given + 1}, is no "
        return _cdr3_part(record, sequence, near, moved + _RESIDUE[region])
    return _cdr3_part(record, sequence, given, f"has {codon} at its anchor, no {_RESIDUE[region]}")
