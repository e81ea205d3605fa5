"""Germline genes from tables, and tables of anchors: TSV, CSV or with semicolons."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.tcr.germline.names import gene_name, is_constant
from gangsaw.tasks.tcr.germline.parts import Record
from gangsaw.tasks.tcr.germline.text import read_decompressed_text

# names of each column in any case; the first name in the header wins
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "name": ("allele", "gene", "name", "gene_name", "id"),
    "species": ("organism", "species"),
    "part": ("cdr3_part", "part"),
    "sequence": ("germline", "sequence", "nucleotides", "nuc", "seq"),
    "anchor": ("anchor_index", "anchor_nt0", "anchor", "cdr3_anchor"),
    "status": ("status",),
}
_FINE = ("", "ok")  # values of the status of usable genes


class NoColumns(BadParams):
    """Error: the header lacks required columns."""


class GeneRow(NamedTuple):
    """Row of a table by column role, with its location for messages."""

    where: str
    cells: dict[str, str]


def read_gene_table(path: Path, text: str) -> list[Record]:
    """Return the V, D and J genes of a table.

    Columns may have any order and case; others are ignored. The name is required (`allele`, `gene`,
    `name`, `gene_name` or `id`). So is the part in the CDR3 (`cdr3_part` or `part`) or the whole
    gene (`germline`, `sequence`, `nucleotides`, `nuc` or `seq`). Optional are `organism` or
    `species`; the anchor (`anchor_index`, `anchor_nt0`, `anchor` or `cdr3_anchor`), the 0-based
    position of the Cys or Phe/Trp codon in the whole gene; and `status`. Genes with a status other
    than "ok" or "" are left out.

    Raises
    ------
    BadParams : columns are missing, a name is invalid, an anchor is no number
    """
    rows = table_rows(path, text, need=[("name",), ("part", "sequence")])
    return [_record(row) for row in rows if not is_constant(row.cells["name"])]


def read_anchors(paths: Sequence[Path]) -> dict[str, int]:
    """Return the anchors of genes from tables with columns `gene` and `anchor_index`, as in olga.

    Raises
    ------
    BadParams : a file does not exist, columns are missing, a name is invalid, an anchor is no
        number, or two rows have different anchors for one gene
    """
    anchors: dict[str, int] = {}
    for path in paths:
        for row in table_rows(path, read_decompressed_text(path), need=[("name",), ("anchor",)]):
            name, at = row.cells["name"], _number(row)
            if at is not None and anchors.setdefault(name, at) != at:
                raise BadParams(f"{row.where}: {name} has another anchor, {at}, than before")
    return anchors


def _record(row: GeneRow) -> Record:
    cells = row.cells
    gene = gene_name(cells["name"])
    if gene is None:
        raise BadParams(f"{row.where}: {cells['name']!r} is no name of a gene such as TRBV6-2*01")
    is_part = "part" in cells
    status = cells.get("status", "")
    return Record(
        name=cells["name"],
        gene=gene,
        sequence=(cells["part"] if is_part else cells["sequence"]).upper().replace("U", "T"),
        where=row.where,
        species=cells.get("species", ""),
        anchor=None if is_part else _number(row),
        is_part=is_part,
        flaw="" if status.lower() in _FINE else f"its status is {status}",
        whole=cells.get("sequence", "").upper().replace("U", "T"),
    )


def _number(row: GeneRow) -> int | None:
    text = row.cells.get("anchor", "")
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise BadParams(f"{row.where}: an anchor counts nucleotides from 0, got {text!r}")
    return int(text)


def table_rows(
    path: Path,
    text: str,
    need: Sequence[tuple[str, ...]],
    names: Mapping[str, tuple[str, ...]] = _COLUMNS,
) -> Iterator[GeneRow]:
    """Yield the rows of a table, except empty ones.

    Parameters
    ----------
    path, text : path and content of the file
    need : groups of roles; one role of each group must have a column
    names : possible column names of each role; the first in the header wins

    Raises
    ------
    `NoColumns` : the header lacks a required column
    BadParams : a row has too few cells, or an unterminated quote
    """
    lines = text.split("\n")
    columns = _sniffed(path, lines[0], need, names)
    reader = csv.reader(lines[1:], delimiter=_delimiter(lines[0]))
    try:
        for cells in reader:
            if any(cells):
                yield _row(f"{path}, line {reader.line_num + 1}", cells, columns)
    except csv.Error as error:
        raise BadParams(f"{path}, line {reader.line_num + 1}: {error}") from None


def _row(where: str, cells: list[str], columns: dict[str, int]) -> GeneRow:
    if len(cells) <= max(columns.values()):
        raise BadParams(f"{where}: {len(cells)} cells, fewer than the header names columns")
    return GeneRow(where, {role: cells[i].strip() for role, i in columns.items()})


def _sniffed(
    path: Path,
    header: str,
    need: Sequence[tuple[str, ...]],
    known: Mapping[str, tuple[str, ...]],
) -> dict[str, int]:
    """Return role -> column index in the header of a table with any usual delimiter.

    Raises `NoColumns` if a column for one of the `need` roles is missing.
    """
    there = [name.strip().strip('"').lower() for name in header.split(_delimiter(header))]
    found = {
        role: there.index(name)
        for role, names in known.items()
        if (name := next((name for name in names if name in there), ""))
    }
    for roles in need:
        if not any(role in found for role in roles):
            names = " or ".join(name for role in roles for name in known[role])
            raise NoColumns(f"{path}: its first line names no column {names}")
    return found


def _delimiter(header: str) -> str:
    return max("\t,;", key=header.count)
