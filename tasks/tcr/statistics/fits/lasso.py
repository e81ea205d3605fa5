"""Adaptive LASSO by least-squares approximation (Wang and Leng 2007, JASA 102:1039).

Around the maximum-likelihood estimate b with information H the log-likelihood is nearly the
quadratic form (beta - b)' H (beta - b) / 2, so that the penalised problem

    (beta - b)' H (beta - b) + sum of lambda |beta_j| / |b_j|

is a LASSO of as many rows as predictors, whose whole path LARS gives. That is why it is done so:
no further pass over the rows is needed, and the estimate is as efficient as that of the likelihood
itself. lambda is chosen by their BIC: (beta - b)' H (beta - b) + log(n) * (non-zero coefficients),
where n is the number of events, the rarer outcome: it, not the number of rows, is what the
information grows with (Volinsky and Raftery 2000, Biometrics 56:256).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gangsaw.tasks.tcr.statistics.fits.design import Floats


@dataclass(frozen=True)
class Selection:
    """What the LASSO keeps.

    Attributes
    ----------
    beta : (predictors,) coefficients per standard deviation, zero where left out
    penalty : lambda, of the chosen point of the path
    bic : of the chosen point
    """

    beta: Floats
    penalty: float
    bic: float


def adaptive_lasso(estimate: Floats, information: Floats, n: int) -> Selection:
    """Return the coefficients at the lambda of the smallest BIC.

    Parameters
    ----------
    estimate : (predictors,) maximum-likelihood coefficients without the intercept
    information : (1 + predictors, 1 + predictors) negative Hessian, the intercept first
    n : events: rows of the rarer outcome
    """
    h = slopes_only(information)
    root = np.linalg.cholesky(h).T  # root' root = h
    weighted = root * np.abs(estimate)  # columns: coefficients are in units of their estimates
    penalties, path = _path(weighted, root @ estimate)
    candidates = path.T * np.abs(estimate)
    away = candidates - estimate
    losses = np.einsum("ki,ij,kj->k", away, h, away)
    bic = losses + np.log(n) * np.count_nonzero(candidates, axis=1)
    best = int(bic.argmin())
    return Selection(candidates[best], float(penalties[best]), float(bic[best]))


def slopes_only(information: Floats) -> Floats:
    """Return the information about the slopes, the intercept free: it is not penalised."""
    cross = information[0, 1:]
    found: Floats = information[1:, 1:] - np.outer(cross, cross) / information[0, 0]
    return found


def _path(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return lambda at each knot, and (predictors, knots) coefficients."""
    from sklearn.linear_model import lars_path

    alphas, _, path = lars_path(x, y, method="lasso")
    return 2 * len(y) * alphas, path  # its loss is halved and divided by the number of rows
