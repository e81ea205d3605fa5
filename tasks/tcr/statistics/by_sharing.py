"""Distributions of columns by the number of individuals that have a nucleotype, for the plots."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gangsaw.tasks.engine.report.failure import name_failed_chunk
from gangsaw.tasks.tcr.statistics.histograms import (
    Ns,
    ValueCounts,
    Values,
    count_distinct_values,
    mean_and_error,
    quantile,
)
from gangsaw.tasks.tcr.statistics.nucleotypes.extract import COPIES, RUN_ROWS, read_run_file

Groups = dict[tuple[str, int], tuple[Values, Ns]]
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Group:
    """Distribution of a column over the nucleotypes that exactly `individuals` have.

    Attributes
    ----------
    column : name of the column
    individuals : number of individuals
    n : number of nucleotypes
    mean, low, high : mean with its 95 % confidence interval, by the t distribution, as if
        nucleotypes were independent; NaN for one value
    quantiles : for each of QUANTILES the smallest value that this fraction does not exceed
    zeros : number of values that are 0
    """

    column: str
    individuals: int
    n: int
    mean: float
    low: float
    high: float
    quantiles: tuple[float, ...]
    zeros: int


@dataclass(frozen=True)
class CountGroups:
    """Task over a file of nucleotypes: histograms of columns for each number of individuals."""

    columns: tuple[str, ...]
    name: str = "associate-groups"

    @property
    def peak_bytes(self) -> int:
        """Upper bound of the memory of one call, in bytes."""
        return COPIES * 8 * RUN_ROWS * len(self.columns)

    def __call__(self, path: Path) -> Groups:
        """Return histograms by column and number of individuals."""
        with name_failed_chunk(path.name):
            table = read_run_file(path, (*self.columns, "individuals"))
            people = table["individuals"].to_numpy()
            rows = {int(k): np.flatnonzero(people == k) for k in np.unique(people)}
            return {
                (name, k): count_distinct_values(table[name].to_numpy()[own])
                for name in self.columns
                for k, own in rows.items()
            }


def group(column: str, individuals: int, counts: ValueCounts) -> Group:
    """Return mean, quantiles and other figures of a column from its histogram."""
    mean, error = mean_and_error(counts)
    half = _t_quantile(counts.n) * error
    return Group(
        column=column,
        individuals=individuals,
        n=counts.n,
        mean=mean,
        low=mean - half,
        high=mean + half,
        quantiles=tuple(quantile(counts, part) for part in QUANTILES),
        zeros=int(counts.counts[counts.values == 0].sum()),
    )


def groups(
    columns: Sequence[str], tallies: Mapping[tuple[str, int], ValueCounts]
) -> tuple[Group, ...]:
    """Return the figures of all histograms, by column, then by number of individuals.

    `tallies` maps (column, individuals) to the histogram.
    """
    people = sorted({k for _, k in tallies})
    return tuple(group(name, k, tallies[name, k]) for name in columns for k in people)


def _t_quantile(n: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(n - 1, 0.975)) if n > 1 else math.nan
