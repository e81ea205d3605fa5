"""What indexes share that find rows of a transform, and walk from these to places."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from gangsaw.tasks.index.text.samples import Places
from gangsaw.tasks.sequences.ragged import Ragged


class RowIndex(ABC):
    """An index that finds the rows of patterns, and the places of rows."""

    @abstractmethod
    def rows(self, patterns: Ragged) -> Places:
        """Return the rows of patterns, (k, 2) int64: the first one of each, and the end."""

    @abstractmethod
    def places(self, rows: Places) -> Places:
        """Return the places of rows (k,) int64; CorruptChunk where the index is of no text."""

    def counts(self, patterns: Ragged) -> Places:
        """Return how often each pattern is there, (k,) int64."""
        return _counts_of(self.rows(patterns))

    def located(self, patterns: Ragged) -> tuple[Places, Places]:
        """Return all places, and which pattern is at each, (n,) int64 in any order."""
        which, rows = _rows_in_turn(self.rows(patterns))
        return which, self.places(rows)


def _counts_of(rows: Places) -> Places:
    """Return how many rows each of (k, 2) int64 has."""
    counts: Places = (rows[:, 1] - rows[:, 0]).clip(0)
    return counts


def _rows_in_turn(rows: Places) -> tuple[Places, Places]:
    """Return all rows between first ones and ends (k, 2) int64, and which of these each is of."""
    counts = _counts_of(rows)
    which = np.repeat(np.arange(counts.size), counts)
    first = np.repeat(rows[:, 0] - (np.cumsum(counts) - counts), counts)
    return which, first + np.arange(which.size)
