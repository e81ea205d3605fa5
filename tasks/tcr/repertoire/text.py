"""Text tables as a stream of their wanted columns, with the number of each line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.tcr.extra import extra_needed

with extra_needed():
    import pyarrow as pa
    import pyarrow.compute as pc

from gangsaw.tasks.tcr.repertoire.header import MAX_LINE, Header
from gangsaw.tasks.tcr.repertoire.kernels import NOT_CLOSED, SAME, gather, split_lines
from gangsaw.tasks.tcr.repertoire.opened import Damaged, TextStream, opened
from gangsaw.tasks.tcr.repertoire.strings import strings

BLOCK_BYTES = MAX_LINE  # read at a time: longer lines are seen by their ends being in others
BLOCK_ROWS = 1 << 14


@dataclass(frozen=True)
class Fields:
    """The wanted columns of some lines.

    Attributes
    ----------
    lines : (n,) int64, from 1
    columns : name of a column -> string array (n,)
    ragged : string array (n,): what is wrong with the line itself, "" where nothing
    not_utf8 : string array (n,): the column that is not UTF-8, "" where all are
    """

    lines: npt.NDArray[np.int64]
    columns: dict[str, pa.Array]
    ragged: pa.Array
    not_utf8: pa.Array


class _Buffers:
    """Places of fields, from kernels; reused, as new pages cost more than the splitting."""

    def __init__(self, wanted: int) -> None:
        # zeros: a column that all rows leave out has no slot, and is empty
        self.places = np.zeros((2, wanted, BLOCK_ROWS), np.int32)
        self.lines = np.empty(BLOCK_ROWS, np.int64)
        self.found = np.empty(BLOCK_ROWS, np.int32)


class TextTable:
    """A table of text in a file, maybe compressed.

    Parameters
    ----------
    path : the file
    header : of `find_header`
    wanted : names of the columns to read
    keep_going : whether data that are damaged end the table, and no error
    """

    def __init__(self, path: Path, header: Header, wanted: list[str], keep_going: bool) -> None:
        self._path, self._header, self._wanted = path, header, wanted
        self._keep_going = keep_going
        self.failure = ""
        self._line = 0
        self._slots = np.full(header.width, -1, np.int32)
        for slot, name in enumerate(wanted):
            if (column := header.names.index(name) + header.shift) < header.width:
                self._slots[column] = slot

    def __iter__(self) -> Iterator[Fields]:
        """Return the rows, a block of the file at a time.

        Raises
        ------
        Damaged : compressed data are damaged, after all rows before; not with keep_going
        BadParams : the file cannot be read any more
        """
        self._line, self.failure = self._header.line, ""
        scratch = _Buffers(len(self._wanted))
        with opened(self._path) as stream:
            try:
                _skip(stream, self._header.end)
                for block in blocks(stream):
                    yield from self._split(block, scratch)
            except OSError as error:
                raise BadParams(f"{self._path}: {error.strerror or error}") from None
            except Damaged as error:
                self.failure = f"{error}; {self._line} lines were read"
        if self.failure and not self._keep_going:
            raise Damaged(
                f"{self._path}: {self.failure}. Copy it again, or keep going with what there is"
            )

    def _split(self, block: bytes, scratch: _Buffers) -> Iterator[Fields]:
        if not block:  # in place of a line too long
            self._line += 1
            yield self._refused(f"longer than {MAX_LINE} bytes")
            return
        text, at = np.frombuffer(block, np.uint8), 0
        width, delimiter = self._header.width, ord(self._header.delimiter)
        starts, ends = scratch.places
        lines, found = scratch.lines, scratch.found
        while at < len(text):
            rows, at, self._line = split_lines(
                text, at, self._line, delimiter, width, self._slots, starts, ends, lines, found
            )
            if rows:
                places = zip(self._wanted, starts[:, :rows], ends[:, :rows], strict=True)
                yield self._fields(text, places, lines[:rows].copy(), found[:rows])

    def _fields(self, text: Any, places: Any, lines: Any, found: Any) -> Fields:
        columns, not_utf8 = {}, pa.repeat("", len(lines))
        for name, start, end in places:
            offsets, data, bits = gather(text, start, end, SAME, True)
            column = strings(offsets, data)
            if bits >= 128:
                column, not_utf8 = _checked(column, name, not_utf8)
            columns[name] = column
        return Fields(lines, columns, self._ragged(found), not_utf8)

    def _ragged(self, found: Any) -> pa.Array:
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


def blocks(stream: TextStream) -> Iterator[bytes]:
    """Return blocks of whole lines; an empty one stands for a line longer than MAX_LINE.

    A last line without an end is whole, but not where the data are damaged.
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
    """Return BLOCK_BYTES at a time: bgzip gives 64 KiB, which are too few for a block."""
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
    """Return the column with the rows that are not UTF-8 emptied, and named in `not_utf8`."""
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
