"""Adaptive LASSO by least-squares approximation (Wang and Leng 2007, JASA 102:1039).

Near the maximum-likelihood estimate b with information H, the log-likelihood is approximately the
quadratic form (beta - b)' H (beta - b) / 2. So the penalised problem

    (beta - b)' H (beta - b) + sum of lambda |beta_j| / |b_j|

is a LASSO with as many rows as predictors, and LARS yields its whole path. It needs no further
pass over the rows, and the estimate is as efficient as that of the likelihood itself. The lambda
minimises their BIC: (beta - b)' H (beta - b) + log(n) * (non-zero coefficients). Here n is the
number of events, the rarer outcome. The information grows with it, and not with the number of rows
(Volinsky and Raftery 2000, Biometrics 56:256).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gangsaw.tasks.tcr.statistics.fits.design import Floats


@dataclass(frozen=True)
class Selection:
    """Selection of predictors by the LASSO.

    Attributes
    ----------
    beta : (predictors,) coefficients per standard deviation, zero for excluded ones
    penalty : lambda at the selected point of the path
    bic : BIC at this point
    """

    beta: Floats
    penalty: float
    bic: float


def adaptive_lasso(estimate: Floats, information: Floats, n: int) -> Selection:
    """Select predictors by the adaptive LASSO, at the lambda with the smallest BIC.

    Parameters
    ----------
    estimate : (predictors,) maximum-likelihood coefficients without the intercept
    information : (1 + predictors, 1 + predictors) negative Hessian, the intercept first
    n : number of events, the rows of the rarer outcome
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
    """Return the information matrix of the slopes, with the unpenalised intercept profiled out."""
    cross = information[0, 1:]
    found: Floats = information[1:, 1:] - np.outer(cross, cross) / information[0, 0]
    return found


def _path(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return the LASSO path of y on x: lambda at each knot, coefficients (predictors, knots)."""
    from sklearn.linear_model import lars_path

    alphas, _, path = lars_path(x, y, method="lasso")
    return 2 * len(y) * alphas, path  # its loss is halved and divided by the number of rows
