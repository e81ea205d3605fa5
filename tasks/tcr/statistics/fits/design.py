"""The predictors of a regression: standardised, constant and collinear ones left out and named."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gangsaw.tasks.engine.failure import naming
from gangsaw.tasks.tcr.statistics.extract import COPIES, RUN_ROWS, read_file

Floats = NDArray[np.float64]
COLLINEAR = 1e-10  # of a standardised predictor's variance, beyond what the others explain
SHOWN = 1e-6  # smallest coefficient that is named in such a combination


@dataclass(frozen=True)
class Design:
    """Predictors in their order, and what standardises them.

    Attributes
    ----------
    counts : names of path counts, taken as log(1 + count)
    calls : names of calls
    centre, scale : (predictors,) mean and standard deviation; () before they are known
    """

    counts: tuple[str, ...]
    calls: tuple[str, ...]
    centre: tuple[float, ...] = ()
    scale: tuple[float, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """What is read."""
        return (*self.counts, *self.calls)

    @property
    def names(self) -> tuple[str, ...]:
        """What tables call the predictors."""
        return (*(f"log1p {name}" for name in self.counts), *self.calls)

    def read(self, path: Path) -> tuple[Floats, NDArray[np.bool_]]:
        """Return (n, predictors) standardised, and (n,) whether each nucleotype is shared."""
        table = read_file(path, (*self.columns, "individuals"))
        raw = [
            np.log1p(table[name].to_numpy()) if name in self.counts else table[name].to_numpy()
            for name in self.columns
        ]
        x = np.array(raw, float).reshape(len(raw), len(table)).T
        if self.scale:
            x = (x - np.array(self.centre)) / np.array(self.scale)
        return np.ascontiguousarray(x), table["individuals"].to_numpy() > 1

    def without(self, dropped: Collection[int]) -> Design:
        """Return the design without some of its predictors."""
        keep = [i for i in range(len(self.columns)) if i not in dropped]
        names = [self.columns[i] for i in keep]
        return Design(
            tuple(name for name in names if name in self.counts),
            tuple(name for name in names if name in self.calls),
            tuple(self.centre[i] for i in keep if self.centre),
            tuple(self.scale[i] for i in keep if self.scale),
        )


@dataclass(frozen=True)
class Sums:
    """Sums over rows.

    Attributes
    ----------
    n_shared : shared rows
    sums : (predictors,)
    products : (predictors, predictors)
    lowest, highest : (2, predictors) of unshared and of shared rows; infinite where there are none
    """

    n_shared: int
    sums: Floats
    products: Floats
    lowest: Floats
    highest: Floats


@dataclass(frozen=True)
class Moments:
    """The task that sums predictors, and their products around the design's centre."""

    design: Design
    name: str = "associate-moments"

    @property
    def peak_bytes(self) -> int:
        """What one run needs."""
        return COPIES * 8 * RUN_ROWS * len(self.design.columns)

    def __call__(self, path: Path) -> Sums:
        """Return the sums of a file."""
        with naming(path.name), one_blas_thread():
            x, shared = self.design.read(path)
            kinds = (x[~shared], x[shared])
            lowest = np.array([kind.min(axis=0, initial=np.inf) for kind in kinds])
            highest = np.array([kind.max(axis=0, initial=-np.inf) for kind in kinds])
            return Sums(int(shared.sum()), x.sum(axis=0), x.T @ x, lowest, highest)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Multiply in this thread: other tasks have the other cores.

    BLAS threads that wait for busy cores slow a step down; and so sums are rounded alike on every
    machine.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        yield


def separating(lowest: Floats, highest: Floats) -> list[int]:
    """Return the predictors that meet at one value, shared rows on one side, unshared on the other.

    Such as one that is 0 in all shared rows: the likelihood rises for ever with its coefficient, so
    that the whole regression would have no maximum (quasi-complete separation). One that leaves a
    gap between the two is no accident of few rows: it stays, and the fit says that it separates.

    Parameters
    ----------
    lowest, highest : (2, predictors) extremes over unshared and over shared rows
    """
    meets = (highest == lowest[::-1]).any(axis=0)
    found: list[int] = np.flatnonzero(meets & (lowest.min(axis=0) < highest.max(axis=0))).tolist()
    return found


def exact_total(parts: Sequence[Floats] | Sequence[float]) -> Floats:
    """Return the sum of equal-shaped arrays, rounded once: in whatever order they arrived."""
    stacked = np.stack(parts).reshape(len(parts), -1)
    sums = [math.fsum(column) for column in stacked.T.tolist()]
    return np.array(sums).reshape(np.shape(parts[0]))


def dependent(covariance: Floats) -> list[tuple[int, Floats]]:
    """Return each predictor that the ones before it determine, and how: its coefficients on them.

    Constant predictors come with coefficients of zero. By Cholesky's recursion over the correlation
    matrix, in the order of the predictors, so that the later one of two equals goes.

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


def in_words(names: Sequence[str], which: int, coefficients: Floats) -> str:
    """Return why a predictor is left out."""
    terms = [
        f"{value:+.4g} {name}"
        for name, value in zip(names, coefficients, strict=True)
        if abs(value) > SHOWN
    ]
    if not terms:
        return f"{names[which]} left out: it is constant"
    return f"{names[which]} left out: it is {' '.join(terms)} (and a constant)"
