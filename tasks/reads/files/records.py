"""What files of reads have in common, whatever their format: records, and what else they hold."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.reads.files.kernels import LINES, RETURN
from gangsaw.tasks.sequences.files.signs import is_in_colours
from gangsaw.tasks.sequences.files.text import Text, text_of

Places = npt.NDArray[np.int64]
OWNER = 0  # column of rows: the line or the record that they tell of


class Field(NamedTuple):
    """A line of each of some records.

    Attributes
    ----------
    text : (m,) uint8
    begins, ends : (n,) int64, contiguous
    """

    text: Text
    begins: Places
    ends: Places

    def letters(self, i: int) -> bytes:
        """Return the line of a record."""
        return self.text[self.begins[i] : self.ends[i]].tobytes()

    def some(self, first: int, step: int) -> Field:
        """Return the lines of every so many records."""
        own = slice(first, None, step)
        return Field(
            self.text,
            np.ascontiguousarray(self.begins[own]),
            np.ascontiguousarray(self.ends[own]),
        )


class FastqRecords(NamedTuple):
    """Some records of a text.

    Attributes
    ----------
    text : (m,) uint8
    begins, ends : (n, 4) int64, name, sequence, what follows "+", and quality of each record: their
        places in the text, without "@", "+" and line ends
    """

    text: Text
    begins: Places
    ends: Places

    def __len__(self) -> int:
        """Return how many records these are."""
        return len(self.begins)

    def some(self, which: slice[int | None, int | None, int | None] | Places) -> FastqRecords:
        """Return some of the records."""
        return FastqRecords(self.text, self.begins[which], self.ends[which])

    def field(self, line: int) -> Field:
        """Return one line of each record: NAME, SEQUENCE, SIGN or QUALITY."""
        begins, ends = (np.ascontiguousarray(p[:, line]) for p in (self.begins, self.ends))
        return Field(self.text, begins, ends)


# records that belong together lie at equal places: one of each file, or even and odd ones
Mates: TypeAlias = tuple[FastqRecords, ...]


class Queue:
    """Rows of numbers that wait until the records that they tell of are written.

    Two files of mates are not read at the same pace.

    Attributes
    ----------
    seen : how many rows there were so far
    """

    def __init__(self, columns: int) -> None:
        self.seen, self._rows = 0, np.empty((0, columns), np.int64)

    def add(self, rows: Places) -> None:
        """Take rows (n, columns) int64, in the order of their owners, behind all others."""
        self.seen += len(rows)
        self._rows = np.concatenate((self._rows, rows)) if len(rows) else self._rows

    def take(self, limit: int) -> Places:
        """Return, and forget, the rows whose owner is below a limit."""
        n = int(np.searchsorted(self._rows[:, OWNER], limit))
        taken, self._rows = self._rows[:n], self._rows[n:]
        return taken


class ReadFile(ABC):
    """A file of reads, read once.

    Attributes
    ----------
    path : for messages
    n_records : that were yielded so far
    has_returns : whether lines end with CR LF, as the first one does
    odd_ends : numbers of lines that end otherwise: record * numbering + line of the record
    numbering : more than any record has lines
    ends_open : whether the last line has no newline; known at the end
    tail : blank lines behind the last record; known at the end
    width : letters of a full line of a sequence; 0 where each is on one line
    folds : record and length of each line of sequences that are on other lines than `width` says
    notes : what a user should know of it; known at the end
    lost : what of the file is no part of its records, in words; known at the end
    """

    numbering = LINES

    def __init__(self, path: str) -> None:
        self.path, self.n_records, self.has_returns = path, 0, False
        self.odd_ends, self.folds, self.width = Queue(1), Queue(2), 0
        self.ends_open, self.tail = False, b""
        self.lost: tuple[str, ...] = ()
        self.notes: list[str] = []

    @abstractmethod
    def records(self) -> Iterator[FastqRecords]:
        """Yield records; BadParams, with the number of record and line, for what is none."""

    def lost_by_order(self) -> tuple[str, ...]:
        """Return what else an order other than kept does not keep, in words; known at the end.

        It keeps the line ends of formats whose records have as many lines as arrays.
        """
        if self.numbering == LINES:
            return ()
        odd = {"line ends unlike the first": self.odd_ends, "odd folds of lines": self.folds}
        return tuple(what for what, queue in odd.items() if queue.seen)

    def _blocks(self) -> Iterator[Text]:
        """Yield the file's text."""
        try:
            yield from text_of(self.path, self.notes)
        except BadParams as error:
            raise type(error)(f"{error} (behind record {self.n_records})") from error

    def _note_colours(self, sequence: bytes) -> None:
        """Take note of a first sequence in colour space, which is kept, in more bytes than text."""
        if is_in_colours(sequence):
            self.notes.append(
                f"{self.path} is in colour space, of SOLiD: its digits were kept as letters that "
                "are no bases; --format text may take fewer bytes"
            )

    def _note_first(self, text: Text, first_end: int) -> None:
        """Take note of the first line's end."""
        if self.n_records == 0:
            self.has_returns = bool(first_end and text[first_end - 1] == RETURN)
