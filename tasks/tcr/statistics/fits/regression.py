"""Table of the regression: odds ratios with their uncertainty, and the LASSO's selection."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gangsaw.tasks.tcr.statistics.fits.design import Design, Floats
from gangsaw.tasks.tcr.statistics.fits.lasso import Selection, adaptive_lasso
from gangsaw.tasks.tcr.statistics.fits.logistic import LogisticFit
from gangsaw.tasks.tcr.statistics.jackknife import Estimate, false_discovery, jackknife

FEW = 10.0  # events per parameter below which a note calls the estimates doubtful
TOO_FEW = 5.0  # events below which no regression runs (Peduzzi et al. 1996, JCE 49:1373)
INFLATED = 10.0  # variance inflation above which there is a note


@dataclass(frozen=True)
class Coefficient:
    """Row of the regression's table.

    Attributes
    ----------
    predictor, unit : the term, and the unit of its odds ratio
    mean, deviation : mean and standard deviation of the term
    estimate : log odds of being shared per unit
    error, p : standard error by the jackknife over individuals, and P by the t distribution
    q : P adjusted for multiple tests, by Benjamini and Hochberg over the rows
    odds_ratio, low, high : per unit, with a 95 % interval
    model_error : standard error by the likelihood, which assumes independent nucleotypes
    vif : factor by which the other terms inflate the estimate's variance
    heaviest, weight : the individual whose absence changes the estimate most, by its index in the
        table's list, and its share of the variance
    kept : True if the adaptive LASSO selects it; None without LASSO
    lasso : its log odds per unit by the LASSO
    """

    predictor: str
    unit: str
    mean: float
    deviation: float
    estimate: float
    error: float
    p: float
    q: float
    odds_ratio: float
    low: float
    high: float
    model_error: float
    vif: float
    heaviest: int
    weight: float
    kept: bool | None
    lasso: float | None


@dataclass(frozen=True)
class Regression:
    """Logistic regression of shared (1) or not (0).

    Attributes
    ----------
    nucleotypes, shared : number of rows, and of those with two or more individuals
    events_per_parameter : rows of the rarer outcome, divided by the number of terms
    coefficients : a row per term
    intercept : log odds at the mean of all terms
    log_likelihood, null_log_likelihood : of the fit and of the intercept alone
    steps : number of steps of Newton's method
    converged : True if there is a maximum; otherwise notes have the reason
    penalty : lambda of the LASSO by BIC, or None
    notes : excluded terms, and problems
    """

    nucleotypes: int
    shared: int
    events_per_parameter: float
    coefficients: tuple[Coefficient, ...]
    intercept: float
    log_likelihood: float
    null_log_likelihood: float
    steps: int
    converged: bool
    penalty: float | None
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Fitted:
    """Fit of a regression: coefficients with and without each individual, and its design.

    Attributes
    ----------
    design : standardised terms
    fit : fit to all individuals
    replicates : (individuals, 1 + terms) coefficients without each individual
    vif : (terms,) variance inflation factors
    n, n_shared : numbers of all and of shared rows
    """

    design: Design
    fit: LogisticFit
    replicates: Floats
    vif: Floats
    n: int
    n_shared: int

    @property
    def events(self) -> int:
        """Number of rows of the rarer outcome."""
        return min(self.n_shared, self.n - self.n_shared)


def per_parameter(n: int, n_shared: int, n_terms: int) -> float:
    """Return the events per parameter: rows of the rarer outcome divided by the number of terms."""
    return min(n_shared, n - n_shared) / max(n_terms, 1)


def regression(found: Fitted, notes: tuple[str, ...], *, lasso: bool) -> Regression:
    """Return the table of coefficients and statistics of a fit."""
    fit, names = found.fit, found.design.names
    chosen = None
    if lasso and fit.converged and names:
        chosen = adaptive_lasso(fit.beta[1:], fit.information, found.events)
    estimates = [_estimate(found, i) for i in range(len(names))]
    qs = false_discovery([each.p for each in estimates])
    rows = zip(estimates, qs, strict=True)
    return Regression(
        nucleotypes=found.n,
        shared=found.n_shared,
        events_per_parameter=per_parameter(found.n, found.n_shared, len(names)),
        coefficients=tuple(_row(found, chosen, i, *row) for i, row in enumerate(rows)),
        intercept=float(fit.beta[0]),
        log_likelihood=fit.log_likelihood,
        null_log_likelihood=fit.null_log_likelihood,
        steps=fit.steps,
        converged=fit.converged,
        penalty=None if chosen is None else chosen.penalty,
        notes=(*notes, *_doubts(found, lasso)),
    )


def _doubts(found: Fitted, lasso: bool) -> list[str]:
    words = []
    if found.fit.problem:
        also = " and no LASSO" if lasso else ""
        words.append(f"{found.fit.problem}: no errors{also}, they need the maximum")
    each = per_parameter(found.n, found.n_shared, len(found.design.names))
    if each < FEW:
        words.append(
            f"{each:.1f} events per parameter, fewer than {FEW:.0f}: estimates are doubtful"
        )
    for name, factor in zip(found.design.names, found.vif.tolist(), strict=True):
        if factor > INFLATED:
            words.append(
                f"{name}: other terms inflate its variance by {factor:.1f}; do not read it alone"
            )
    return words


def _estimate(found: Fitted, i: int) -> Estimate:
    """Return the log odds per unit of term i, with their uncertainty."""
    scale = found.design.scale[i]
    replicates = (found.replicates[:, 1 + i] / scale).tolist() if found.fit.converged else []
    return jackknife(float(found.fit.beta[1 + i]) / scale, replicates)


def _row(found: Fitted, chosen: Selection | None, i: int, each: Estimate, q: float) -> Coefficient:
    design, term = found.design, found.design.terms[i]
    lasso = None if chosen is None else float(chosen.beta[i]) / design.scale[i]
    return Coefficient(
        predictor=term.name,
        unit=term.unit,
        mean=design.centre[i],
        deviation=design.scale[i],
        estimate=each.value,
        error=each.error,
        p=each.p,
        q=q,
        odds_ratio=_exp(each.value),
        low=_exp(each.low),
        high=_exp(each.high),
        model_error=found.fit.error(1 + i) / design.scale[i],
        vif=float(found.vif[i]),
        heaviest=each.heaviest,
        weight=each.weight,
        kept=None if lasso is None else lasso != 0,
        lasso=lasso,
    )


def _exp(log: float) -> float:
    """Return odds; infinite if they exceed a float, such as those of separating predictors."""
    return math.inf if log > 700 else math.exp(log)
