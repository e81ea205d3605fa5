"""Streams of requested columns from text tables, with the number of each line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.extras import extras_named

with extras_named():
    import pyarrow as pa
    import pyarrow.compute as pc

from gangsaw.tasks.tcr.repertoire.tables.header import MAX_LINE, Header
from gangsaw.tasks.tcr.repertoire.tables.kernels import (
    NOT_CLOSED,
    SAME,
    Bytes,
    LineFields,
    TextColumns,
    gather_fields,
    split_lines,
)
from gangsaw.tasks.tcr.repertoire.tables.opened import Damaged, TextStream, open_decompressed
from gangsaw.tasks.tcr.repertoire.tables.strings import strings

BLOCK_BYTES = MAX_LINE  # bytes per read: a block without a line end shows that the line is too long
BLOCK_ROWS = 1 << 14


@dataclass(frozen=True)
class Fields:
    """Requested columns of a block of lines.

    Attributes
    ----------
    lines : (n,) int64, 1-based
    columns : column name -> string array (n,)
    ragged : (n,) string array: fault of the line itself, or ""
    not_utf8 : (n,) string array: name of a column that is not UTF-8, or ""
    """

    lines: npt.NDArray[np.int64]
    columns: dict[str, pa.Array]
    ragged: pa.Array
    not_utf8: pa.Array


def _line_fields(wanted: int) -> LineFields:
    """Return output arrays of `split_lines` for `wanted` fields of a block of lines."""
    # zeros, since a column absent in all rows has no slot and must be empty
    starts, ends = np.zeros((2, wanted, BLOCK_ROWS), np.int32)
    return LineFields(starts, ends, np.empty(BLOCK_ROWS, np.int64), np.empty(BLOCK_ROWS, np.int32))


class TextTable:
    """Text table in a file, compressed or not.

    Parameters
    ----------
    path : file of the table
    header : result of `parse_table_header`
    wanted : names of the columns to read
    keep_going : True if damaged data end the table instead of raising
    """

    def __init__(self, path: Path, header: Header, wanted: list[str], keep_going: bool) -> None:
        self._path, self._header, self._wanted = path, header, wanted
        self._keep_going = keep_going
        self.failure = ""
        self._line = 0
        slots = np.full(header.width, -1, np.int32)
        for slot, name in enumerate(wanted):
            if (column := header.names.index(name) + header.shift) < header.width:
                slots[column] = slot
        self._columns = TextColumns(ord(header.delimiter), header.width, slots)

    def __iter__(self) -> Iterator[Fields]:
        """Yield the rows in blocks.

        Raises
        ------
        Damaged : compressed data are damaged; raised after all valid rows, and not with keep_going
        BadParams : the file cannot be read any more
        """
        self._line, self.failure = self._header.line, ""
        out = _line_fields(len(self._wanted))
        with open_decompressed(self._path) as stream:
            try:
                _skip(stream, self._header.end)
                for block in read_line_blocks(stream):
                    yield from self._split(block, out)
            except OSError as error:
                raise BadParams(f"{self._path}: {error.strerror or error}") from None
            except Damaged as error:
                self.failure = f"{error}; {self._line} lines were read"
        if self.failure and not self._keep_going:
            raise Damaged(
                f"{self._path}: {self.failure}. Copy it again, or keep going with what there is"
            )

    def _split(self, block: bytes, out: LineFields) -> Iterator[Fields]:
        if not block:  # stands for a line that is too long
            self._line += 1
            yield self._refused(f"longer than {MAX_LINE} bytes")
            return
        text, at = np.frombuffer(block, np.uint8), 0
        while at < len(text):
            rows, at, self._line = split_lines(text, at, self._line, self._columns, out)
            if rows:
                yield self._fields(text, out, rows)

    def _fields(self, text: Bytes, found: LineFields, rows: int) -> Fields:
        columns, not_utf8 = {}, pa.repeat("", rows)
        for slot, name in enumerate(self._wanted):
            starts, ends = found.starts[slot, :rows], found.ends[slot, :rows]
            offsets, data, bits = gather_fields(text, starts, ends, SAME, True)
            column = strings(offsets, data)
            if bits >= 128:
                column, not_utf8 = _checked(column, name, not_utf8)
            columns[name] = column
        ragged = self._ragged(found.n_fields[:rows])
        return Fields(found.lines[:rows].copy(), columns, ragged, not_utf8)

    def _ragged(self, found: npt.NDArray[np.int32]) -> pa.Array:
        wrong = found != self._header.width
        if not wrong.any():
            return pa.repeat("", len(found))
        texts = np.full(len(found), "", object)
        for count in np.unique(found[wrong]).tolist():
            texts[found == count] = (
                "a quote is not closed"
                if count == NOT_CLOSED
                else f"{count} fields, not {self._header.width}"
            )
        return pa.array(texts, pa.string())

    def _refused(self, why: str) -> Fields:
        columns = {name: pa.array([""]) for name in self._wanted}
        return Fields(np.array([self._line]), columns, pa.array([why]), pa.array([""]))


def read_line_blocks(stream: TextStream) -> Iterator[bytes]:
    """Yield blocks of whole lines; an empty one stands for a line longer than MAX_LINE.

    A last line without a line end is complete, unless the data are damaged.
    """
    rest, skipping = b"", False
    for piece in _pieces(stream):
        if skipping:
            end = piece.find(b"\n") + 1
            piece, skipping = piece[end:] if end else b"", not end
        cut = piece.rfind(b"\n") + 1
        if not cut:
            rest += piece
        else:
            first = piece.find(b"\n") + 1
            if len(rest) + first > MAX_LINE:
                yield b""
                rest, piece, cut = b"", piece[first:], cut - first
            if cut:
                yield rest + piece[:cut]
            rest = piece[cut:]
        if len(rest) > MAX_LINE:
            yield b""
            rest, skipping = b"", True
    if rest:
        yield rest


def _pieces(stream: TextStream) -> Iterator[bytes]:
    """Yield BLOCK_BYTES at a time: reads of bgzip return 64 KiB, too few for a block."""
    waiting: list[bytes] = []
    try:
        while piece := stream.read(BLOCK_BYTES - sum(map(len, waiting))):
            waiting.append(piece)
            if sum(map(len, waiting)) == BLOCK_BYTES:
                yield b"".join(waiting)
                waiting = []
    except Damaged:
        yield b"".join(waiting)
        raise
    yield b"".join(waiting)


def _skip(stream: TextStream, size: int) -> None:
    while size and (piece := stream.read(size)):
        size -= len(piece)


def _checked(column: pa.Array, name: str, not_utf8: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Return the column with invalid UTF-8 replaced by "", and `not_utf8` with its name there."""
    raw = column.view(pa.binary()).to_pylist()
    wrong = np.array([not _is_utf8(field) for field in raw])
    if not wrong.any():
        return column, not_utf8
    texts = ["" if bad else field.decode() for bad, field in zip(wrong, raw, strict=True)]
    return pa.array(texts, pa.string()), pc.if_else(pa.array(wrong), name, not_utf8)


def _is_utf8(field: bytes) -> bool:
    try:
        field.decode()
    except UnicodeDecodeError:
        return False
    return True
