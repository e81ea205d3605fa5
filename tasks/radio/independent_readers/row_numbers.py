"""Mapping of times and baselines to the rows of a file, derived from the rows' values alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.sources.source import Region

# first row and number of rows -> their values: (rows, ...)
RowCall: TypeAlias = "Callable[[int, int], NumpyArray]"


@dataclass(frozen=True)
class RowNumbers:
    """Number of the file's row that each element of an array comes from.

    Attributes
    ----------
    shape : extents of the axes that stand for rows
    steps : difference in row number between neighbours along each axis
    """

    shape: tuple[int, ...]
    steps: tuple[int, ...]

    def rows(self, region: Region) -> NDArray[np.int64]:
        """Return the row number of each element of a region."""
        numbers = [np.arange(part.start, part.stop) for part in region]
        along = (n * step for n, step in zip(np.ix_(*numbers), self.steps, strict=True))
        return np.asarray(sum(along), np.int64)

    def read(self, call: RowCall, region: Region) -> NumpyArray:
        """Return the values of a region.

        `call` reads consecutive rows, given the first one and their number.
        """
        rows = self.rows(region)
        order = np.argsort(rows, axis=None)
        ordered = rows.ravel()[order]
        runs = np.split(ordered, np.flatnonzero(np.diff(ordered) != 1) + 1)
        values = np.concatenate([call(int(run[0]), len(run)) for run in runs])
        found = np.empty_like(values)
        found[order] = values
        return found.reshape(*rows.shape, *values.shape[1:])

    def numbers_along(self, number: int) -> RowNumbers:
        """Return the row numbers along one axis, for values that vary only along it."""
        return RowNumbers(self.shape[number : number + 1], self.steps[number : number + 1])

    def keys(self) -> tuple[RowNumbers, RowNumbers]:
        """Return the row numbers of times, and of baselines; all rows for both without a grid."""
        return self.numbers_along(0), self.numbers_along(len(self.shape) - 1)


def find_row_numbers(
    time: NumpyArray, antenna1: NumpyArray, antenna2: NumpyArray
) -> RowNumbers | None:
    """Return the row number of each (time, baseline) if each time has the same baselines.

    time, antenna1, antenna2 : (rows,)

    None if a time and baseline has several rows, as these values do not distinguish them.
    """
    times, n_times = _numbered(np.asarray(time)[:, None])
    pairs, n_pairs = _numbered(np.stack([antenna1, antenna2], axis=1))
    n = len(times)
    if len(np.unique(times * n_pairs + pairs)) < n:
        return None
    if n == n_times * n_pairs:
        if np.array_equal(times * n_pairs + pairs, np.arange(n)):
            return RowNumbers((n_times, n_pairs), (n_pairs, 1))
        if np.array_equal(pairs * n_times + times, np.arange(n)):
            return RowNumbers((n_times, n_pairs), (1, n_times))
    return RowNumbers((n,), (1,))


def _numbered(keys: NumpyArray) -> tuple[NDArray[np.int64], int]:
    """Return the number of each key, in order of first occurrence, and the number of distinct keys.

    keys : (rows, n)
    """
    _, first, which = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[which.ravel()], len(first)
