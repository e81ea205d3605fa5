"""Logistic regression out of core: Newton's method, with a pass over the rows for each step.

Sums over a run of rows are rounded in the run, the total over runs once (`exact_total`). Runs do
not depend on the chunks of the store. So the result is reproducible to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gangsaw.tasks.engine.report.failure import name_failed_chunk
from gangsaw.tasks.tcr.statistics.fits.design import (
    Design,
    DesignRows,
    Floats,
    exact_total,
    one_blas_thread,
)
from gangsaw.tasks.tcr.statistics.nucleotypes.extract import COPIES, RUN_ROWS

STEPS = 30
TOLERANCE = 1e-8  # largest last step, in log odds per standard deviation
HALVINGS = 10
FARTHEST = 20.0  # log odds of a step: no maximum without one individual is so far from that of all
CERTAIN = 1e-8  # largest error of all rows below which they count as separated


@dataclass(frozen=True)
class Curvature:
    """Log-likelihood at some coefficients: value, gradient, negative Hessian."""

    value: float
    gradient: Floats
    information: Floats
    surest_error: float  # largest |y - p|


@dataclass(frozen=True)
class Point:
    """Coefficients at which the likelihood is evaluated.

    Attributes
    ----------
    beta : intercept, then a coefficient of each standardised term
    left_out : individual to leave out; None for none
    """

    beta: tuple[float, ...]
    left_out: int | None = None


@dataclass(frozen=True)
class NewtonPass:
    """Task of a Newton step over a file: likelihood, gradient and X'WX at some points."""

    design: Design
    points: tuple[Point, ...]
    name: str = "associate-newton"

    @property
    def peak_bytes(self) -> int:
        """Upper bound of the memory of one call, in bytes."""
        return COPIES * 8 * RUN_ROWS * (3 + len(self.design.terms))

    def __call__(self, path: Path) -> list[Curvature]:
        """Return the likelihood and its derivatives over the nucleotypes of a file, per point."""
        with name_failed_chunk(path.name), one_blas_thread():
            rows = self.design.read(path)
            return [self._at(rows, point) for point in self.points]

    def _at(self, rows: DesignRows, point: Point) -> Curvature:
        x, shared = rows.without(point.left_out)
        return curvature(x, shared.astype(float), np.array(point.beta))


def total(parts: Sequence[Curvature]) -> Curvature:
    """Add up the log-likelihoods, gradients and Hessians of all files."""
    return Curvature(
        float(exact_total([part.value for part in parts])),
        exact_total([part.gradient for part in parts]),
        exact_total([part.information for part in parts]),
        max(part.surest_error for part in parts),
    )


def curvature(x: Floats, y: Floats, beta: Floats) -> Curvature:
    """Return the log-likelihood of rows at `beta`, with its derivatives.

    Parameters
    ----------
    x : (n, predictors) without the intercept's column
    y : (n,) 0 or 1
    beta : (1 + predictors,), the intercept first
    """
    log_odds = beta[0] + x @ beta[1:]
    sign = 2 * y - 1
    value = -np.logaddexp(0, -sign * log_odds).sum()
    error = sign * np.exp(-np.logaddexp(0, sign * log_odds))  # y - p without cancellation
    weight = np.abs(error) * (1 - np.abs(error))
    weighted = x * weight[:, None]
    information = np.empty((len(beta), len(beta)))
    information[0, 0], information[1:, 1:] = weight.sum(), x.T @ weighted
    information[0, 1:] = information[1:, 0] = weighted.sum(axis=0)
    gradient = np.concatenate([[error.sum()], x.T @ error])
    return Curvature(float(value), gradient, information, float(np.abs(error).max(initial=0)))


