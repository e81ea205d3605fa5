"""Opening of repertoire files in any format, recognised by content."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.options import none_of
from gangsaw.tasks.tcr.model import LOCI
from gangsaw.tasks.tcr.repertoire.formats.airr import AIRR
from gangsaw.tasks.tcr.repertoire.formats.format import (
    NEEDED,
    ROLES,
    RepertoireFormat,
    list_columns,
)
from gangsaw.tasks.tcr.repertoire.formats.generic import generic
from gangsaw.tasks.tcr.repertoire.formats.imgt import IMGT
from gangsaw.tasks.tcr.repertoire.formats.immunarch import IMMUNARCH
from gangsaw.tasks.tcr.repertoire.formats.immunoseq import IMMUNOSEQ
from gangsaw.tasks.tcr.repertoire.formats.mixcr import MIXCR
from gangsaw.tasks.tcr.repertoire.formats.rtcr import RTCR
from gangsaw.tasks.tcr.repertoire.formats.tcrdist import tcrdist
from gangsaw.tasks.tcr.repertoire.formats.tenx import TENX
from gangsaw.tasks.tcr.repertoire.formats.vdjtools import VDJTOOLS
from gangsaw.tasks.tcr.repertoire.rows import (
    BATCH_ROWS,
    RowDefaults,
    build_repertoire_rows,
    rebatched,
)
from gangsaw.tasks.tcr.repertoire.tables.header import MAX_LINE, Header, Names, parse_table_header
from gangsaw.tasks.tcr.repertoire.tables.numbers import n_missing
from gangsaw.tasks.tcr.repertoire.tables.opened import PARQUET, magic, text_head
from gangsaw.tasks.tcr.repertoire.tables.parquet import ParquetTable, parquet_names
from gangsaw.tasks.tcr.repertoire.tables.text import Fields, TextTable

if TYPE_CHECKING:
    import pyarrow as pa

RESEMBLING = 3  # matching columns from which on a table of no known format is assumed to have one
SUFFIXES = {".gz", ".bgz", ".bz2", ".xz", ".zst", ".tsv", ".csv", ".txt", ".parquet", ".pq"}


class Repertoire:
    """Rows of a repertoire file; each iteration reads the file again.

    Attributes
    ----------
    format : name of the format recognised by its columns
    columns : role -> column name
    notes : messages about assumptions
    without_copies : rows of the last iteration without a number of copies, if there is such a
        column
    """

    def __init__(
        self,
        table: TextTable | ParquetTable,
        kind: RepertoireFormat,
        columns: dict[str, str],
        defaults: RowDefaults,
        notes: Names = (),
    ):
        self.format, self.columns, self.notes = kind.name, columns, notes
        self.without_copies = 0
        self._table, self._kind, self._defaults = table, kind, defaults

    @property
    def failure(self) -> str:
        """Message of the damage at which the last iteration stopped, with keep_going; else ""."""
        return str(self._table.failure)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Yield batches of the schema ROWS, of 65,536 rows, fewer if rows are long.

        Raises
        ------
        BadParams : the file is damaged or has changed
        """
        return rebatched(self._rows(), BATCH_ROWS)

    def _rows(self) -> Iterator[pa.RecordBatch]:
        self.without_copies = 0
        for fields in self._table:
            read = {role: fields.columns[name] for role, name in self.columns.items()}
            prepared = self._kind.prepare(read)
            if (written := prepared.get("copies")) is not None:
                self.without_copies += n_missing(written)
            yield build_repertoire_rows(fields, prepared, self._defaults)


