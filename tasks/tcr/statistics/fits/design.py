"""Design of a regression: standardised terms, without constant and collinear ones."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gangsaw.tasks.engine.report.failure import name_failed_chunk
from gangsaw.tasks.tcr.sharing.table import SHARED
from gangsaw.tasks.tcr.statistics.fits.terms import DEPTH, Term
from gangsaw.tasks.tcr.statistics.nucleotypes.extract import COPIES, OWNERS, RUN_ROWS, read_run_file
from gangsaw.tasks.tcr.statistics.nucleotypes.owners import Owners, owners_of

Floats = NDArray[np.float64]
COLLINEAR = 1e-10  # fraction of a standardised predictor's variance that the others do not explain
SHOWN = 1e-6  # smallest coefficient that messages about such a combination name


@dataclass(frozen=True)
class Design:
    """Terms of a regression in their order, and their standardisation.

    Attributes
    ----------
    terms : terms of the regression
    log_depths : (individuals,) log10 of the nucleotypes of each
    paths : path count that must be positive in all rows; "" for all rows
    centre, scale : (terms,) mean and standard deviation; () before they are known
    """

    terms: tuple[Term, ...]
    log_depths: tuple[float, ...]
    paths: str = ""
    centre: tuple[float, ...] = ()
    scale: tuple[float, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the files that the terms need."""
        each = (name for term in self.terms for name in term.columns)
        return tuple(dict.fromkeys([*each, *([self.paths] if self.paths else []), OWNERS]))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the terms in tables."""
        return tuple(term.name for term in self.terms)

    def read(self, path: Path) -> DesignRows:
        """Return the values of the terms for the nucleotypes of a file."""
        table = read_run_file(path, self.columns)
        if self.paths:
            table = table.filter(pa.array(table[self.paths].to_numpy() > 0))
        owners = owners_of(table[OWNERS], len(self.log_depths))
        x = np.zeros((len(table), len(self.terms)))
        for i, term in enumerate(self.terms):
            x[:, i] = term.values(table)
        found = DesignRows(x, owners, self)
        found.set_depths(x, np.arange(len(table)), found.depths, owners.counts)
        return found

    def standardised(self, x: Floats) -> Floats:
        """Return values of the terms, (n, terms), minus their centre and divided by their scale."""
        if not self.scale:
            return x
        found: Floats = (x - np.array(self.centre)) / np.array(self.scale)
        return found

    def without(self, dropped: Collection[int]) -> Design:
        """Return the design without some of its terms."""
        keep = [i for i in range(len(self.terms)) if i not in dropped]
        return replace(
            self,
            terms=tuple(self.terms[i] for i in keep),
            centre=tuple(self.centre[i] for i in keep if self.centre),
            scale=tuple(self.scale[i] for i in keep if self.scale),
        )


@dataclass(frozen=True, eq=False)
class DesignRows:
    """Values of the terms of a design for n nucleotypes.

    Attributes
    ----------
    x : (n, terms) values, not standardised
    owners : individuals of the rows
    design : terms
    """

    x: Floats
    owners: Owners
    design: Design

    @cached_property
    def depths(self) -> Floats:
        """Sum of log10 of the depths of each row's individuals, (n,)."""
        logs = np.array(self.design.log_depths)[self.owners.individual]
        sums = np.bincount(self.owners.row, weights=logs, minlength=len(self.x))
        return sums.astype(np.float64)

    def set_depths(
        self, x: Floats, rows: NDArray[np.int64], sums: Floats, counts: NDArray[np.int32]
    ) -> None:
        """Write the mean log depth of selected rows to `x`, if it is a term.

        It is the sum of log depths over the number of individuals, `sums` / `counts`.
        """
        for i, term in enumerate(self.design.terms):
            if term.kind == DEPTH:
                x[rows, i] = sums / np.maximum(counts, 1)

    def without(self, individual: int | None) -> tuple[Floats, NDArray[np.bool_]]:
        """Return standardised values (n, terms), and a mask (n,) of shared nucleotypes.

        Without an individual, its private nucleotypes are removed, and its depth does not count in
        the means of others.
        """
        if individual is None:
            return self.design.standardised(self.x), self.owners.shared
        rows, x, counts = self.owners.all(individual), self.x.copy(), self.owners.counts.copy()
        counts[rows] -= 1
        left = self.depths[rows] - self.design.log_depths[individual]
        self.set_depths(x, rows, left, counts[rows])
        keep = counts > 0
        if (vanishing := self.owners.vanishing) is not None:
            keep[rows] &= ~(vanishing[rows] & (counts[rows] == 1))
        return self.design.standardised(x[keep]), counts[keep] >= SHARED


