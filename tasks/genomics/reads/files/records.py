"""Records of all formats of read files, and the interface of their readers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.ragged import offsets_of
from gangsaw.tasks.compressed_text.signs import is_in_colours
from gangsaw.tasks.compressed_text.text import BegunText, Text, read_blocks
from gangsaw.tasks.genomics.reads.files.kernels import LINES, RETURN, gather_lines
from gangsaw.tasks.genomics.sequences.ragged import Ragged

Int64s = npt.NDArray[np.int64]
OWNER = 0  # column of rows: number of their line or record


class Field(NamedTuple):
    """Lines of one kind, such as names, of each record of a batch.

    Attributes
    ----------
    text : (m,) uint8
    begins, ends : (n,) int64, contiguous arrays of offsets in `text`
    """

    text: Text
    begins: Int64s
    ends: Int64s

    def line(self, i: int) -> bytes:
        """Return the line of record number i."""
        return self.text[self.begins[i] : self.ends[i]].tobytes()

    def gathered(self) -> Ragged:
        """Copy the lines into a ragged array."""
        offsets = offsets_of(self.ends - self.begins)
        data = np.empty(int(offsets[-1]), np.uint8)
        gather_lines(self.text, self.begins, self.ends, offsets, data)
        return Ragged(data, offsets)

    def some(self, first: int, step: int) -> Field:
        """Return the lines of records first, first + step, ..."""
        own = slice(first, None, step)
        return Field(
            self.text,
            np.ascontiguousarray(self.begins[own]),
            np.ascontiguousarray(self.ends[own]),
        )


class FastqRecords(NamedTuple):
    """Batch of read records, as offsets of their lines in a text.

    Attributes
    ----------
    text : (m,) uint8
    begins, ends : (n, 4) int64, offsets of name, sequence, text after "+" and qualities of each
        record, without "@", "+" and line ends
    """

    text: Text
    begins: Int64s
    ends: Int64s

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self.begins)

    def some(self, which: slice[int | None, int | None, int | None] | Int64s) -> FastqRecords:
        """Return a selection of the records."""
        return FastqRecords(self.text, self.begins[which], self.ends[which])

    def field(self, line: int) -> Field:
        """Return one line of each record; `line` is NAME, SEQUENCE, SIGN (after "+") or QUALITY."""
        begins, ends = (np.ascontiguousarray(p[:, line]) for p in (self.begins, self.ends))
        return Field(self.text, begins, ends)


# records that belong together have the same index: one of each file, or even and odd ones
Mates: TypeAlias = tuple[FastqRecords, ...]


class Queue:
    """Queue of notes about lines or records, as rows of integers, until these are written.

    Column OWNER of a row is the number of the line or record. Two files of mates are not read at
    the same pace.

    Attributes
    ----------
    seen : number of rows so far
    """

    def __init__(self, columns: int) -> None:
        self.seen, self._rows = 0, np.empty((0, columns), np.int64)

    def add(self, rows: Int64s) -> None:
        """Append rows (n, columns) int64, sorted by their OWNER column."""
        self.seen += len(rows)
        self._rows = np.concatenate((self._rows, rows)) if len(rows) else self._rows

    def take(self, limit: int) -> Int64s:
        """Remove and return the rows whose OWNER column is below `limit`."""
        n = int(np.searchsorted(self._rows[:, OWNER], limit))
        taken, self._rows = self._rows[:n], self._rows[n:]
        return taken


class ReadFile(ABC):
    """File of reads (FASTQ, FASTA, BAM), read once.

    Attributes
    ----------
    path : path for messages
    n_records : number of records that were yielded so far
    has_returns : True if lines end with CR LF, like the first one
    odd_ends : numbers of lines with the other end: record * numbering + line of the record
    numbering : larger than the number of lines in a record
    ends_open : True if the last line has no newline; known at the end
    tail : blank lines after the last record; known at the end
    width : bases of a full line of a sequence; 0 if each has one line
    folds : record and length of each line of sequences that deviate from `width`
    notes : messages for the user; known at the end
    lost : descriptions of items that are not part of records; known at the end
    """

    numbering = LINES

    def __init__(self, path: str) -> None:
        self.path, self.n_records, self.has_returns = path, 0, False
        self.odd_ends, self.folds, self.width = Queue(1), Queue(2), 0
        self.ends_open, self.tail = False, b""
        self.lost: tuple[str, ...] = ()
        self.notes: list[str] = []
        self._begun: BegunText | None = None

    def begin(self, text: BegunText | None = None) -> BegunText:
        """Open the file's text, or use an opened one; the path is opened once."""
        if self._begun is None:
            self._begun = text or BegunText(self.path)
            self.notes = self._begun.notes
        return self._begun

    @abstractmethod
    def records(self) -> Iterator[FastqRecords]:
        """Yield batches of records; raise BadParams with record and line for invalid text."""

    def lost_by_order(self) -> tuple[str, ...]:
        """Return descriptions of items that are lost if the records are reordered.

        They are known at the end. Line ends are lost for formats whose records do not have a fixed
        number of lines.
        """
        if self.numbering == LINES:
            return ()
        odd = {"line ends unlike the first": self.odd_ends, "odd folds of lines": self.folds}
        return tuple(what for what, queue in odd.items() if queue.seen)

    def _blocks(self) -> Iterator[Text]:
        """Yield blocks of the file's text."""
        try:
            yield from self._begun or read_blocks(self.path, self.notes)
        except BadParams as error:
            raise type(error)(f"{error} (after record {self.n_records})") from error

    def _note_colours(self, sequence: bytes) -> None:
        """Note if the first sequence is in colour space (SOLiD), which is larger than text."""
        if is_in_colours(sequence):
            self.notes.append(
                f"{self.path} is in colour space, of SOLiD: its digits were stored as residues "
                "that are no bases; --format text may need fewer bytes"
            )

    def _note_first(self, text: Text, first_end: int) -> None:
        """Set `has_returns` by the end of the first line, whose newline is at `first_end`."""
        if self.n_records == 0:
            self.has_returns = bool(first_end and text[first_end - 1] == RETURN)
