"""Maximal exact matches of a query: matches that no letter on either side extends.

Each has a seed, a window of the minimum length at its start, in a chunk or across its end. Matches
across chunk ends are found more than once, and duplicates are removed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.nucleotides.alphabet import NOT_A_BASE
from gangsaw.codecs.core.nucleotides.codes import CODES, reverse_complement_codes
from gangsaw.tasks.engine.report.failure import name_failed_chunk
from gangsaw.tasks.genomics.sequences.cached_chunks import CachedChunks
from gangsaw.tasks.search.fm_index.kinds import Kind, TextIndex
from gangsaw.tasks.search.fm_index.samples import Positions
from gangsaw.tasks.search.results.find import (
    build_border_index,
    check_inside,
    peak_bytes_of,
    reach_of,
)
from gangsaw.tasks.search.results.hits import FORWARD, REVERSE
from gangsaw.tasks.search.stored.data import StoredText
from gangsaw.tasks.search.stored.indexed_text import IndexedText

STEP = 64  # letters compared at first; then twice as many, and so on
MATCH = np.dtype([("strand", "i1"), ("begin", "i8"), ("place", "i8"), ("length", "i8")])
Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class ExactMatches:
    r"""Maximal exact matches of a query in a text, sorted by strand, start and position.

    Parameters
    ----------
    begin : (n,) int64
        Start of each match in the query.
    place : (n,) int64
        Position of its first byte or base in the array.
    length : (n,) int64
        Bytes or bases of the match.
    strand : (n,) int8
        1, or -1 for the reverse complement of that part of the query.

    See Also
    --------
    Search.mems : Return the maximal exact matches of a query.

    Examples
    --------
    >>> from pathlib import Path
    >>> import gangsaw.search
    >>> size = Path("log.txt").write_text("one error\nno line\nan error, an error\n")
    >>> summary = gangsaw.compress("log.txt", "log.zarr")
    >>> summary = gangsaw.search.index("log.zarr")
    >>> matches = gangsaw.search.open("log.zarr").mems("an error, an", least=8)
    >>> matches.begin.tolist(), matches.place.tolist(), matches.length.tolist()
    ([0, 0], [18, 28], [12, 8])
    """

    begin: Positions
    place: Positions
    length: Positions
    strand: npt.NDArray[np.int8]

    def __len__(self) -> int:
        """Return the number of matches."""
        return self.place.size

    @classmethod
    def merge(cls, parts: Iterable[npt.NDArray[np.void]], n: int) -> ExactMatches:
        """Merge rows of MATCH into distinct, sorted matches.

        Parameters
        ----------
        parts : iterable of structured arrays
            Rows of the dtype MATCH.
        n : int
            Bytes or bases of the query.

        Returns
        -------
        `ExactMatches`
            The matches.
        """
        rows = np.unique(np.concatenate([np.empty(0, MATCH), *parts]))
        begin = np.where(
            rows["strand"] == REVERSE, n - rows["begin"] - rows["length"], rows["begin"]
        )
        order = np.lexsort((rows["place"], begin, -rows["strand"]))
        rows, begin = rows[order], begin[order]
        return cls(begin, rows["place"].copy(), rows["length"].copy(), rows["strand"].copy())


@dataclass(frozen=True)
class MatchQuery:
    """Query in the form to compare with the text: bytes, or base codes of both strands.

    Attributes
    ----------
    least : minimum number of letters of a match
    """

    strands: tuple[tuple[int, Bytes], ...]
    least: int

    @classmethod
    def parse(cls, query: bytes, kind: Kind, least: int) -> MatchQuery:
        """Return a query in the form to compare; raise BadParams if `least` is below 1."""
        if least < 1:
            raise BadParams(f"matches have 1 byte or more, not {least}")
        letters = np.frombuffer(query, np.uint8)
        if kind == "bytes":
            return cls(((FORWARD, letters),), least)
        codes = CODES[letters]
        return cls(((FORWARD, codes), (REVERSE, reverse_complement_codes(codes))), least)


@dataclass(frozen=True)
class MatchInChunk:
    """Engine task that finds the maximal exact matches that begin in a chunk or cross its end."""

    text: IndexedText
    queries: MatchQuery
    name: str = "match"
    carried_bytes: int = 1  # the engine may use threads if there is no client

    @property
    def peak_bytes(self) -> int:
        """Upper bound of the memory of one chunk's task, in bytes."""
        return peak_bytes_of(self.text) + 2 * self.text.how.chunk

    def __call__(self, number: int) -> npt.NDArray[np.void]:
        """Return the matches with a seed in chunk `number` or across its end, as rows of MATCH."""
        with name_failed_chunk(f"{self.text.store}, chunk {number}"):
            begin, end = self.text.how.window(number)
            reader = _Comparer(self.text.stored)
            found = self._matches(self.text.index(number), begin, reader)
            first, last = reach_of(self.text, number, self.queries.least)
            if first < end < last:
                found += self._matches(build_border_index(self.text, first, last), first, reader)
            return np.unique(np.array(found, MATCH))

    def _matches(
        self, index: TextIndex, shift: int, reader: _Comparer
    ) -> list[tuple[int, int, int, int]]:
        found = []
        for strand, query in self.queries.strands:
            begins, places = index.seeds(query, self.queries.least)
            check_inside(index, places, self.queries.least)
            for begin, place in zip(begins.tolist(), (places + shift).tolist(), strict=True):
                end = begin + self.queries.least
                left, right = reader.around(query[:begin][::-1], query[end:], place, end - begin)
                found.append((strand, begin - left, place - left, left + end - begin + right))
        return found


class _Comparer:
    """Comparison of a stored text with a query, from a position on."""

    def __init__(self, text: StoredText) -> None:
        self._text, self._cached = text, CachedChunks(text.array)

    def around(self, left: Bytes, right: Bytes, place: int, n: int) -> tuple[int, int]:
        """Return the number of equal letters before a seed of n letters, and after it.

        left, right : (k,) uint8, letters of the query next to the seed; the left ones in reverse
            order
        """
        low, high = self._text.record_at(place)
        end = place + n
        return (
            self._common(left[: place - low], place, -1),
            self._common(right[: high - end], end, 1),
        )

    def _common(self, query: Bytes, place: int, way: int) -> int:
        """Return the number of equal letters from `place` on, or backwards if `way` is negative."""
        done, step, room = 0, STEP, query.size
        while done < room:
            n = min(step, room - done)
            own = self._read(place + done, n) if way > 0 else self._read(place - done - n, n)[::-1]
            same = (own == query[done : done + n]) & (own < self._end)
            if not same.all():
                return done + int(np.argmin(same))
            done, step = done + n, 2 * step
        return done

    @property
    def _end(self) -> int:
        """The lowest letter code that never matches."""
        return NOT_A_BASE if self._text.kind == "bases" else 256

    def _read(self, begin: int, n: int) -> Bytes:
        letters = self._cached.read(begin, begin + n).astype(np.uint8, copy=False)
        return CODES[letters] if self._text.kind == "bases" else letters
