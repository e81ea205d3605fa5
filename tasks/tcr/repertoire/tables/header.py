"""Header of a text table: column names, found after comments, with any delimiter."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from gangsaw.codecs.core.errors import BadParams

MAX_LINE = 1 << 20  # bytes: longer lines are dropped, and never in memory as a whole
SNIFFED_LEAST, SNIFFED_MOST = 5, 1000  # rows from which a file's width is inferred, if all agree
UTF8_BOM, UTF16_BOMS = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")
Names = tuple[str, ...]


@dataclass(frozen=True)
class Header:
    """Header of a text table: its columns, and the position of the first row.

    Attributes
    ----------
    names : names in the file, without a leading # and spaces
    delimiter : one character
    line, end : number of the header line, and offset in bytes of the line after it
    width : number of fields of a row
    shift : field of the first column: 1 if rows begin with a name that has no column
    notes : messages about assumptions
    """

    names: Names
    delimiter: str
    line: int
    end: int
    width: int
    shift: int = 0
    notes: tuple[str, ...] = ()


def parse_table_header(
    head: bytes,
    path: Path,
    known: Callable[[Names], bool],
    resembles: Callable[[Names], bool] = lambda names: False,
) -> Header:
    """Return the header in the first bytes of a file.

    The header is the first line that is neither empty nor a comment, or a comment whose names are
    `known`: VDJtools begins its header with #. A comment that only `resembles` a header is accepted
    if the next line has as many fields. Then the error names the header, not the first row.

    Raises
    ------
    BadParams : there is no header, or the file is empty, binary, UTF-16 or has one line only
    """
    _refuse_no_text(head, path)
    end = len(UTF8_BOM) if head.startswith(UTF8_BOM) else 0
    for line, raw in enumerate(head[end:].split(b"\n"), 1):
        end += len(raw) + 1
        if end > len(head) >= MAX_LINE:
            break  # truncated line
        names, delimiter = _names(raw, path)
        is_header = not raw.startswith(b"#") or known(names)
        if not is_header and resembles(names):
            is_header = _is_above_row(head[end:], delimiter, len(names))
        if any(names) and is_header:
            header = Header(names, delimiter, line, min(end, len(head)), len(names))
            fitted = _with_width_of_rows(header, head[end:])
            # never drop columns that identify the format: such rows are ragged instead
            return header if known(names) and not known(fitted.names) else fitted
    raise BadParams(f"{path} holds no table: no header in its first {MAX_LINE} bytes")


def _is_above_row(rest: bytes, delimiter: str, width: int) -> bool:
    row = rest.partition(b"\n")[0]
    return not row.startswith(b"#") and _width(row, delimiter) == width


def _refuse_no_text(head: bytes, path: Path) -> None:
    if not head:
        raise BadParams(f"{path} is empty")
    if head.startswith(UTF16_BOMS):
        raise BadParams(f"{path} is UTF-16: save it as UTF-8")
    if b"\r" in head and b"\n" not in head:
        raise BadParams(f"{path} has lines that end with CR alone: convert it to LF")


def _names(raw: bytes, path: Path) -> tuple[Names, str]:
    """Return the fields of a header line, and the delimiter that gives the most fields."""
    if b"\0" in raw:
        raise BadParams(f"{path} is binary, no table of text")
    try:
        text = raw.decode().strip("\r")
    except UnicodeDecodeError:
        raise BadParams(f"{path} is no table of text in UTF-8") from None
    delimiter = max("\t,;", key=text.count)
    try:
        fields = next(csv.reader([text.lstrip("#")], delimiter=delimiter), [])
    except csv.Error as error:
        raise BadParams(f"{path} holds no table: {error}") from None
    return tuple(field.strip() for field in fields), delimiter


def _with_width_of_rows(header: Header, rest: bytes) -> Header:
    """Return the header with another width, if all first rows agree on one.

    Some programs omit the last empty columns; R writes row names without a column.
    """
    rows = rest.split(b"\n")[:-1][:SNIFFED_MOST]  # the last may be truncated
    rows = [row for row in rows if row.rstrip(b"\r") and not row.startswith(b"#")]
    widths = {_width(row, header.delimiter) for row in rows}
    if len(rows) < SNIFFED_LEAST or len(widths) != 1:
        return header
    (width,) = widths
    named = len(header.names)
    if width < named:
        note = f"rows end after {width} of {named} columns: the others are taken as absent"
        return replace(header, width=width, names=header.names[:width], notes=(note,))
    if width == named + 1:
        at_end = all(row.rstrip(b"\r").endswith(header.delimiter.encode()) for row in rows)
        note = f"rows have a field without a column at their {'end' if at_end else 'begin'}"
        return replace(header, width=width, shift=0 if at_end else 1, notes=(note,))
    return header


def _width(row: bytes, delimiter: str) -> int:
    if b'"' not in row:
        return row.count(delimiter.encode()) + 1
    try:
        return len(next(csv.reader([row.decode("latin-1")], delimiter=delimiter), []))
    except csv.Error:
        return 0
