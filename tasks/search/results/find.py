"""Pattern search in one chunk by its index, and across its end by a small temporary index.

An occurrence across chunk borders belongs to the first of them. On both sides of a border, 2(m - 1)
letters are read in total, where m is the length of the longest pattern.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.ragged import RaggedArray
from gangsaw.tasks.engine.report.failure import name_failed_chunk
from gangsaw.tasks.search.fm_index.base_index import BaseIndex
from gangsaw.tasks.search.fm_index.byte_index import ByteIndex
from gangsaw.tasks.search.fm_index.kinds import TextIndex
from gangsaw.tasks.search.fm_index.row_index import RowIndex
from gangsaw.tasks.search.fm_index.samples import Positions
from gangsaw.tasks.search.results import scan
from gangsaw.tasks.search.results.hits import Occurrences, Patterns
from gangsaw.tasks.search.stored.indexed_text import IndexedText

WINDOW_RATE = 8  # sampling rate of an index built for a border
MANY = 1 << 17  # hits in a chunk that take longer than a search of its start
FAR_MORE = 128  # ratio of hits in a chunk to requested hits
AS_FAR = 8  # factor on the length for evenly spread hits: at most a sixteenth of the chunk
# memory of reading and opening an index, in stored sizes: an index by runs grows most
INDEX_COPIES = 6


class FoundMatches(NamedTuple):
    """Occurrences: indices of patterns and positions, (n,) int64 each."""

    which: Positions
    place: Positions


@dataclass(frozen=True)
class CountInChunk:
    """Engine task that counts occurrences of patterns in a chunk and across its end."""

    text: IndexedText
    patterns: Patterns
    name: str = "count"
    carried_bytes: int = 1  # the engine may use threads if there is no client

    @property
    def peak_bytes(self) -> int:
        """Upper bound of the memory of one chunk's task, in bytes."""
        return peak_bytes_of(self.text)

    def __call__(self, number: int) -> Positions:
        """Return the count of each pattern in chunk `number`, (n,) int64."""
        with name_failed_chunk(f"{self.text.store}, chunk {number}"):
            counts = self.text.index(number).counts(self.patterns.symbols)
            across = _find_across_border(self.text, self.patterns, number)
            counts += np.bincount(across.which, minlength=counts.size)
            out = np.zeros(self.patterns.n, np.int64)
            np.add.at(out, self.patterns.pattern, counts)
            return out


@dataclass(frozen=True)
class LocateInChunk:
    """Engine task that locates patterns in a chunk and across its end.

    Attributes
    ----------
    most : requested hits of each pattern, at the lowest positions; more may be returned; None for
        all
    """

    text: IndexedText
    patterns: Patterns
    most: int | None = None
    name: str = "locate"
    carried_bytes: int = 1

    @property
    def peak_bytes(self) -> int:
        """Upper bound of the memory of one chunk's task, in bytes, if its text is read, too."""
        return peak_bytes_of(self.text) + scan.COPIES * self.text.how.chunk

    def __call__(self, number: int) -> Occurrences:
        """Return the occurrences of the patterns in chunk `number`."""
        with name_failed_chunk(f"{self.text.store}, chunk {number}"):
            begin, _ = self.text.how.window(number)
            index = self.text.index(number)
            inside = self._locate_inside(index, number)
            check_inside(index, inside.place, self.patterns.symbols.lengths[inside.which])
            across = _find_across_border(self.text, self.patterns, number)
            which = np.concatenate((inside.which, across.which))
            place = np.concatenate((inside.place + begin, across.place))
            own = Occurrences(self.patterns.pattern[which], place, self.patterns.strand[which])
            return Occurrences.merge([own], self.most)

    def _locate_inside(self, index: TextIndex, number: int) -> FoundMatches:
        """Return the occurrences of patterns in a chunk, relative to its start.

        Rows are not ordered by position. For a pattern with far more hits than requested, the first
        ones are therefore found by a search of the chunk's start, without its rows.
        """
        letters = self.patterns.symbols
        if self.most is None:
            return self._locate_all(index, number, letters)
        counts = index.counts(letters)
        keep = counts <= max(MANY, FAR_MORE * self.most)
        which, found = np.flatnonzero(keep), self._locate_all(index, number, letters.take(keep))
        parts = [FoundMatches(which[found.which], found.place)]
        for one in np.flatnonzero(~keep):
            places = self._locate_first(index, number, int(one), int(counts[one]))
            parts.append(FoundMatches(np.full(places.size, one), places))
        return FoundMatches(*map(np.concatenate, zip(*parts, strict=True)))

    def _locate_all(self, index: TextIndex, number: int, text: RaggedArray) -> FoundMatches:
        """Return all occurrences of patterns in a chunk; an r-index needs no walk to each."""
        if isinstance(index, RowIndex):
            return FoundMatches(*scan.locate_in_chunk(self.text, number, index, text))
        return FoundMatches(*index.locate(text))

    def _locate_first(self, index: TextIndex, number: int, one: int, count: int) -> Positions:
        """Return the lowest positions of pattern `one`, which occurs `count` times in a chunk.

        There are as many as requested, or more.
        """
        assert self.most is not None
        pattern = self.patterns.symbols.take(np.array([one]))
        begin, end = self.text.how.window(number)
        reach = begin + AS_FAR * self.most * (end - begin) // count
        _, places = build_border_index(self.text, begin, min(end, reach)).locate(pattern)
        return places if places.size >= self.most else index.locate(pattern)[1]


def check_inside(index: TextIndex, positions: Positions, lengths: Positions | int) -> None:
    """Raise CorruptChunk if a match ends beyond the indexed text."""
    if int((positions + lengths).max(initial=0)) > index.n:
        raise CorruptChunk("the index describes another text: a hit ends after it")


def reach_of(text: IndexedText, number: int, length: int) -> tuple[int, int]:
    """Return the range of letters that matches across the end of a chunk may contain.

    The matches have at most `length` letters and start in the chunk.
    """
    begin, end = text.how.window(number)
    return max(begin, end - length + 1), min(text.how.size, end + length - 1)


def build_border_index(text: IndexedText, begin: int, end: int) -> TextIndex:
    """Build a temporary index of letters begin..end - 1, such as those around a chunk's end."""
    letters = text.stored.read(begin, end)
    if text.how.kind == "bytes":
        return ByteIndex.build(letters, WINDOW_RATE)
    return BaseIndex.build(letters, text.stored.borders_in(begin, end), WINDOW_RATE)


def peak_bytes_of(text: IndexedText) -> int:
    """Return an upper bound of the memory of a chunk's opened index, in bytes."""
    return INDEX_COPIES * text.rows.shape[1]


def _find_across_border(text: IndexedText, patterns: Patterns, number: int) -> FoundMatches:
    """Return the matches that start in a chunk and cross its end, as positions in the array."""
    _, end = text.how.window(number)
    first, last = reach_of(text, number, patterns.longest)
    if not first < end < last:
        return FoundMatches(np.empty(0, np.int64), np.empty(0, np.int64))
    found = FoundMatches(*build_border_index(text, first, last).locate(patterns.symbols))
    place = found.place + first
    crosses = (place < end) & (place + patterns.symbols.lengths[found.which] > end)
    return FoundMatches(found.which[crosses], place[crosses])
