"""Interface of genome readers: parts of records, in order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.compressed_text.text import Positions, Text

UNFOLDED = 1 << 62  # residues per line if each record has one line
# columns of `GenomePart.lines`: record, residues of a piece, number of equal pieces, end of each
LINE_RECORD, LINE_LENGTH, LINE_COUNT, LINE_END = range(4)
LINE_COLUMNS = 4
NO_LINES = np.empty((0, LINE_COLUMNS), np.int64)
NO_RECORDS = np.empty(0, np.int64)


class GenomePart(NamedTuple):
    """Next part of a genome file; its last record may continue in the following part.

    Attributes
    ----------
    letters : (m,) uint8, residues
    names : (k,) uint8, headers of records, each with a newline
    letter_starts, name_starts : (n,) int64, offsets in `letters` and `names` of the records
        that begin in this part
    lines : (l, LINE_COLUMNS) int64, lines of records with an unusual layout: record,
        residues, number of equal lines, and their end: a byte, or 0 for the usual line end
    odd_heads : (o,) int64, records whose header has an unusual line end
    """

    letters: Text
    names: Text
    letter_starts: Positions
    name_starts: Positions
    lines: Positions = NO_LINES
    odd_heads: Positions = NO_RECORDS


class GenomeFile(ABC):
    """File of sequence records (FASTA, GenBank, 2bit), read once.

    Attributes
    ----------
    path : path for messages
    width : residues per line
    has_returns : True if lines end with CR LF, like the first one
    is_open : True if the last line has no line end; known at the end
    before : blank lines before the first record
    lost : descriptions of items that are not part of records; known at the end
    """

    def __init__(self, path: str) -> None:
        self.before = b""
        self.path, self.width, self.has_returns, self.is_open = path, UNFOLDED, False, False
        self.lost: tuple[str, ...] = ()

    @abstractmethod
    def parts(self) -> Iterator[GenomePart]:
        """Yield the records in parts; raise BadParams, with line or record, for invalid text."""


class NameCheck:
    """Checker of record names: each record has one, and no two records have the same."""

    def __init__(self, path: str, otherwise: str = "") -> None:
        self.path, self.otherwise = path, otherwise
        self._seen, self._begun = set[bytes](), b""
        self._places: deque[str] = deque()

    def add(self, names: Text, locations: list[str]) -> None:
        """Check the names in the next headers.

        `locations` has the location of each, for messages.
        """
        self._places.extend(locations)
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
    """Return the name in a header; b"" if it begins with a blank or is empty."""
    return head.split(None, 1)[0] if head[:1].strip() else b""
