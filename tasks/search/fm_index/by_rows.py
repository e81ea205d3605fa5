"""Base class of indexes that find rows of a transform, and walk from rows to positions."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from gangsaw.tasks.genomics.sequences.ragged import Ragged
from gangsaw.tasks.search.fm_index.samples import Positions


class RowIndex(ABC):
    """An index that finds the rows of patterns, and the places of rows.

    Attributes
    ----------
    n : letters of the text
    """

    n: int

    @abstractmethod
    def rows(self, patterns: Ragged) -> Positions:
        """Return the first row and the end of each pattern, (k, 2) int64."""

    @abstractmethod
    def locate_rows(self, rows: Positions) -> Positions:
        """Return the positions of rows (k,) int64; raise CorruptChunk if the index is invalid."""

    def counts(self, patterns: Ragged) -> Positions:
        """Return how often each pattern is there, (k,) int64."""
        return count_row_ranges(self.rows(patterns))

    def located(self, patterns: Ragged) -> tuple[Positions, Positions]:
        """Return all places, and which pattern is at each, (n,) int64 in any order."""
        return self.located_at(self.rows(patterns))

    def located_at(self, rows: Positions) -> tuple[Positions, Positions]:
        """Return the same of patterns whose rows (k, 2) are found."""
        which, each = _rows_in_turn(rows)
        return which, self.locate_rows(each)


def count_row_ranges(rows: Positions) -> Positions:
    """Return how many rows each of (k, 2) int64 has."""
    counts: Positions = (rows[:, 1] - rows[:, 0]).clip(0)
    return counts


def _rows_in_turn(rows: Positions) -> tuple[Positions, Positions]:
    """Return all rows between first ones and ends (k, 2) int64, and which of these each is of."""
    counts = count_row_ranges(rows)
    which = np.repeat(np.arange(counts.size), counts)
    first = np.repeat(rows[:, 0] - (np.cumsum(counts) - counts), counts)
    return which, first + np.arange(which.size)