@dataclass(frozen=True)
class LogisticFit:
    """Maximum-likelihood fit of a logistic regression.

    Attributes
    ----------
    beta : (1 + predictors,) intercept first, per standard deviation
    covariance : covariance of beta, the inverse of the information; NaN if that is singular
    information : (1 + predictors, 1 + predictors) at beta
    log_likelihood, null_log_likelihood : of the fit and of the intercept alone
    steps : number of steps of Newton's method
    converged : True if the last step was small; otherwise the figures are no estimate
    problem : reason why there is no maximum, or ""
    """

    beta: Floats
    covariance: Floats
    information: Floats
    log_likelihood: float
    null_log_likelihood: float
    steps: int
    converged: bool
    problem: str

    def error(self, i: int) -> float:
        """Return the standard error of a coefficient; NaN without a maximum."""
        return math.sqrt(self.covariance[i, i]) if self.converged else math.nan


def maximise_likelihood(
    at: Callable[[Floats], Curvature], n: int, n_shared: int, names: Sequence[str]
) -> LogisticFit:
    """Maximise the likelihood of a logistic regression by Newton's method.

    Parameters
    ----------
    at : returns the sums over all rows at given coefficients, in one pass
    n, n_shared : number of rows, and of those with y = 1; both outcomes occur
    names : names of the predictors, without the intercept
    """
    beta: Floats = np.zeros(1 + len(names))
    beta[0] = math.log(n_shared / (n - n_shared))
    here = at(beta)
    null = here.value
    size, problem, steps = math.inf, "", 0
    while size > TOLERANCE and not problem and steps < STEPS:
        step = _step(here)
        if step is None:
            problem = "the information is singular"
            break
        beta, here, size = _damped(at, beta, step, here)
        steps += 1
        if here.surest_error < CERTAIN:
            problem = "predictors separate shared from unshared nucleotypes completely"
    if not problem and size > TOLERANCE:
        problem = _unbounded(beta, names, steps)
    covariance = _inverse(here.information)
    return LogisticFit(
        beta, covariance, here.information, here.value, null, steps, not problem, problem
    )


def refit(
    at: Callable[[tuple[Point, ...]], list[Curvature]], beta: Floats, individuals: int
) -> Floats:
    """Maximise the likelihood without each individual in turn, with shared passes over the data.

    Parameters
    ----------
    at : returns the sums over all rows at given points, in one pass
    beta : (1 + terms,) fit to all individuals, the initial value
    individuals : number of individuals

    Returns
    -------
    (individuals, 1 + terms) coefficients; NaN without a maximum
    """
    found = np.tile(beta, (individuals, 1))
    open_ones = list(range(individuals))
    for _ in range(STEPS):
        points = tuple(Point(tuple(found[i].tolist()), i) for i in open_ones)
        steps = [_step(here) for here in at(points)] if points else []
        still = []
        for i, step in zip(open_ones, steps, strict=True):
            if step is None or np.abs(step).max() > FARTHEST:
                found[i] = math.nan
                continue
            found[i] += step
            if np.abs(step).max() > TOLERANCE:
                still.append(i)
        open_ones = still
    found[open_ones] = math.nan
    return found


def _step(here: Curvature) -> Floats | None:
    try:
        found: Floats = np.linalg.solve(here.information, here.gradient).astype(float, copy=False)
    except np.linalg.LinAlgError:
        return None
    return found if np.isfinite(found).all() else None


def _damped(
    at: Callable[[Floats], Curvature], beta: Floats, step: Floats, here: Curvature
) -> tuple[Floats, Curvature, float]:
    """Take a Newton step, halved until the likelihood does not fall.

    Return the new coefficients, the likelihood there, and the largest change of a coefficient.
    """
    for _ in range(HALVINGS):
        there = at(beta + step)
        if there.value >= here.value - 1e-12 * abs(here.value):  # rounding near the maximum
            break
        step = step / 2
    return beta + step, there, float(np.abs(step).max())


def _unbounded(beta: Floats, names: Sequence[str], steps: int) -> str:
    largest = ("the intercept", *names)[int(np.abs(beta).argmax())]
    return (
        f"no maximum after {steps} steps, the largest coefficient is that of {largest}: predictors "
        "may separate some of the rows (quasi-complete separation)"
    )


def _inverse(information: Floats) -> Floats:
    try:
        found: Floats = np.linalg.inv(information).astype(float, copy=False)
    except np.linalg.LinAlgError:
        return np.full_like(information, np.nan)
    return found
