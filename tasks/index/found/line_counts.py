"""In how many lines patterns begin: counted chunk by chunk, a line across chunks once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gangsaw.tasks.index.found.find import LocateInChunk, peak_bytes_of
from gangsaw.tasks.index.found.hits import Patterns
from gangsaw.tasks.index.found.lines import NEWLINE
from gangsaw.tasks.index.stored.opened import IndexedText
from gangsaw.tasks.index.text.samples import Places
from gangsaw.tasks.sequences.ragged import Ragged

ONE_NEWLINE = Ragged(np.frombuffer(NEWLINE, np.uint8), np.array([0, 1]))


class HitLines(NamedTuple):
    """The lines of a chunk in which something begins.

    Attributes
    ----------
    n : of those that begin in it
    in_first : whether there is something in the line that it begins within
    in_last : whether there is something in the line that it ends within
    has_end : whether a line ends in it; else first and last are one
    """

    n: int
    in_first: bool
    in_last: bool
    has_end: bool


@dataclass(frozen=True)
class LinesInChunk:
    """Counts lines of a chunk in which any of the patterns begins: a task of the engine."""

    text: IndexedText
    patterns: Patterns
    name: str = "count lines"
    carried_bytes: int = 1  # lets the engine use threads where there is no client

    @property
    def peak_bytes(self) -> int:
        """Memory of a chunk."""
        return peak_bytes_of(self.text) + 2 * self.text.how.chunk

    def __call__(self, number: int) -> HitLines:
        """Return what there is in a chunk, whose text is read where there is something."""
        begin, end = self.text.how.window(number)
        places = LocateInChunk(self.text, self.patterns)(number).place - begin
        if not places.size:
            has_end = bool(self.text.index(number).counts(ONE_NEWLINE)[0])
            return HitLines(0, in_first=False, in_last=False, has_end=has_end)
        letters = self.text.letters.read(begin, end)
        return _in_lines(places, np.flatnonzero(letters == NEWLINE[0]))


def lines_of(chunks: Iterable[HitLines]) -> int:
    """Return the lines of all chunks, in their order."""
    total, is_open = 0, False  # whether the line that goes on is counted
    for chunk in chunks:
        total += chunk.n + (chunk.in_first and not is_open)
        is_open = chunk.in_last or ((is_open or chunk.in_first) and not chunk.has_end)
    return total


def _in_lines(places: Places, ends: Places) -> HitLines:
    """Return where places (k,) are, by the ends of lines; both count from the chunk's begin."""
    lines = np.unique(np.searchsorted(ends, places))
    in_first, in_last = bool(lines[0] == 0), bool(ends.size and lines[-1] == ends.size)
    return HitLines(lines.size - in_first, in_first, in_last, bool(ends.size))