def open_repertoire(
    path: str | Path,
    *,
    locus: str,
    columns: Mapping[str, str] | None = None,
    sample: str | None = None,
    keep_going: bool = False,
) -> Repertoire:
    """Open a file of rearrangements, whose format is recognised by its columns.

    The formats are AIRR (TSV, CSV, Parquet), VDJtools, immunoSEQ, 10x contig annotations, MiXCR,
    immunarch, RTCR, IMGT/HighV-QUEST, tcrdist, and any table with named columns. Files can be
    compressed with gzip, bgzip, bzip2, xz or Zstandard.

    Parameters
    ----------
    path : repertoire file
    locus : one of LOCI; rows of other loci are dropped with that reason. In a paired table, it
        selects the chain
    columns : role -> column; the roles are junction (with the codons of Cys and Phe/Trp) or cdr3
        (without), v, d, j, copies, id, sample, locus, productive. Required for a table of no known
        format; overrides the columns of a known format
    sample : sample of rows that name none; by default the file's name without suffixes
    keep_going : read damaged compressed data up to the damage instead of raising

    Raises
    ------
    BadParams : the file does not exist, is no table or of no known format, or lacks a column
    """
    path = Path(path)
    if locus not in LOCI:
        raise none_of("locus", LOCI, locus)
    defaults = RowDefaults(locus, sample_name(path) if sample is None else sample)
    known = (VDJTOOLS, AIRR, TENX, IMMUNOSEQ, MIXCR, IMMUNARCH, RTCR, IMGT, tcrdist(locus))
    if magic(path).startswith(PARQUET):
        names = parquet_names(path)
        kind = recognised(path, names, known, columns or {})
        roles = kind.chosen(names, path)
        return Repertoire(ParquetTable(path, _distinct(roles)), kind, roles, defaults)
    header = read_table_header(path, known)
    kind = recognised(path, header.names, known, columns or {})
    roles = kind.chosen(header.names, path)
    table = TextTable(path, header, _distinct(roles), keep_going)
    return Repertoire(table, kind, roles, defaults, header.notes)


@dataclass(frozen=True)
class WholeTable:
    """All columns of a file, as text.

    Attributes
    ----------
    names : distinct names of its columns
    table : table of text or Parquet
    """

    names: Names
    table: TextTable | ParquetTable

    def __iter__(self) -> Iterator[Fields]:
        """Yield the rows in blocks."""
        return iter(self.table)


def whole_table(path: Path) -> WholeTable:
    """Open a file in AIRR format with all its columns.

    Raises
    ------
    BadParams : the file is no table, or damaged
    """
    if magic(path).startswith(PARQUET):
        names = parquet_names(path)
        return WholeTable(names, ParquetTable(path, list(names)))
    header = read_table_header(path, (AIRR,))
    names = tuple(dict.fromkeys(name for name in header.names if name))
    return WholeTable(names, TextTable(path, header, list(names), keep_going=False))


def read_table_header(path: Path, known: tuple[RepertoireFormat, ...]) -> Header:
    """Return the header of a text file.

    Raises
    ------
    BadParams : the file has no header
    """
    return parse_table_header(
        text_head(path, MAX_LINE),
        path,
        lambda names: any(kind.recognises(names) for kind in known),
        lambda names: any(kind.resembles(names) >= RESEMBLING for kind in known),
    )


def recognised(
    path: Path, names: Names, known: tuple[RepertoireFormat, ...], columns: Mapping[str, str]
) -> RepertoireFormat:
    """Return the format of a table with these columns; `columns` overrides some of them.

    Raises
    ------
    BadParams : the format is unknown, and `columns` lacks required roles
    """
    if wrong := sorted(set(columns) - set(ROLES)):
        raise BadParams(f"columns hold {', '.join(ROLES)}; not {', '.join(wrong)}")
    if all(any(role in columns for role in alternatives) for alternatives in NEEDED):
        return generic(columns)
    for kind in known:
        if kind.recognises(names):
            return _replaced(kind, columns)
    nearest = max(known, key=lambda kind: kind.resembles(names))
    if nearest.resembles(names) >= RESEMBLING:
        return _replaced(nearest, columns)  # its error names the missing column
    formats = ", ".join(kind.name for kind in known)
    raise BadParams(
        f"{path} is of no known format ({formats}): name the columns that hold junction or cdr3, "
        f"v and j. It has {list_columns(names)}"
    )


def sample_name(path: Path) -> str:
    """Return the file's name without suffixes: A2-i129 for A2-i129.txt.gz."""
    while path.suffix.lower() in SUFFIXES and path.stem:
        path = path.with_suffix("")
    return path.name


def _replaced(kind: RepertoireFormat, columns: Mapping[str, str]) -> RepertoireFormat:
    taken = dict(kind.columns)
    if {"junction", "cdr3"} & set(columns):  # otherwise the format's column could win
        taken.pop("junction", None)
        taken.pop("cdr3", None)
    asked = {role: (name.lower(),) for role, name in columns.items()}
    # a column that the user names is required, even if the format's is optional: otherwise all rows
    # would silently get the wrong sample
    return replace(kind, columns=taken | asked, needed=(*kind.needed, *((role,) for role in asked)))


def _distinct(roles: dict[str, str]) -> list[str]:
    return list(dict.fromkeys(roles.values()))