@dataclass(frozen=True)
class Sums:
    """Moments of the predictors of a regression, and their extremes.

    Attributes
    ----------
    n, n_shared : numbers of all and of shared rows
    sums : (predictors,)
    products : (predictors, predictors)
    lowest, highest : (2, predictors) extremes of unshared and of shared rows; infinite without
        such rows
    """

    n: int
    n_shared: int
    sums: Floats
    products: Floats
    lowest: Floats
    highest: Floats


@dataclass(frozen=True)
class Moments:
    """Task over a file: sums of predictors, and of their products around the design's centre."""

    design: Design
    name: str = "associate-moments"

    @property
    def peak_bytes(self) -> int:
        """Upper bound of the memory of one call, in bytes."""
        return COPIES * 8 * RUN_ROWS * len(self.design.columns)

    def __call__(self, path: Path) -> Sums:
        """Return the sums over the nucleotypes of a file."""
        with name_failed_chunk(path.name), one_blas_thread():
            x, shared = self.design.read(path).without(None)
            kinds = (x[~shared], x[shared])
            lowest = np.array([kind.min(axis=0, initial=np.inf) for kind in kinds])
            highest = np.array([kind.max(axis=0, initial=-np.inf) for kind in kinds])
            return Sums(len(x), int(shared.sum()), x.sum(axis=0), x.T @ x, lowest, highest)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to this thread, since other tasks use the other cores.

    BLAS threads that wait for busy cores delay a step. A fixed number of threads also rounds sums
    in the same way on every machine.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        yield


def separating(lowest: Floats, highest: Floats) -> list[int]:
    """Return the predictors whose shared and unshared ranges meet at exactly one value.

    An example is a predictor that is 0 in all shared rows. The likelihood then rises for ever with
    its coefficient, so that the regression has no maximum (quasi-complete separation). A predictor
    with a gap between both ranges is no accident of few rows: it stays, and the fit reports the
    separation.

    Parameters
    ----------
    lowest, highest : (2, predictors) extremes over unshared and over shared rows
    """
    meets = (highest == lowest[::-1]).any(axis=0)
    found: list[int] = np.flatnonzero(meets & (lowest.min(axis=0) < highest.max(axis=0))).tolist()
    return found


def exact_total(parts: Sequence[Floats] | Sequence[float]) -> Floats:
    """Return the sum of equal-shaped arrays, rounded once, so that their order does not matter."""
    stacked = np.stack(parts).reshape(len(parts), -1)
    sums = [math.fsum(column) for column in stacked.T.tolist()]
    return np.array(sums).reshape(np.shape(parts[0]))


def dependent(covariance: Floats) -> list[tuple[int, Floats]]:
    """Return the predictors determined by the ones before them, with their coefficients on these.

    Constant predictors have coefficients of zero. The method is Cholesky's recursion over the
    correlation matrix, in the order of the predictors, so that the later one of two equals is
    returned.

    Parameters
    ----------
    covariance : (predictors, predictors)
    """
    deviation = np.sqrt(np.diag(covariance))
    constant = deviation == 0
    safe = np.where(constant, 1, deviation)
    correlation = covariance / np.outer(safe, safe)
    independent: list[int] = []
    found: list[tuple[int, Floats]] = []
    for i in range(len(covariance)):
        among = correlation[np.ix_(independent, independent)]
        weights = (
            np.linalg.solve(among, correlation[independent, i]) if independent else np.zeros(0)
        )
        if constant[i] or 1 - weights @ correlation[independent, i] < COLLINEAR:
            coefficients = np.zeros(len(covariance))
            coefficients[independent] = weights * deviation[i] / safe[independent]
            found.append((i, coefficients))
        else:
            independent.append(i)
    return found


def variance_inflation(covariance: Floats) -> Floats:
    """Return the variance inflation factor of each predictor, (predictors,).

    Parameters
    ----------
    covariance : (predictors, predictors), of linearly independent predictors
    """
    found: Floats = np.diag(np.linalg.inv(covariance)) * np.diag(covariance)
    return found


def in_words(names: Sequence[str], which: int, coefficients: Floats) -> str:
    """Return the message why predictor `which` is left out: constant, or determined by others."""
    terms = [
        f"{value:+.4g} {name}"
        for name, value in zip(names, coefficients, strict=True)
        if abs(value) > SHOWN
    ]
    if not terms:
        return f"{names[which]} left out: it is constant"
    return f"{names[which]} left out: it is {' '.join(terms)} (and a constant)"
