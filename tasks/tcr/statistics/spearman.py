"""Spearman's rank correlation out of core: exact, with mid-ranks for ties.

There are two passes: histograms of every column, then sums of products of ranks. Ranks are doubled
and centred, so that all sums are integers and do not depend on the partition of rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine.report.failure import name_failed_chunk
from gangsaw.tasks.tcr.statistics.histograms import (
    Ns,
    ValueCounts,
    Values,
    centred_ranks,
    count_distinct_values,
    sum_of_squares,
)
from gangsaw.tasks.tcr.statistics.nucleotypes.extract import COPIES, RUN_ROWS, read_run_file

if TYPE_CHECKING:
    import pyarrow as pa

MAX_ROWS = 1 << 31  # so that sums of products of a run's ranks fit 64 bits
LOW_BITS = 16
P_VALUES = "two-sided, by the t distribution with n - 2 degrees of freedom"


@dataclass(frozen=True)
class Correlation:
    """Spearman's correlation of a path count with an outcome.

    Attributes
    ----------
    paths, outcome : names of the two columns
    rho : NaN if a column is constant
    p : two-sided, from t = rho sqrt((n - 2) / (1 - rho^2)) with n - 2 degrees of freedom; it
        assumes independent nucleotypes, though those of one individual are not
    n : number of nucleotypes
    most : upper bound of rho given the ties, reached if both columns have the same order
    """

    paths: str
    outcome: str
    rho: float
    p: float
    n: int
    most: float


@dataclass(frozen=True)
class CountColumns:
    """Task of the first pass over the files: distinct values of each column with their counts."""

    columns: tuple[str, ...]
    name: str = "associate-tally"

    @property
    def peak_bytes(self) -> int:
        """Upper bound of the memory of one call, in bytes."""
        return COPIES * 8 * RUN_ROWS * len(self.columns)

    def __call__(self, path: Path) -> dict[str, tuple[Values, Ns]]:
        """Return distinct values and counts of each column of a file."""
        with name_failed_chunk(path.name):
            table = read_run_file(path, self.columns)
            return {name: count_distinct_values(table[name].to_numpy()) for name in self.columns}


@dataclass(frozen=True)
class RankProducts:
    """Task of the second pass: sums of products of ranks, for each path count and outcome."""

    columns: tuple[str, ...]
    outcomes: tuple[str, ...]
    folder: Path
    name: str = "associate-ranks"

    @property
    def peak_bytes(self) -> int:
        """Upper bound of the memory of one call, in bytes."""
        return COPIES * 8 * RUN_ROWS * len((*self.columns, *self.outcomes))

    def __call__(self, path: Path) -> list[list[int]]:
        """Return the sum of rank products over the rows of a file, by column and outcome."""
        with name_failed_chunk(path.name):
            table = read_run_file(path, (*self.columns, *self.outcomes))
            outcomes = [self._ranks(name, table) for name in self.outcomes]
            return [
                [product(self._ranks(name, table), y) for y in outcomes] for name in self.columns
            ]

    def _ranks(self, name: str, table: pa.Table) -> Ns:
        values, ranks = (
            np.load(rank_file(self.folder, name, what), mmap_mode="r") for what in RANK_FILES
        )
        found: Ns = np.asarray(ranks[np.searchsorted(values, table[name].to_numpy())])
        return found


RANK_FILES = ("values", "ranks")


def rank_file(folder: Path, column: str, what: str) -> Path:
    """Return the path of the file with a column's distinct values, or with their ranks."""
    return folder / f"{quote(column, safe='')}.{what}.npy"


def write_ranks(folder: Path, column: str, counts: ValueCounts) -> None:
    """Write the distinct values and ranks of a column for `RankProducts`."""
    for what, array in zip(RANK_FILES, (counts.values, centred_ranks(counts)), strict=True):
        np.save(rank_file(folder, column, what), array)


def product(x: Ns, y: Ns) -> int:
    """Return the exact sum of x * y, by halves of y, as whole products may exceed 64 bits."""
    low = y & ((1 << LOW_BITS) - 1)
    return (int(x @ (y >> LOW_BITS)) << LOW_BITS) + int(x @ low)


def check_row_count(n: int) -> None:
    """Raise `BadParams` if there are too many rows for the sums."""
    if n >= MAX_ROWS:
        raise BadParams(f"{n} nucleotypes: correlations need fewer than 2^31")


def correlation(total: int, x: ValueCounts, y: ValueCounts) -> tuple[float, float]:
    """Return Spearman's rho and its P value.

    `total` is the sum of rank products, x and y are the histograms of both columns.
    """
    squares = sum_of_squares(x) * sum_of_squares(y)
    if not squares:
        return math.nan, math.nan
    # integers of about a hundred bits: their ratio is rounded once, and so is the root
    root = math.isqrt(squares << 128)
    rho = max(-1.0, min(1.0, (total << 64) / root))
    return rho, p_value(rho, x.n)


def compute_largest_rho(x: ValueCounts, y: ValueCounts) -> float:
    """Return the largest rho that two columns with these ties can have; NaN for constants.

    The bound pairs the ranks of both in ascending order: runs of equal ranks of one, cut at the
    ends of those of the other.
    """
    squares = float(sum_of_squares(x)) * float(sum_of_squares(y))
    if not squares:
        return math.nan
    ends_x, ends_y = np.cumsum(x.counts), np.cumsum(y.counts)
    ends = np.union1d(ends_x, ends_y)
    lengths = np.diff(ends, prepend=0).astype(float)
    ranks = (
        centred_ranks(tally)[np.searchsorted(own, ends)].astype(float)
        for tally, own in ((x, ends_x), (y, ends_y))
    )
    return float(lengths @ np.multiply(*ranks)) / math.sqrt(squares)


def p_value(rho: float, n: int) -> float:
    """Return the two-sided P value of a rank correlation; see `P_VALUES`."""
    from scipy.special import stdtr

    if n < 3:
        return math.nan
    if abs(rho) == 1:
        return 0.0
    t = rho * math.sqrt((n - 2) / ((1 - rho) * (1 + rho)))
    return float(2 * stdtr(n - 2, -abs(t)))


def sum_over_runs(parts: Sequence[list[list[int]]]) -> list[list[int]]:
    """Add up the sums of rank products of all files, by column and outcome."""
    return [[sum(each) for each in zip(*rows, strict=True)] for rows in zip(*parts, strict=True)]


def correlations(
    columns: Sequence[str],
    outcomes: Sequence[str],
    totals: list[list[int]],
    tallies: dict[str, ValueCounts],
) -> tuple[Correlation, ...]:
    """Return the correlations of all columns with all outcomes, from sums of rank products."""
    found = []
    for name, row in zip(columns, totals, strict=True):
        for outcome, total in zip(outcomes, row, strict=True):
            rho, p = correlation(total, tallies[name], tallies[outcome])
            most = compute_largest_rho(tallies[name], tallies[outcome])
            found.append(Correlation(name, outcome, rho, p, tallies[name].n, most))
    return tuple(found)
