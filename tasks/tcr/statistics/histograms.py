"""Histograms of exact values, from which ranks, means and quantiles follow."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.arrays import NumpyArray

Values = NumpyArray
Ns = NDArray[np.int64]


class ValueCounts:
    """Sorted distinct values with their counts.

    It needs 16 bytes per distinct value, three times that while it grows. Added histograms are
    merged only once they are together as long as the merged one. So N values from many batches take
    N log N steps, and not N times the number of batches.
    """

    def __init__(self) -> None:
        self._merged: tuple[Values, Ns] | None = None
        self._waiting: list[tuple[Values, Ns]] = []

    def add(self, values: Values, counts: Ns) -> None:
        """Add distinct values with their counts."""
        self._waiting.append((values, counts))
        n_merged = 0 if self._merged is None else len(self._merged[0])
        if sum(len(each[0]) for each in self._waiting) > n_merged:
            self._merge()

    @property
    def values(self) -> Values:
        """Distinct values (distinct,), sorted."""
        return self._merge()[0]

    @property
    def counts(self) -> Ns:
        """Number of occurrences of each value, (distinct,)."""
        return self._merge()[1]

    @property
    def n(self) -> int:
        """Total number of values."""
        return int(self.counts.sum())

    def _merge(self) -> tuple[Values, Ns]:
        parts = [*([] if self._merged is None else [self._merged]), *self._waiting]
        if len(parts) == 1:
            self._merged = parts[0]
        elif parts:
            self._merged = merge_counts(
                *(np.concatenate(column) for column in zip(*parts, strict=True))
            )
        self._waiting = []
        return self._merged or (np.zeros(0), np.zeros(0, np.int64))


def merge_counts(values: Values, counts: Ns) -> tuple[Values, Ns]:
    """Return sorted distinct values, with the counts of equal ones summed."""
    order = np.argsort(values, kind="stable")  # linear time for a concatenation of sorted runs
    values, counts = values[order], counts[order]
    first = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    return values[first], np.add.reduceat(counts, first)


def count_distinct_values(column: Values) -> tuple[Values, Ns]:
    """Return the distinct values of a column and their counts."""
    values, counts = np.unique(column, return_counts=True)
    return values, counts.astype(np.int64)


def centred_ranks(histogram: ValueCounts) -> Ns:
    """Return 2 (mid-rank) - (n + 1) for each distinct value: an integer with mean 0."""
    counts = histogram.counts
    ends = np.cumsum(counts)
    ranks: Ns = 2 * ends - counts - histogram.n
    return ranks


def sum_of_squares(counts: ValueCounts) -> int:
    """Return the sum of the squares of `centred_ranks` over all values: (n^3 - n - ties) / 3."""
    n = counts.n
    repeated, times = np.unique(counts.counts, return_counts=True)
    pairs = zip(repeated.tolist(), times.tolist(), strict=True)
    ties: int = sum(times * (t**3 - t) for t, times in pairs)
    return (n**3 - n - ties) // 3


def mean_and_error(histogram: ValueCounts) -> tuple[float, float]:
    """Return mean and standard error of the mean; NaN for too few values."""
    values, counts, n = histogram.values, histogram.counts, histogram.n
    if not n:
        return math.nan, math.nan
    mean = math.fsum((values * counts.astype(float)).tolist()) / n
    squares = math.fsum((counts * (values.astype(float) - mean) ** 2).tolist())
    return mean, math.sqrt(squares / (n - 1) / n) if n > 1 else math.nan


def quantile(counts: ValueCounts, part: float) -> float:
    """Return the smallest value that at least the fraction `part` of all values does not exceed."""
    ends = np.cumsum(counts.counts)
    return float(counts.values[np.searchsorted(ends, part * ends[-1])])
