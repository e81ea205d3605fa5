"""Lines of a text around positions, as grep prints them, with context."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gangsaw.tasks.genomics.sequences.cached_chunks import CachedChunks
from gangsaw.tasks.search.fm_index.samples import Positions

NEWLINE = b"\n"
STEP, MOST_STEP = (
    1 << 12,
    1 << 20,
)  # bytes that are searched at once: doubled each time, up to the limit
SHOWN = 1 << 20  # bytes of the longest line that is shown whole
REACH = 1 << 16  # bytes of a longer line that are shown on either side of its first hit


class Line(NamedTuple):
    """Line of a text to print, or the shown part of a long line.

    Attributes
    ----------
    place : position of the first byte of the line
    text : bytes without the newline
    is_hit : True if the line contains a hit; False for context
    before, behind : bytes of the line that are left out on either side of `text`
    """

    place: int
    text: bytes
    is_hit: bool
    before: int = 0
    behind: int = 0

    @property
    def end(self) -> int:
        """Position of the line's newline, or the size of the text for its last line."""
        return self.place + self.before + len(self.text) + self.behind


@dataclass
class _ShownLine:
    """Line to print: its end, and begin and end of its first hit."""

    end: int
    is_hit: bool
    hit: tuple[int, int]


class TextLines:
    """Reader of lines around positions of a text, through cached chunks."""

    def __init__(self, text: CachedChunks) -> None:
        self._text = text

    def around(self, starts: Positions, ends: Positions, n: int) -> Iterator[list[Line]]:
        """Yield groups of consecutive lines: lines with hits, and n lines of context around each.

        Each line is yielded once, even if it contains several hits.

        Parameters
        ----------
        starts, ends : (k,) int64 starts and exclusive ends of the hits
        n : number of context lines before and after each hit
        """
        found = self._find_lines(starts, ends, n)
        group: list[Line] = []
        for begin in sorted(found):
            if group and begin > group[-1].end + 1:
                yield group
                group = []
            group.append(self._line(begin, found[begin]))
        if group:
            yield group

    def _find_lines(self, positions: Positions, ends: Positions, n: int) -> dict[int, _ShownLine]:
        """Return the lines to print, by their start; the ends of a long line are searched once."""
        order = np.argsort(positions, kind="stable")
        positions, ends = positions[order], ends[order]
        found: dict[int, _ShownLine] = {}
        i, last = 0, -1
        while i < positions.size:
            place = int(positions[i])
            begin, last = self._begin(place, last + 1), self._end(place)
            of_line = int(np.searchsorted(positions, last, "right"))
            hit = place, int(ends[i])
            behind = self._add_hit_line(found, begin, last, hit, int(ends[i:of_line].max()))
            self._add_before(found, begin, n)
            self._add_after(found, behind, n)
            i = of_line
        return found

    def _add_hit_line(
        self, found: dict[int, _ShownLine], begin: int, last: int, hit: tuple[int, int], end: int
    ) -> int:
        """Add the line of a hit, and further lines up to the end of hits.

        Return the last line's end.
        """
        found[begin] = _ShownLine(last, True, hit)
        while last + 1 < end:
            begin, last = last + 1, self._end(last + 1)
            found[begin] = _ShownLine(last, True, (begin, begin))
        return last

    def _add_before(self, found: dict[int, _ShownLine], begin: int, n: int) -> None:
        for _ in range(n):
            if begin == 0:
                return
            end = begin - 1
            begin = self._begin(end, 0)
            found.setdefault(begin, _ShownLine(end, False, (begin, begin)))

    def _add_after(self, found: dict[int, _ShownLine], end: int, n: int) -> None:
        for _ in range(n):
            if end + 1 >= self._text.size:
                return
            begin, end = end + 1, self._end(end + 1)
            found.setdefault(begin, _ShownLine(end, False, (begin, begin)))

    def _line(self, begin: int, found: _ShownLine) -> Line:
        """Read the shown part of a line: all of it, or the surroundings of its first hit."""
        end = found.end
        if end - begin <= SHOWN:
            return Line(begin, self._read(begin, end), found.is_hit)
        first = max(begin, found.hit[0] - REACH)
        last = min(end, found.hit[1] + REACH)
        text = self._read(first, last)
        return Line(begin, text, found.is_hit, first - begin, end - last)

    def _begin(self, place: int, least: int) -> int:
        """Return the start of the line at a position, but not less than `least`."""
        end, step = place, STEP
        while end > least:
            begin = max(least, end - step)
            if (at := self._read(begin, end).rfind(NEWLINE)) >= 0:
                return begin + at + 1
            end, step = begin, min(2 * step, MOST_STEP)
        return least

    def _end(self, place: int) -> int:
        """Return the end of the line at a position."""
        begin, step = place, STEP
        while begin < self._text.size:
            end = min(begin + step, self._text.size)
            if (at := self._read(begin, end).find(NEWLINE)) >= 0:
                return begin + at
            begin, step = end, min(2 * step, MOST_STEP)
        return self._text.size

    def _read(self, begin: int, end: int) -> bytes:
        return self._text.read(begin, end).tobytes()
