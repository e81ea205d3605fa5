"""Germline genes of a FASTA: IMGT's headers or plain names, sequences gapped or not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.tcr.germline.anchors import CYS_104
from gangsaw.tasks.tcr.germline.names import gene_name
from gangsaw.tasks.tcr.germline.parts import Record

_GAPS = re.compile(r"[.\-]")
_LABEL = re.compile(r"-REGION|-RS|EXON|L-PART|^CH|^EX\d")
_REGION = re.compile(r"[VDJ]-REGION")
_FRAME = 7  # field of IMGT's headers: the nucleotide, from 1, where the first codon begins


def is_fasta(text: str) -> bool:
    """Say whether a text is a FASTA: it begins with ">"."""
    return text.lstrip().startswith(">")


def read_fasta(path: Path, text: str) -> list[Record]:
    """Return the V, D and J genes of a FASTA.

    Headers are IMGT's, with the name of the gene in the second of many fields between bars, or
    begin with the name. Records of other regions (constant genes, leaders) are passed over.

    Raises
    ------
    BadParams : no header names a V, D or J gene
    """
    found = [record for record in map(_record, *zip(*_records(path, text), strict=True)) if record]
    if not found:
        raise BadParams(
            f"{path}: no header names a V, D or J gene; they must be such as >TRBV6-2*01 or "
            ">M11951|TRBV6-2*01|Homo sapiens|F|V-REGION|..."
        )
    return found


def _records(path: Path, text: str) -> Iterator[tuple[str, str, str]]:
    """Yield where each record is, its header and its sequence as written."""
    where, header, lines = "", "", list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(">"):
            if where:
                yield where, header, "".join(lines)
            where, header, lines = f"{path}, line {number}", line[1:].strip(), []
        else:
            lines.append("".join(line.split()))
    yield where, header, "".join(lines)


def _record(where: str, header: str, written: str) -> Record | None:
    fields = [field.strip() for field in header.split("|")]
    names = [field.split()[0] if field else "" for field in fields]
    at = next((i for i, name in enumerate(names) if gene_name(name)), None)
    gene = None if at is None else gene_name(names[at])
    if at is None or gene is None or _is_of_another_region(fields[at + 1 :]):
        return None
    gapped = _GAPS.search(written) and gene.region == "V"
    return Record(
        name=names[at],
        gene=gene,
        sequence=_letters(written),
        where=where,
        species=fields[at + 1] if len(fields) > at + 1 else "",
        column=len(_letters(written[:CYS_104])) if gapped else None,
        frame=_frame(fields),
    )


def _is_of_another_region(fields: list[str]) -> bool:
    """Say whether a record has no V-, D- or J-REGION, but an exon with the leader, or the like."""
    labels = [field for field in fields if _LABEL.search(field)]
    return bool(labels) and not any(_REGION.search(label) for label in labels)


def _letters(written: str) -> str:
    return _GAPS.sub("", written).upper().replace("U", "T")


def _frame(fields: list[str]) -> int | None:
    text = fields[_FRAME] if len(fields) > _FRAME else ""
    return int(text) - 1 if text in ("1", "2", "3") else None
