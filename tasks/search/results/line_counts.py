"""Count of lines in which patterns begin: chunk by chunk, a line across chunks once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gangsaw.codecs.core.ragged import RaggedArray
from gangsaw.tasks.search.fm_index.samples import Positions
from gangsaw.tasks.search.results.find import LocateInChunk
from gangsaw.tasks.search.results.hits import Patterns
from gangsaw.tasks.search.results.lines import NEWLINE
from gangsaw.tasks.search.stored.indexed_text import IndexedText

ONE_NEWLINE = RaggedArray(np.frombuffer(NEWLINE, np.uint8), np.array([0, 1]))


class HitLines(NamedTuple):
    """Number of lines of a chunk with a hit, in a form that can be added over chunks.

    Attributes
    ----------
    n : lines with a hit that begin in the chunk
    in_first : True if the line in progress at the chunk's start has a hit
    in_last : True if the line in progress at the chunk's end has a hit
    has_end : True if a line ends in the chunk; else first and last line are the same
    """

    n: int
    in_first: bool
    in_last: bool
    has_end: bool


@dataclass(frozen=True)
class LinesInChunk:
    """Engine task that counts the lines of a chunk in which any of the patterns begins."""

    text: IndexedText
    patterns: Patterns
    name: str = "count lines"
    carried_bytes: int = 1  # the engine may use threads if there is no client

    @property
    def peak_bytes(self) -> int:
        """Upper bound of the memory of one chunk's task, in bytes."""
        return LocateInChunk(self.text, self.patterns).peak_bytes + 2 * self.text.how.chunk

    def __call__(self, number: int) -> HitLines:
        """Return the line counts of a chunk; its text is read only if there is a hit."""
        begin, end = self.text.how.window(number)
        places = LocateInChunk(self.text, self.patterns)(number).place - begin
        if not places.size:
            has_end = bool(self.text.index(number).counts(ONE_NEWLINE)[0])
            return HitLines(0, in_first=False, in_last=False, has_end=has_end)
        letters = self.text.stored.read(begin, end)
        return _in_lines(places, np.flatnonzero(letters == NEWLINE[0]))


def lines_of(chunks: Iterable[HitLines]) -> int:
    """Return the number of lines with a hit in all chunks, given in order."""
    total, is_open = 0, False  # True if the line in progress is counted already
    for chunk in chunks:
        total += chunk.n + (chunk.in_first and not is_open)
        is_open = chunk.in_last or ((is_open or chunk.in_first) and not chunk.has_end)
    return total


def _in_lines(positions: Positions, ends: Positions) -> HitLines:
    """Count the lines with a hit; hits (k,) and line ends are relative to the chunk's start."""
    lines = np.unique(np.searchsorted(ends, positions))
    in_first, in_last = bool(lines[0] == 0), bool(ends.size and lines[-1] == ends.size)
    return HitLines(lines.size - in_first, in_first, in_last, bool(ends.size))
