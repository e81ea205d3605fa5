"""Patterns in one chunk, by its index, and across its border with the next one, by a small index.

An occurrence that crosses borders belongs to the first of them. Of the letters on both sides of it
2(m - 1) are read, where m is the length of the longest pattern.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.engine.failure import naming
from gangsaw.tasks.index.found.hits import Occurrences, Patterns
from gangsaw.tasks.index.stored.opened import IndexedText
from gangsaw.tasks.index.text.base_index import BaseIndex
from gangsaw.tasks.index.text.byte_index import ByteIndex
from gangsaw.tasks.index.text.kinds import TextIndex
from gangsaw.tasks.index.text.samples import Places

WINDOW_RATE = 8  # of samples of an index that is made for a border
INDEX_COPIES = 4  # of the bytes of an index, while it is read and opened


class Located(NamedTuple):
    """Places of some letters of Patterns: (n,) int64 each."""

    which: Places
    place: Places


@dataclass(frozen=True)
class CountInChunk:
    """Counts patterns in a chunk and across its end: a task of the engine."""

    text: IndexedText
    patterns: Patterns
    name: str = "count"
    carried_bytes: int = 1  # lets the engine use threads where there is no client

    @property
    def peak_bytes(self) -> int:
        """Memory of a chunk."""
        return peak_bytes_of(self.text)

    def __call__(self, number: int) -> Places:
        """Return how often each pattern is there, (n,) int64."""
        with naming(f"{self.text.store}, chunk {number}"):
            counts = self.text.index(number).counts(self.patterns.letters)
            across = _across(self.text, self.patterns, number)
            counts += np.bincount(across.which, minlength=counts.size)
            out = np.zeros(self.patterns.n, np.int64)
            np.add.at(out, self.patterns.pattern, counts)
            return out


@dataclass(frozen=True)
class LocateInChunk:
    """Locates patterns in a chunk and across its end: a task of the engine.

    Attributes
    ----------
    most : hits of each pattern, those of the lowest places; None for all
    """

    text: IndexedText
    patterns: Patterns
    most: int | None = None
    name: str = "locate"
    carried_bytes: int = 1

    @property
    def peak_bytes(self) -> int:
        """Memory of a chunk."""
        return peak_bytes_of(self.text)

    def __call__(self, number: int) -> Occurrences:
        """Return where the patterns are."""
        with naming(f"{self.text.store}, chunk {number}"):
            begin, _ = self.text.how.window(number)
            index = self.text.index(number)
            inside = Located(*index.located(self.patterns.letters))
            check_inside(index, inside.place, self.patterns.letters.lengths[inside.which])
            across = _across(self.text, self.patterns, number)
            which = np.concatenate((inside.which, across.which))
            place = np.concatenate((inside.place + begin, across.place))
            own = Occurrences(self.patterns.pattern[which], place, self.patterns.strand[which])
            return Occurrences.joined([own], self.most)


def check_inside(index: TextIndex, places: Places, lengths: Places | int) -> None:
    """Raise CorruptChunk where something that is found does not end in the text."""
    if int((places + lengths).max(initial=0)) > index.n:
        raise CorruptChunk("the index is of another text: what is found ends behind it")


def reach_of(text: IndexedText, number: int, length: int) -> tuple[int, int]:
    """Return first letter and end of what crosses the end of a chunk, and none before it."""
    begin, end = text.how.window(number)
    return max(begin, end - length + 1), min(text.how.size, end + length - 1)


def index_of(text: IndexedText, begin: int, end: int) -> TextIndex:
    """Return an index of letters around the end of a chunk."""
    letters = text.letters.read(begin, end)
    if text.how.kind == "bytes":
        return ByteIndex.made(letters, WINDOW_RATE)
    return BaseIndex.made(letters, text.letters.borders_in(begin, end), WINDOW_RATE)


def peak_bytes_of(text: IndexedText) -> int:
    """Return the memory of the index of a chunk."""
    return INDEX_COPIES * text.rows.shape[1]


def _across(text: IndexedText, patterns: Patterns, number: int) -> Located:
    """Return places in the array of what crosses the end of a chunk, but none before it."""
    _, end = text.how.window(number)
    first, last = reach_of(text, number, patterns.longest)
    if not first < end < last:
        return Located(np.empty(0, np.int64), np.empty(0, np.int64))
    found = Located(*index_of(text, first, last).located(patterns.letters))
    place = found.place + first
    crosses = (place < end) & (place + patterns.letters.lengths[found.which] > end)
    return Located(found.which[crosses], place[crosses])
