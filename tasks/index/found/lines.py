"""Lines of a text around places, as grep shows them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gangsaw.tasks.index.text.samples import Places
from gangsaw.tasks.sequences.held import HeldChunks

NEWLINE = b"\n"
STEP = 1 << 12  # letters that are looked through at once
REACH = 1 << 16  # a line is shown so far on either side of a place


class Line(NamedTuple):
    """A line, or what is shown of a long one.

    Attributes
    ----------
    place : of its first letter
    text : without its end
    is_hit : whether it was asked for; others stand around those
    """

    place: int
    text: bytes
    is_hit: bool


class TextLines:
    """The lines of a text, read by `held`."""

    def __init__(self, held: HeldChunks) -> None:
        self._held = held

    def around(self, places: Places, ends: Places, n: int) -> Iterator[list[Line]]:
        """Yield groups of lines that follow each other: those of places, and n on either side.

        places, ends : (k,) int64, where each of what was found begins, and what is behind it
        """
        found: dict[int, tuple[int, bool]] = {}  # by first letter: the end, and whether it is a hit
        for place, end in zip(places.tolist(), ends.tolist(), strict=True):
            begin = self._begin(place)
            last = self._own(found, begin, end)
            self._before(found, begin, n)
            self._behind(found, last, n)
        group: list[Line] = []
        for begin in sorted(found):
            end, is_hit = found[begin]
            if group and begin > group[-1].place + len(group[-1].text) + 1:
                yield group
                group = []
            group.append(Line(begin, self._text(begin, end), is_hit))
        if group:
            yield group

    def _own(self, found: dict[int, tuple[int, bool]], begin: int, end: int) -> int:
        """Add the lines of what ends at `end`; return the end of the last one."""
        last = self._end(begin)
        found[begin] = last, True
        while last + 1 < end:
            begin, last = last + 1, self._end(last + 1)
            found[begin] = last, True
        return last

    def _before(self, found: dict[int, tuple[int, bool]], begin: int, n: int) -> None:
        for _ in range(n):
            if begin == 0:
                return
            end = begin - 1
            begin = self._begin(end)
            found.setdefault(begin, (end, False))

    def _behind(self, found: dict[int, tuple[int, bool]], end: int, n: int) -> None:
        for _ in range(n):
            if end + 1 >= self._held.size:
                return
            begin, end = end + 1, self._end(end + 1)
            found.setdefault(begin, (end, False))

    def _begin(self, place: int) -> int:
        """Return where the line of a place begins, or how far it is shown."""
        least = max(0, place - REACH)
        for end in range(place, least, -STEP):
            begin = max(least, end - STEP)
            if (at := self._text(begin, end).rfind(NEWLINE)) >= 0:
                return begin + at + 1
        return least

    def _end(self, place: int) -> int:
        """Return where the line of a place ends, or how far it is shown."""
        most = min(self._held.size, place + 2 * REACH)
        for begin in range(place, most, STEP):
            if (at := self._text(begin, min(begin + STEP, most)).find(NEWLINE)) >= 0:
                return begin + at
        return most

    def _text(self, begin: int, end: int) -> bytes:
        return self._held.read(begin, end).tobytes()
