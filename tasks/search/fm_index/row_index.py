"""Base class of indexes that find rows of a transform, and walk from rows to positions."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from gangsaw.codecs.core.ragged import RaggedArray
from gangsaw.tasks.search.fm_index.samples import Positions


class RowIndex(ABC):
    """FM-index that finds the rows (sorted suffixes) of patterns, and the text positions of rows.

    Attributes
    ----------
    n : letters of the text
    """

    n: int

    @abstractmethod
    def rows(self, patterns: RaggedArray) -> Positions:
        """Return for each pattern the range of rows that begin with it, (k, 2) int64."""

    @abstractmethod
    def locate_rows(self, rows: Positions) -> Positions:
        """Return the text positions of rows (k,) int64.

        Raise CorruptChunk if the index is invalid.
        """

    def counts(self, patterns: RaggedArray) -> Positions:
        """Return the number of occurrences of each pattern, (k,) int64."""
        return count_row_ranges(self.rows(patterns))

    def locate(self, patterns: RaggedArray) -> tuple[Positions, Positions]:
        """Return pattern indices and positions of all occurrences, (n,) int64 in any order."""
        return self.locate_in_ranges(self.rows(patterns))

    def locate_in_ranges(self, rows: Positions) -> tuple[Positions, Positions]:
        """Return the result of `locate` for patterns whose ranges of rows (k, 2) are known."""
        which, each = _concatenate_rows(rows)
        return which, self.locate_rows(each)


def count_row_ranges(rows: Positions) -> Positions:
    """Return the number of rows in each range (first, end) of (k, 2) int64."""
    counts: Positions = (rows[:, 1] - rows[:, 0]).clip(0)
    return counts


def _concatenate_rows(rows: Positions) -> tuple[Positions, Positions]:
    """Return all rows in ranges (k, 2) int64, concatenated, and the index of each row's range."""
    counts = count_row_ranges(rows)
    which = np.repeat(np.arange(counts.size), counts)
    first = np.repeat(rows[:, 0] - (np.cumsum(counts) - counts), counts)
    return which, first + np.arange(which.size)
