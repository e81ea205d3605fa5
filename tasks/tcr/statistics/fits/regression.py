"""The regression's table: what the fit says of each predictor, and what the LASSO keeps."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gangsaw.tasks.tcr.statistics.fits.design import Design
from gangsaw.tasks.tcr.statistics.fits.lasso import Selection, adaptive_lasso
from gangsaw.tasks.tcr.statistics.fits.logistic import LogisticFit


@dataclass(frozen=True)
class Coefficient:
    """A row of the regression's table.

    Attributes
    ----------
    predictor : log1p of a path count, or a call in nucleotides
    mean, deviation : of the predictor
    estimate : log odds of being shared per standard deviation
    error, z, p : standard error, estimate / error, two-sided P by the normal distribution
    kept : whether the adaptive LASSO keeps it; None where it could not be run
    lasso : its coefficient there
    """

    predictor: str
    mean: float
    deviation: float
    estimate: float
    error: float
    z: float
    p: float
    kept: bool | None
    lasso: float | None


@dataclass(frozen=True)
class Regression:
    """The logistic regression of shared (1) or not (0).

    Attributes
    ----------
    nucleotypes, shared : rows, and those of two individuals or more
    coefficients : a row per predictor
    intercept : log odds at the mean of all predictors
    log_likelihood, null_log_likelihood : of the fit and of the intercept alone
    steps : of Newton's method
    converged : whether there is a maximum; where not, notes say why
    penalty : lambda of the LASSO by BIC, or None
    notes : predictors left out, and what went wrong
    """

    nucleotypes: int
    shared: int
    coefficients: tuple[Coefficient, ...]
    intercept: float
    log_likelihood: float
    null_log_likelihood: float
    steps: int
    converged: bool
    penalty: float | None
    notes: tuple[str, ...]


def regression(
    design: Design, found: LogisticFit, n: int, n_shared: int, notes: tuple[str, ...]
) -> Regression:
    """Return the table of a fit over `n` nucleotypes, of which `n_shared` are shared."""
    chosen = None
    if found.converged and design.names:
        chosen = adaptive_lasso(found.beta[1:], found.information, n)
    if found.problem:
        notes += (f"{found.problem}: no errors and no LASSO, they need the maximum",)
    return Regression(
        nucleotypes=n,
        shared=n_shared,
        coefficients=tuple(_row(design, found, chosen, i) for i in range(len(design.names))),
        intercept=float(found.beta[0]),
        log_likelihood=found.log_likelihood,
        null_log_likelihood=found.null_log_likelihood,
        steps=found.steps,
        converged=found.converged,
        penalty=None if chosen is None else chosen.penalty,
        notes=notes,
    )


def _row(design: Design, found: LogisticFit, chosen: Selection | None, i: int) -> Coefficient:
    estimate, error = float(found.beta[1 + i]), found.error(1 + i)
    lasso = None if chosen is None else float(chosen.beta[i])
    return Coefficient(
        predictor=design.names[i],
        mean=design.centre[i],
        deviation=design.scale[i],
        estimate=estimate,
        error=error,
        z=estimate / error,
        p=_normal_p(estimate / error),
        kept=None if lasso is None else lasso != 0,
        lasso=lasso,
    )


def _normal_p(z: float) -> float:
    from scipy.special import ndtr

    return math.nan if math.isnan(z) else float(2 * ndtr(-abs(z)))
