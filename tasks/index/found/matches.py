"""Maximal exact matches of a query: those that no letter on either side makes longer.

Each has a seed, a window of the least length at its begin, in a chunk or across its end. What
crosses ends of chunks is found there more than once, and kept once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.nucleotides.codes import CODES, turned_codes
from gangsaw.codecs.core.nucleotides.letters import NOT_A_BASE
from gangsaw.tasks.engine.failure import naming
from gangsaw.tasks.index.found.find import check_inside, index_of, peak_bytes_of, reach_of
from gangsaw.tasks.index.found.hits import FORWARD, REVERSE
from gangsaw.tasks.index.stored.data import StoredText
from gangsaw.tasks.index.stored.opened import IndexedText
from gangsaw.tasks.index.text.kinds import Kind, TextIndex
from gangsaw.tasks.index.text.samples import Places
from gangsaw.tasks.sequences.held import HeldChunks

STEP = 64  # letters that are compared at first; then twice as many, and so on
MATCH = np.dtype([("strand", "i1"), ("begin", "i8"), ("place", "i8"), ("length", "i8")])
Octets = npt.NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class ExactMatches:
    """Matches of a query, sorted by strand, begin and place.

    Attributes
    ----------
    begin : (n,) int64, of each in the query
    place : (n,) int64, of its first letter in the array
    length : (n,) int64, letters
    strand : (n,) int8: 1, or -1 where the reverse complement of that part of the query is there
    """

    begin: Places
    place: Places
    length: Places
    strand: npt.NDArray[np.int8]

    def __len__(self) -> int:
        """Return how many there are."""
        return self.place.size

    @classmethod
    def joined(cls, parts: Iterable[npt.NDArray[np.void]], n: int) -> ExactMatches:
        """Return rows of MATCH, each once, of a query of n letters."""
        rows = np.unique(np.concatenate([np.empty(0, MATCH), *parts]))
        begin = np.where(
            rows["strand"] == REVERSE, n - rows["begin"] - rows["length"], rows["begin"]
        )
        order = np.lexsort((rows["place"], begin, -rows["strand"]))
        rows, begin = rows[order], begin[order]
        return cls(begin, rows["place"].copy(), rows["length"].copy(), rows["strand"].copy())


@dataclass(frozen=True)
class MatchQuery:
    """A query as it is compared, by strand: one, or of bases two.

    Attributes
    ----------
    least : letters of a match
    """

    strands: tuple[tuple[int, Octets], ...]
    least: int

    @classmethod
    def of(cls, query: bytes, kind: Kind, least: int) -> MatchQuery:
        """Return a query; BadParams for matches of less than one letter."""
        if least < 1:
            raise BadParams(f"matches have 1 letter or more, not {least}")
        letters = np.frombuffer(query, np.uint8)
        if kind == "bytes":
            return cls(((FORWARD, letters),), least)
        codes = CODES[letters]
        return cls(((FORWARD, codes), (REVERSE, turned_codes(codes))), least)


@dataclass(frozen=True)
class MatchInChunk:
    """Finds the matches that have a seed in a chunk or across its end: a task of the engine."""

    text: IndexedText
    queries: MatchQuery
    name: str = "match"
    carried_bytes: int = 1  # lets the engine use threads where there is no client

    @property
    def peak_bytes(self) -> int:
        """Memory of a chunk."""
        return peak_bytes_of(self.text) + 2 * self.text.how.chunk

    def __call__(self, number: int) -> npt.NDArray[np.void]:
        """Return them as rows of MATCH."""
        with naming(f"{self.text.store}, chunk {number}"):
            begin, end = self.text.how.window(number)
            reader = _Comparer(self.text.letters)
            found = self._matches(self.text.index(number), begin, reader)
            first, last = reach_of(self.text, number, self.queries.least)
            if first < end < last:
                found += self._matches(index_of(self.text, first, last), first, reader)
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
    """Compares letters of a text with those of a query."""

    def __init__(self, letters: StoredText) -> None:
        self._letters, self._held = letters, HeldChunks(letters.array)

    def around(self, left: Octets, right: Octets, place: int, n: int) -> tuple[int, int]:
        """Return how many letters are equal before a seed of n letters, and behind it.

        left, right : (k,) uint8, of the query, from the seed on; the left ones go backwards
        """
        low, high = self._letters.record_at(place)
        end = place + n
        return (
            self._common(left[: place - low], place, -1),
            self._common(right[: high - end], end, 1),
        )

    def _common(self, query: Octets, place: int, way: int) -> int:
        """Return how many letters are equal from a place on, or before it and back from there."""
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
        """The first code that is equal to nothing."""
        return NOT_A_BASE if self._letters.kind == "bases" else 256

    def _read(self, begin: int, n: int) -> Octets:
        letters = self._held.read(begin, begin + n).astype(np.uint8, copy=False)
        return CODES[letters] if self._letters.kind == "bases" else letters
