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
from gangsaw.tasks.index.found.hits import Occurrences, Patterns, some_of
from gangsaw.tasks.index.stored.opened import IndexedText
from gangsaw.tasks.index.text.base_index import BaseIndex
from gangsaw.tasks.index.text.byte_index import ByteIndex
from gangsaw.tasks.index.text.kinds import TextIndex
from gangsaw.tasks.index.text.samples import Places

WINDOW_RATE = 8  # of samples of an index that is made for a border
MANY = 1 << 17  # hits in a chunk that take longer than to look through its beginning
FAR_MORE = 128  # times as many hits as are wanted
AS_FAR = 8  # times the length that would do were they spread evenly: a sixteenth of the chunk
INDEX_COPIES = 6  # of the room of an index, while it is read and opened: one by runs grows most


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
    most : hits of each pattern, those of the lowest places, and perhaps more; None for all
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
            inside = self._inside(index, number)
            check_inside(index, inside.place, self.patterns.letters.lengths[inside.which])
            across = _across(self.text, self.patterns, number)
            which = np.concatenate((inside.which, across.which))
            place = np.concatenate((inside.place + begin, across.place))
            own = Occurrences(self.patterns.pattern[which], place, self.patterns.strand[which])
            return Occurrences.joined([own], self.most)

    def _inside(self, index: TextIndex, number: int) -> Located:
        """Return where patterns are in a chunk, counted from its begin.

        Rows are in no order of places. So of what is there far more often than it is wanted, the
        first ones are found where the chunk begins, and the rows are left alone.
        """
        letters = self.patterns.letters
        if self.most is None:
            return Located(*index.located(letters))
        counts = index.counts(letters)
        keep = counts <= max(MANY, FAR_MORE * self.most)
        which, found = np.flatnonzero(keep), Located(*index.located(some_of(letters, keep)))
        parts = [Located(which[found.which], found.place)]
        for one in np.flatnonzero(~keep):
            places = self._first(index, number, int(one), int(counts[one]))
            parts.append(Located(np.full(places.size, one), places))
        return Located(*map(np.concatenate, zip(*parts, strict=True)))

    def _first(self, index: TextIndex, number: int, one: int, count: int) -> Places:
        """Return the first places of one of the patterns, as many as are wanted or more."""
        assert self.most is not None
        pattern = some_of(self.patterns.letters, np.arange(len(self.patterns.letters)) == one)
        begin, end = self.text.how.window(number)
        reach = begin + AS_FAR * self.most * (end - begin) // count
        _, places = index_of(self.text, begin, min(end, reach)).located(pattern)
        return places if places.size >= self.most else index.located(pattern)[1]


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
