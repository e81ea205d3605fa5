"""Kernels over bytes: lines to fields, fields to Arrow strings, junctions, numbers.

Arrow's streaming CSV reader does not number the rows that it rejects, nor rows after comments
and empty lines, and one invalid byte aborts the file.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.nucleotides.alphabet import SETS
from gangsaw.codecs.core.nucleotides.codes import SET_OF_LETTER
from gangsaw.codecs.core.numba.jit import jit

Bytes = NDArray[np.uint8]
Indices = NDArray[np.int32] | NDArray[np.int64]
QUOTE, NEWLINE, RETURN, HASH = 34, 10, 13, 35
NOT_CLOSED = -1  # instead of a number of fields
PLAIN, EMPTY, ODD = 0, 1, 2  # spelling of a number
PLAIN_DIGITS = 18  # values always below 2**63
CYS, PHE_TRP = 1, 2  # bits of the anchor codons of a junction


def _build_nucleotide_table() -> Bytes:
    """Return a table (256,) of bytes: nucleotides in upper case, T for U, "?" for non-ASCII."""
    table = np.arange(256, dtype=np.uint8)
    for letter in SETS:
        table[ord(letter.lower())] = ord(letter)
    table[[ord("u"), ord("U")]] = ord("T")  # otherwise RNA and DNA would be two nucleotypes
    table[128:] = ord("?")
    return table


SAME: Bytes = np.arange(256, dtype=np.uint8)
NUCLEOTIDES = _build_nucleotide_table()


class TextColumns(NamedTuple):
    """Columns of a text table.

    Attributes
    ----------
    delimiter : byte between two fields
    width : fields of a row
    slots : (width,) int32, row of `LineFields.starts` and `ends` for each column, -1 for unused
        ones
    """

    delimiter: int
    width: int
    slots: NDArray[np.int32]


class LineFields(NamedTuple):
    """Lines found by `split_lines`, and their requested fields.

    Attributes
    ----------
    starts, ends : (wanted, capacity) int32: offsets of fields in the text
    lines : (capacity,) int64: numbers of lines
    n_fields : (capacity,) int32: number of fields of the line, or NOT_CLOSED. If this is not the
        width of the table, all fields are empty
    """

    starts: NDArray[np.int32]
    ends: NDArray[np.int32]
    lines: NDArray[np.int64]
    n_fields: NDArray[np.int32]


@jit(norefs=True)
def split_lines(
    text: Bytes, at: int, line: int, columns: TextColumns, out: LineFields
) -> tuple[int, int, int]:
    """Find the requested fields of each line from `at` on, until the text ends or `out` is full.

    A line ends with LF or CR LF even within quotes, so that an unclosed quote costs one line. Empty
    lines, and lines that begin with # and have another width, are no rows.

    Parameters
    ----------
    text : bytes of whole lines
    at, line : offset of the first line, and number of the line before it
    columns : requested fields
    out : output

    Returns
    -------
    number of rows, offset of the next line, number of the last line
    """
    rows, size = 0, len(text)
    while at < size and rows < len(out.lines):
        line += 1
        first = at
        found, at, closed = _find_fields(text, at, columns, out, rows)
        at = _newline(text, at) + 1
        if not _is_row(text, first, found, columns.width):
            continue
        out.lines[rows] = line
        out.n_fields[rows] = found if closed else NOT_CLOSED
        if out.n_fields[rows] != columns.width:
            out.starts[:, rows] = 0
            out.ends[:, rows] = 0
        rows += 1
    return rows, min(at, size), line


@jit(inline=True, part=True, norefs=True)
def _find_fields(
    text: Bytes, at: int, columns: TextColumns, out: LineFields, row: int
) -> tuple[int, int, bool]:
    """Find the requested fields of a line.

    Returns
    -------
    number of fields, end of the last one, True if its quote is closed
    """
    size, found = len(text), 0
    while True:
        begin, end, at, closed = _find_field(text, at, columns.delimiter)
        slot = columns.slots[found] if found < columns.width else -1
        if slot >= 0:
            out.starts[slot, row] = begin
            out.ends[slot, row] = end
        found += 1
        if not closed or at >= size or text[at] == NEWLINE:
            return found, at, closed
        at += 1


@jit(inline=True, part=True)
def _find_field(text: Bytes, at: int, delimiter: int) -> tuple[int, int, int, bool]:
    """Return start and end of a field, the position after it, and True if its quote closes."""
    size = len(text)
    if at < size and text[at] == QUOTE:
        end = _closing_quote(text, at + 1)
        if end >= size or text[end] != QUOTE:
            return at + 1, end, end, False
        after = _line_end(text, end + 1)
        closed = after >= size or text[after] == NEWLINE or text[after] == delimiter
        return at + 1, end, after, closed
    end = at
    while end < size and text[end] != delimiter and text[end] != NEWLINE:
        end += 1
    if end > at and text[end - 1] == RETURN and (end == size or text[end] == NEWLINE):
        return at, end - 1, end, True
    return at, end, end, True


@jit(inline=True, part=True)
def _newline(text: Bytes, at: int) -> int:
    """Return the position of the next line feed, or the end of the text."""
    size = len(text)
    while at < size and text[at] != NEWLINE:
        at += 1
    return at


@jit(inline=True, part=True)
def _is_row(text: Bytes, first: int, found: int, width: int) -> bool:
    """Return True if the line at `first`, with `found` fields, is neither empty nor a comment."""
    end = _line_end(text, first)
    if end >= len(text) or text[end] == NEWLINE:
        return False
    return bool(text[first] != HASH or found == width)


@jit(part=True)
def _closing_quote(text: Bytes, at: int) -> int:
    """Return the position of the closing quote, or the end of the line; two quotes escape one."""
    size = len(text)
    while at < size and text[at] != NEWLINE:
        if text[at] == QUOTE:
            if at + 1 >= size or text[at + 1] != QUOTE:
                break
            at += 1
        at += 1
    return at


@jit(part=True)
def _line_end(text: Bytes, at: int) -> int:
    """Return `at`, or the position after the CR of a CR LF."""
    size = len(text)
    if at < size and text[at] == RETURN and (at + 1 == size or text[at + 1] == NEWLINE):
        return at + 1
    return at


@jit
def gather_fields(
    text: Bytes, starts: Indices, ends: Indices, table: Bytes, quoted: bool
) -> tuple[NDArray[np.int32], Bytes, np.uint8]:
    """Concatenate fields of `text`, each byte mapped by `table`.

    With `quoted`, two quotes become one in fields that follow a quote.

    Returns
    -------
    offsets (n + 1,) int32, data uint8, bitwise or of all copied bytes
    """
    total = 0
    for row in range(len(starts)):
        total += ends[row] - starts[row]
    offsets = np.empty(len(starts) + 1, np.int32)
    data = np.empty(total, np.uint8)
    to, bits = 0, np.uint8(0)
    offsets[0] = 0
    for row in range(len(starts)):
        at, end = starts[row], ends[row]
        if quoted and at > 0 and text[at - 1] == QUOTE:
            while at < end:
                data[to] = table[text[at]]
                bits |= data[to]
                at += 2 if text[at] == QUOTE else 1
                to += 1
        else:
            for byte in text[at:end]:
                data[to] = table[byte]
                bits |= data[to]
                to += 1
        offsets[row + 1] = to
    return offsets, data[:to], bits


@jit
def junction_inside(
    offsets: NDArray[np.int32],
    data: Bytes,
    starts: NDArray[np.int32],
    ends: NDArray[np.int32],
    anchors: Bytes,
) -> None:
    """Find the CDR3 between the first and the last codon of each junction, and its anchors.

    Parameters
    ----------
    offsets, data : n strings
    starts, ends : (n,) int32
        Output: range of the CDR3; empty for junctions of six nucleotides or fewer.
    anchors : (n,) uint8
        Output: CYS | PHE_TRP, for codons that can be read so.
    """
    for row in range(len(starts)):
        at, end = offsets[row], offsets[row + 1]
        starts[row], ends[row] = at, at
        anchors[row] = 0
        if end - at <= 6:
            continue
        starts[row], ends[row] = at + 3, end - 3
        if _may_be(data, at, 2, 8, 6):
            anchors[row] |= CYS
        if _may_be(data, end - 3, 2, 2, 6) or _may_be(data, end - 3, 2, 8, 8):
            anchors[row] |= PHE_TRP


@jit(part=True)
def _may_be(data: Bytes, at: int, first: int, second: int, third: int) -> bool:
    """Return True if a codon is compatible with three sets of nucleotides."""
    one, two, three = (
        SET_OF_LETTER[data[at]],
        SET_OF_LETTER[data[at + 1]],
        SET_OF_LETTER[data[at + 2]],
    )
    return bool(one & first and two & second and three & third)


@jit
def whole_numbers(
    offsets: NDArray[np.int32], data: Bytes, values: NDArray[np.int64], written: Bytes
) -> None:
    """Parse n strings of 1..18 digits to `values`; set `written` to PLAIN, EMPTY or ODD."""
    for row in range(len(values)):
        value = 0
        length = offsets[row + 1] - offsets[row]
        written[row] = EMPTY if length == 0 else PLAIN if length <= PLAIN_DIGITS else ODD
        if written[row] == PLAIN:
            for byte in data[offsets[row] : offsets[row + 1]]:
                if byte < 48 or byte > 57:
                    written[row] = ODD
                value = value * 10 + byte - 48
        values[row] = value
