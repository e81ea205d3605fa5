"""What readers of genomes give: parts of records, in order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.sequences.files.text import Places, Text

UNFOLDED = 1 << 62  # residues of a line where each record has one line
# columns of `GenomePart.lines`, of a piece: its record, residues, how many such, what ends each
LINE_RECORD, LINE_LENGTH, LINE_COUNT, LINE_END = range(4)
LINE_COLUMNS = 4
NO_LINES = np.empty((0, LINE_COLUMNS), np.int64)
NO_RECORDS = np.empty(0, np.int64)


class GenomePart(NamedTuple):
    """What comes next of a genome; a record may go on in the next part.

    Attributes
    ----------
    letters : (m,) uint8, residues
    names : (k,) uint8, heads of records, a newline behind each
    letter_starts, name_starts : (n,) int64, where records that begin here do so in these two
    lines : (l, LINE_COLUMNS) int64, of records on other lines than most; the end is a byte, 0 for
        the usual end of a line
    odd_heads : (o,) int64, records whose head ends unlike most lines
    """

    letters: Text
    names: Text
    letter_starts: Places
    name_starts: Places
    lines: Places = NO_LINES
    odd_heads: Places = NO_RECORDS


class GenomeFile(ABC):
    """A file of records, read once.

    Attributes
    ----------
    path : for messages
    width : residues of a line
    has_returns : whether lines end with CR LF, as the first one does
    is_open : whether the last line has no end; known at the end
    before : blank lines before the first record
    lost : what of the file is no part of its records, in words; known at the end
    """

    def __init__(self, path: str) -> None:
        self.before = b""
        self.path, self.width, self.has_returns, self.is_open = path, UNFOLDED, False, False
        self.lost: tuple[str, ...] = ()

    @abstractmethod
    def parts(self) -> Iterator[GenomePart]:
        """Yield the file's records; BadParams, with the line or record, for what is none."""


class NameCheck:
    """Refuses records without a name, and two of one name: a name has to find its record."""

    def __init__(self, path: str, otherwise: str = "") -> None:
        self.path, self.otherwise = path, otherwise
        self._seen, self._begun = set[bytes](), b""
        self._places: deque[str] = deque()

    def add(self, names: Text, places: list[str]) -> None:
        """Take bytes of heads, and what messages call the place of each that begins in them."""
        self._places.extend(places)
        *whole, self._begun = (self._begun + names.tobytes()).split(b"\n")
        for head in whole:
            place, name = self._places.popleft(), first_word(head)
            if not name:
                self._refuse(place, "a record has no name: give it one")
            if name in self._seen:
                shown = name.decode("utf-8", "backslashreplace")
                self._refuse(place, f"a second record is named {shown}: rename one")
            self._seen.add(name)

    def _refuse(self, place: str, why: str) -> None:
        raise BadParams(f"{self.path}: {place}: {why}{self.otherwise}")


def first_word(head: bytes) -> bytes:
    """Return the name in a head; b"" where it begins with a blank or is empty."""
    return head.split(None, 1)[0] if head[:1].strip() else b""
