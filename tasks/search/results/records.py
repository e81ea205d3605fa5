"""Records of a genome, or reads, at positions of a text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.genomics.genomes.stored.genome import Genome
from gangsaw.tasks.genomics.sequences.cached_chunks import CachedChunks
from gangsaw.tasks.search.fm_index.samples import Positions
from gangsaw.tasks.search.stored.data import StoredText

STEP = 1 << 20  # start positions of reads loaded at once


class RecordSpans(NamedTuple):
    """Records that contain given text positions, (k,) int64 each.

    Attributes
    ----------
    number : index of the record, from 0
    begin, end : range of its residues in the text
    """

    number: Positions
    begin: Positions
    end: Positions


class TextRecords(Protocol):
    """Records of a text, found by position or number."""

    def find(self, positions: Positions) -> RecordSpans:
        """Return the records that contain positions (k,) int64."""

    def label_of(self, number: int) -> dict[str, object]:
        """Return the label of a record: "record" with its name, or "read" with its number."""


class GenomeRecords:
    """Records of a stored genome, found by position or number."""

    def __init__(self, store: str) -> None:
        self._genome = Genome(store)

    def find(self, positions: Positions) -> RecordSpans:
        """Return the records that contain positions (k,) int64."""
        starts = self._genome.offsets
        number = np.searchsorted(starts, positions, "right") - 1
        return RecordSpans(number, starts[number], starts[number + 1])

    def label_of(self, number: int) -> dict[str, object]:
        """Return the label of a record: "record" with its name."""
        return {"record": self._genome.names[number]}


class StoredReads:
    """Reads of a store, found by position or number; only the needed offsets are read."""

    def __init__(self, starts: CachedChunks) -> None:
        self._starts = starts

    def find(self, positions: Positions) -> RecordSpans:
        """Return the reads that contain positions (k,) int64."""
        order = np.argsort(positions)
        found = np.empty((positions.size, 3), np.int64)
        for first, starts in self._around(positions[order]):
            if (np.diff(starts) < 1).any():
                raise CorruptChunk("begins of reads do not grow")
            low, high = np.searchsorted(positions[order], [starts[0], starts[-1]])
            own = order[low:high]
            at = np.searchsorted(starts, positions[own], "right")
            found[own] = np.stack((first + at - 1, starts[at - 1], starts[at] - 1), axis=1)
        return RecordSpans(*found.T.copy())

    def label_of(self, number: int) -> dict[str, object]:
        """Return the label of a read: "read" with its number from 0, as in `gangsaw extract`."""
        return {"read": number}

    def _around(self, positions: Positions) -> Iterator[tuple[int, Positions]]:
        """Yield blocks of read offsets that cover positions, with the first read's number."""
        if not positions.size:
            return
        first, last = (self._number(int(positions[at])) for at in (0, -1))
        for begin in range(first, last + 1, STEP):
            end = min(begin + STEP, last + 1)
            yield begin, self._starts.read(begin, end + 1).astype(np.int64)

    def _number(self, place: int) -> int:
        reads = range(self._starts.size - 1)
        return bisect_right(reads, place, key=lambda i: int(self._starts.read(i, i + 1)[0])) - 1


def open_text_records(store: str, text: StoredText) -> TextRecords | None:
    """Return the records or reads of a text; None if it has none."""
    if text.borders is not None:
        return GenomeRecords(store)
    return None if text.reads is None else StoredReads(CachedChunks(text.reads))
