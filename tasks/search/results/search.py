"""Search in a text of a store by its indexes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine.report.progress import Meter, OnProgress
from gangsaw.tasks.engine.run.run import run_batches
from gangsaw.tasks.engine.scheduling.work import Task
from gangsaw.tasks.genomics.sequences.cached_chunks import CachedChunks
from gangsaw.tasks.search.fm_index.kinds import Kind
from gangsaw.tasks.search.fm_index.samples import Positions
from gangsaw.tasks.search.results.find import CountInChunk, LocateInChunk
from gangsaw.tasks.search.results.hits import Occurrences, Patterns
from gangsaw.tasks.search.results.line_counts import HitLines, LinesInChunk, lines_of
from gangsaw.tasks.search.results.matches import ExactMatches, MatchInChunk, MatchQuery
from gangsaw.tasks.search.results.records import TextRecords, open_text_records
from gangsaw.tasks.search.stored.indexed_text import IndexedText, open_indexed
from gangsaw.tasks.store.objects.stores import as_address

if TYPE_CHECKING:
    from distributed import Client

Pattern = str | bytes
LEAST = 20  # minimum letters of a match
FoundT = TypeVar("FoundT")


class Search:
    r"""Search for patterns in a stored text by its indexes; the text is read only as needed.

    Bytes are matched exactly. For bases, case is ignored and both strands are searched. Characters
    other than A, C, G and T match nothing there, and no match extends across records.

    Parameters
    ----------
    text : `IndexedText`
        Text with its indexes; `open` finds both.
    client : distributed.Client, optional
        Dask client. None works in threads of this process.

    Attributes
    ----------
    store : str
        Path or address of the store.
    name : str
        Name of the indexed array.

    References
    ----------
    .. [1] P. Ferragina and G. Manzini, "Opportunistic data structures with applications", FOCS
       2000.
    .. [2] T. Gagie, G. Navarro and N. Prezza, "Fully functional suffix trees and optimal text
       searching in BWT-runs bounded space", Journal of the ACM 67(1), 2020.

    Examples
    --------
    >>> from pathlib import Path
    >>> import gangsaw.search
    >>> size = Path("log.txt").write_text("one error\nno line\nan error, an error\n")
    >>> summary = gangsaw.compress("log.txt", "log.zarr")
    >>> summary = gangsaw.search.index("log.zarr")
    >>> search = gangsaw.search.open("log.zarr")
    >>> search.count("error"), search.count_lines("error")
    (3, 2)
    >>> search.extract(0, 9)
    b'one error'
    """

    def __init__(self, text: IndexedText, client: Client | None = None) -> None:
        self._text, self._client = text, client
        self.store, self.name = text.store, text.name

    def __len__(self) -> int:
        """Return the number of letters of the text."""
        return self._text.how.size

    def __repr__(self) -> str:
        """Return store, array and size."""
        return f"<Search in {self.store}/{self.name}: {len(self):,} {self.kind}>"

    @property
    def has_lines(self) -> bool:
        """True if the text has lines to count; a genome has none."""
        return self._text.stored.borders is None

    @property
    def kind(self) -> Kind:
        """Kind of the index: "bases", searched on both strands, or "bytes"."""
        return self._text.how.kind

    def count(self, pattern: Pattern) -> int:
        """Return the number of occurrences of a pattern.

        Parameters
        ----------
        pattern : str or bytes
            As for `counts`.

        Returns
        -------
        int
            Number of occurrences, which may overlap.
        """
        return int(self.counts([pattern])[0])

    def counts(
        self, patterns: Sequence[Pattern], *, on_progress: OnProgress | None = None
    ) -> Positions:
        """Return the number of occurrences of each pattern.

        Parameters
        ----------
        patterns : list of str or bytes
            Patterns; a `str` is encoded as UTF-8.
        on_progress : callable, optional
            Function that is called after each chunk with the state of the search.

        Returns
        -------
        (k,) int64
            Numbers of occurrences, which may overlap.

        Raises
        ------
        BadParams
            A pattern is empty.
        JobFailed
            The index is damaged.
        """
        wanted = self._patterns(patterns)
        total = np.zeros(wanted.n, np.int64)

        def on_done(_: int, counts: Positions) -> None:
            total[:] += counts
            meter.add(1, 0, 0)

        meter = Meter(len(self._text), on_progress)
        self._run(CountInChunk(self._text, wanted), on_done)
        return total

    def count_lines(
        self, patterns: Pattern | Sequence[Pattern], *, on_progress: OnProgress | None = None
    ) -> int:
        """Return the number of lines, or reads, in which any pattern begins, as grep counts.

        Parameters
        ----------
        patterns : str, bytes or list of these
            As for `counts`.
        on_progress : callable, optional
            Function that is called after each chunk with the state of the search.

        Returns
        -------
        int
            Number of lines or reads.

        Raises
        ------
        BadParams
            A pattern is empty, or the text is a genome, which has no lines.
        JobFailed
            The index is damaged.
        """
        if not self.has_lines:
            raise BadParams(f"{self.store} holds a genome, which has no lines: count matches")
        if self.records is not None:
            hits = self.locate(patterns, on_progress=on_progress)
            return int(np.unique(self.records.find(hits.place).number).size)
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
        """Return the occurrences of patterns.

        Parameters
        ----------
        patterns : str, bytes or list of these
            As for `counts`.
        most : int, optional
            Number of first occurrences of each pattern to return. The search stops after the chunks
            that contain this many of each. None returns all.
        on_progress : callable, optional
            Function that is called after each chunk with the state of the search.

        Returns
        -------
        Occurrences
            Positions and strands.

        Raises
        ------
        BadParams
            A pattern is empty.
        JobFailed
            The index is damaged.
        """
        if most is not None and most < 1:
            raise BadParams(f"a search returns 1 hit per pattern or more, not {most}")
        wanted = self._patterns(patterns)
        parts: list[Occurrences] = []

        def on_done(_: int, hits: Occurrences) -> None:
            parts.append(hits)
            meter.add(1, 0, 0)

        meter = Meter(len(self._text), on_progress)
        for chunks in _growing_ranges(len(self._text), most):
            self._run(LocateInChunk(self._text, wanted, most), on_done, chunks)
            parts = [Occurrences.merge(parts, most)]
            if most is not None:
                wanted = wanted.select(np.bincount(parts[0].pattern, minlength=wanted.n) < most)
            if not len(wanted.symbols):
                break
        return Occurrences.merge(parts, most)

    def mems(
        self, query: Pattern, least: int = LEAST, *, on_progress: OnProgress | None = None
    ) -> ExactMatches:
        """Return the maximal exact matches of a query.

        A match is a part of the query that equals the text at a position, for bases on either
        strand, and that cannot be extended on either side.

        Parameters
        ----------
        query : str or bytes
            Text or bases to match; a `str` is encoded as UTF-8.
        least : int, default 20
            Shortest length of a match.
        on_progress : callable, optional
            Function that is called after each chunk with the state of the search.

        Returns
        -------
        `ExactMatches`
            Positions, lengths and strands.

        Raises
        ------
        BadParams
            Windows of `least` bytes or bases occur more than 4 million times in a chunk.
        JobFailed
            The index is damaged.
        """
        letters = query.encode() if isinstance(query, str) else query
        parts: list[npt.NDArray[np.void]] = []

        def on_done(_: int, rows: npt.NDArray[np.void]) -> None:
            parts.append(rows)
            meter.add(1, 0, 0)

        meter = Meter(len(self._text), on_progress)
        self._run(MatchInChunk(self._text, MatchQuery.parse(letters, self.kind, least)), on_done)
        return ExactMatches.merge(parts, len(letters))

    def extract(self, begin: int, end: int) -> bytes:
        """Return bytes begin..end - 1 of the stored text.

        They are read from the store: an index of bases has no case and no other characters. An
        index of bytes gives the text backwards, byte by byte, each by a rank in every level of its
        tree.

        Parameters
        ----------
        begin : int
            Position of the first byte or base.
        end : int
            Position after the last one.

        Returns
        -------
        bytes
            The text.

        Raises
        ------
        BadParams
            The range is invalid.
        """
        if not 0 <= begin <= end <= len(self):
            raise BadParams(f"{self.name} has positions 0 to {len(self):,}, not {begin} to {end}")
        letters = self._text.stored.read(begin, end)
        self._text.stored.check()
        return letters.tobytes()

    @cached_property
    def records(self) -> TextRecords | None:
        """Records of a genome, or reads of a store, by position; None for other texts."""
        return open_text_records(self.store, self._text.stored)

    def cached_text(self) -> CachedChunks:
        """Return a chunk-wise reader of the text that caches the last chunks.

        Returns
        -------
        `CachedChunks`
            Reader. It raises JobFailed if the text changed before a chunk was read.
        """
        return CachedChunks(self._text.stored.with_checks())

    def _patterns(self, patterns: Pattern | Sequence[Pattern]) -> Patterns:
        some = [patterns] if isinstance(patterns, str | bytes) else patterns
        return Patterns.parse([p.encode() if isinstance(p, str) else p for p in some], self.kind)

    def _run(
        self,
        task: Task[int, FoundT],
        on_done: Callable[[int, FoundT], None],
        chunks: range | None = None,
    ) -> None:
        """Run a task on some chunks, or on all; raise JobFailed if the text changed meanwhile."""
        chunks = range(len(self._text)) if chunks is None else chunks
        run_batches(task, chunks, on_done, client=self._client)
        self._text.stored.check()


def _growing_ranges(n: int, most: int | None) -> Iterator[range]:
    """Yield ranges of chunk numbers: all n at once, or with `most`, twice as many each time."""
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
    r"""Open an indexed array of a store for search.

    Parameters
    ----------
    store : path or address
        Store of the text.
    index : path or address, optional
        Store of the indexes; None is next to the store.
    variable : str, optional
        Name of the array, if several are indexed.
    client : distributed.Client, optional
        Dask client. None works in threads of this process.
    storage_options : dict, optional
        Options of the file systems of addresses, as for `gangsaw.compress`.

    Returns
    -------
    Search
        Search in the array.

    Raises
    ------
    BadParams
        There is no index, or it is of another content.
    CorruptChunk
        Metadata are damaged.

    See Also
    --------
    index : Index the text of a store.

    Examples
    --------
    >>> from pathlib import Path
    >>> import gangsaw.search
    >>> size = Path("log.txt").write_text("one error\nno line\nan error, an error\n")
    >>> summary = gangsaw.compress("log.txt", "log.zarr")
    >>> summary = gangsaw.search.index("log.zarr")
    >>> gangsaw.search.open("log.zarr").counts(["error", "line", "no error"]).tolist()
    [3, 1, 0]
    """
    where = None if index is None else as_address(index, storage_options)
    return Search(open_indexed(as_address(store, storage_options), where, variable), client)
