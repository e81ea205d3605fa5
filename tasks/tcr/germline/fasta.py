"""Germline genes from FASTA files: IMGT headers or plain names, sequences gapped or not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.tcr.germline.anchors import CYS_104
from gangsaw.tasks.tcr.germline.names import gene_name, is_constant
from gangsaw.tasks.tcr.germline.parts import Read, Record
from gangsaw.tasks.tcr.germline.species import is_species

_GAPS = re.compile(r"[.\-]")
_LABEL = re.compile(r"-REGION|-RS|EXON|L-PART|-UNIT|-GENE|^CH|^EX\d")
_REGION = re.compile(r"[VDJ]-REGION")
_FRAME = 7  # field of IMGT headers: 1-based position of the first codon


def is_fasta(text: str) -> bool:
    """Return True if a text is FASTA, which begins with ">"."""
    return text.lstrip().startswith(">")


def read_fasta(path: Path, text: str) -> Read:
    """Return the V, D and J genes of a FASTA, and a note on headers without a gene name.

    A header begins with the gene's name. IMGT headers have fields separated by bars, the second of
    which is the name. Constant genes, and exons with leaders, are ignored.

    Raises
    ------
    BadParams : no header names a V, D or J gene
    """
    found, strange = list[Record](), list[str]()
    for where, header, written in _records(path, text):
        record = _record(where, header, written)
        if record is not None:
            found.append(record)
        elif not _is_passed_over(header):
            strange.append(f"{where}: {header[:60]!r}")
    if not found:
        raise BadParams(
            f"{path}: no header names a V, D or J gene; they must be such as >TRBV6-2*01 or "
            ">M11951|TRBV6-2*01|Homo sapiens|F|V-REGION|..."
        )
    note = f"{len(strange)} headers name no gene, the first in {strange[0]}" if strange else ""
    return Read(found, (note,) if note else ())


def _records(path: Path, text: str) -> Iterator[tuple[str, str, str]]:
    """Yield the location, the header and the sequence of each record."""
    where, header, lines = "", "", list[str]()
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith(">"):
            if where:
                yield where, header, "".join(lines)
            where, header, lines = f"{path}, line {number}", line[1:].strip(), []
        else:
            lines.append("".join(line.split()))
    yield where, header, "".join(lines)


def _record(where: str, header: str, written: str) -> Record | None:
    fields = _fields(header)
    at = next((i for i, field in enumerate(fields) if gene_name(_word(field))), None)
    gene = None if at is None else gene_name(_word(fields[at]))
    if at is None or gene is None or _is_passed_over(header):
        return None
    gapped = _GAPS.search(written) and gene.region == "V"
    return Record(
        name=_word(fields[at]),
        gene=gene,
        sequence=_normalize_bases(written),
        where=where,
        species=next((field for field in fields[at + 1 :] if is_species(field)), ""),
        column=len(_normalize_bases(written[:CYS_104])) if gapped else None,
        frame=_frame(fields),
    )


def _is_passed_over(header: str) -> bool:
    """Return True for ignored records, such as constant genes and exons with leaders."""
    fields = _fields(header)
    labels = [field for field in fields[1:] if _LABEL.search(field)]
    if labels:
        return not any(_REGION.search(label) for label in labels)
    return any(is_constant(_word(field)) for field in fields[:2])


def _fields(header: str) -> list[str]:
    return [field.strip() for field in header.split("|")]


def _word(field: str) -> str:
    return field.split()[0] if field else ""


def _normalize_bases(written: str) -> str:
    return _GAPS.sub("", written).upper().replace("U", "T")


def _frame(fields: list[str]) -> int | None:
    text = fields[_FRAME] if len(fields) > _FRAME else ""
    return int(text) - 1 if text in ("1", "2", "3") else None
