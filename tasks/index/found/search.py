"""Search in a text of a store, by its indexes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine.progress import Meter, OnProgress
from gangsaw.tasks.engine.window import run
from gangsaw.tasks.engine.work import Task
from gangsaw.tasks.index.found.find import CountInChunk, LocateInChunk
from gangsaw.tasks.index.found.hits import Occurrences, Patterns
from gangsaw.tasks.index.found.line_counts import HitLines, LinesInChunk, lines_of
from gangsaw.tasks.index.found.matches import ExactMatches, MatchInChunk, MatchQuery
from gangsaw.tasks.index.found.records import TextRecords, records_of
from gangsaw.tasks.index.stored.opened import IndexedText, open_indexed
from gangsaw.tasks.index.text.kinds import Kind
from gangsaw.tasks.index.text.samples import Places
from gangsaw.tasks.sequences.held import HeldChunks
from gangsaw.tasks.store.stores import as_address

if TYPE_CHECKING:
    from distributed import Client

Pattern = str | bytes
LEAST = 20  # letters of a match
FoundT = TypeVar("FoundT")


class Search:
    """A text with its indexes; the text itself is read where it is asked for.

    Bytes are found as they are. Of bases case does not count, both strands are searched, other
    letters than A, C, G and T match nothing, and nothing is found across borders of records.

    Attributes
    ----------
    store : path or address
    name : of the array
    """

    def __init__(self, text: IndexedText, client: Client | None = None) -> None:
        self._text, self._client = text, client
        self.store, self.name = text.store, text.name

    def __len__(self) -> int:
        """Return how many letters the text has."""
        return self._text.how.size

    def __repr__(self) -> str:
        """Return store, array and size."""
        return f"<Search in {self.store}/{self.name}: {len(self):,} {self.kind}>"

    @property
    def has_lines(self) -> bool:
        """Whether lines can be counted: a genome has none."""
        return self._text.letters.borders is None

    @property
    def kind(self) -> Kind:
        """What is found: "bases" of either strand, or "bytes"."""
        return self._text.how.kind

    def count(self, pattern: Pattern) -> int:
        """Return how often a pattern is there; see `counts`."""
        return int(self.counts([pattern])[0])

    def counts(
        self, patterns: Sequence[Pattern], *, on_progress: OnProgress | None = None
    ) -> Places:
        """Return how often each pattern is there, (k,) int64.

        Occurrences may overlap. A text is UTF-8. Raises BadParams for an empty pattern, JobFailed
        for a damaged index.
        """
        wanted = self._patterns(patterns)
        total = np.zeros(wanted.n, np.int64)

        def on_done(_: int, counts: Places) -> None:
            total[:] += counts
            meter.add(1, 0, 0)

        meter = Meter(len(self._text), on_progress)
        self._run(CountInChunk(self._text, wanted), on_done)
        return total

    def count_lines(
        self, patterns: Pattern | Sequence[Pattern], *, on_progress: OnProgress | None = None
    ) -> int:
        """Return in how many lines any of the patterns begins, as grep counts; of reads, reads.

        Raises BadParams for a genome, which has no lines; see `counts`.
        """
        if not self.has_lines:
            raise BadParams(f"{self.store} holds a genome, which has no lines: count matches")
        if self.records is not None:
            hits = self.locate(patterns, on_progress=on_progress)
            return int(np.unique(self.records.of(hits.place).number).size)
        found: dict[int, HitLines] = {}

        def on_done(chunk: int, lines: HitLines) -> None:
            found[chunk] = lines
            meter.add(1, 0, 0)

        meter = Meter(len(self._text), on_progress)
        self._run(LinesInChunk(self._text, self._patterns(patterns)), on_done)
        return lines_of(found[chunk] for chunk in sorted(found))

    def locate(
        self,
        patterns: Pattern | Sequence[Pattern],
        most: int | None = None,
        *,
        on_progress: OnProgress | None = None,
    ) -> Occurrences:
        """Return where patterns are, of each the first `most`, or all; see `counts`.

        With `most`, chunks behind those that have so many of each are not looked at.
        """
        if most is not None and most < 1:
            raise BadParams(f"of each pattern 1 hit or more is asked for, not {most}")
        wanted = self._patterns(patterns)
        parts: list[Occurrences] = []

        def on_done(_: int, hits: Occurrences) -> None:
            parts.append(hits)
            meter.add(1, 0, 0)

        meter = Meter(len(self._text), on_progress)
        for chunks in _waves(len(self._text), most):
            self._run(LocateInChunk(self._text, wanted, most), on_done, chunks)
            parts = [Occurrences.joined(parts, most)]
            if most is not None:
                wanted = wanted.only(np.bincount(parts[0].pattern, minlength=wanted.n) < most)
            if not len(wanted.letters):
                break
        return Occurrences.joined(parts, most)

    def mems(
        self, query: Pattern, least: int = LEAST, *, on_progress: OnProgress | None = None
    ) -> ExactMatches:
        """Return the maximal exact matches of a query with at least so many letters.

        Each is a part of the query and a place of the text that are equal, of bases on either
        strand, and that no letter on either side makes longer. Raises BadParams where windows of
        `least` letters are there more than 4 million times in a chunk.
        """
        letters = query.encode() if isinstance(query, str) else query
        parts: list[npt.NDArray[np.void]] = []

        def on_done(_: int, rows: npt.NDArray[np.void]) -> None:
            parts.append(rows)
            meter.add(1, 0, 0)

        meter = Meter(len(self._text), on_progress)
        self._run(MatchInChunk(self._text, MatchQuery.of(letters, self.kind, least)), on_done)
        return ExactMatches.joined(parts, len(letters))

    def extract(self, begin: int, end: int) -> bytes:
        """Return letters begin..end - 1 as they are in the store; BadParams outside.

        They are read from the store: an index of bases has no case and no other letters, and one of
        a text gives bytes backwards, one by one, each by a rank in every level of its tree.
        """
        if not 0 <= begin <= end <= len(self):
            raise BadParams(f"{self.name} has letters 0 to {len(self):,}, not {begin} to {end}")
        letters = self._text.letters.read(begin, end)
        self._text.letters.check()
        return letters.tobytes()

    @cached_property
    def records(self) -> TextRecords | None:
        """The records of a genome, or the reads; None of another text."""
        return records_of(self.store, self._text.letters)

    def held(self) -> HeldChunks:
        """Return what reads the text by chunks, and holds the last ones.

        JobFailed is raised where the text changed before a chunk was read.
        """
        return HeldChunks(self._text.letters.checked())

    def _patterns(self, patterns: Pattern | Sequence[Pattern]) -> Patterns:
        some = [patterns] if isinstance(patterns, str | bytes) else patterns
        return Patterns.of([p.encode() if isinstance(p, str) else p for p in some], self.kind)

    def _run(
        self,
        task: Task[int, FoundT],
        on_done: Callable[[int, FoundT], None],
        chunks: range | None = None,
    ) -> None:
        """Run a task on some chunks, or on all; JobFailed where the text changed meanwhile."""
        chunks = range(len(self._text)) if chunks is None else chunks
        run(task, chunks, on_done, client=self._client)
        self._text.letters.check()


def _waves(n: int, most: int | None) -> Iterator[range]:
    """Yield ranges of n chunks: all, or twice as many each time where few hits are wanted."""
    first, size = 0, n if most is None else 1
    while first < n:
        yield range(first, min(first + size, n))
        first, size = first + size, 2 * size


def open_search(
    store: str | Path,
    *,
    index: str | Path | None = None,
    variable: str | None = None,
    client: Client | None = None,
    storage_options: Mapping[str, object] | None = None,
) -> Search:
    """Return what searches a text of a store.

    Parameters
    ----------
    store : path or address
    index : of its indexes, unless they are beside the store
    variable : array, where several are indexed
    client : Dask client; None works in threads of this process
    storage_options : of the file systems of addresses, as of `gangsaw.compress`

    Raises
    ------
    BadParams : there is no index, or one of another content
    CorruptChunk : metadata are damaged
    """
    where = None if index is None else as_address(index, storage_options)
    return Search(open_indexed(as_address(store, storage_options), where, variable), client)
