"""Jackknife over individuals: uncertainty from estimates that each leave one individual out.

Nucleotypes of one individual are not independent draws, so the sample consists of individuals.
Sharing is a property of pairs of individuals, so an estimate is a U-statistic of individuals. For
these the delete-one jackknife is consistent (Arvesen 1969, Ann. Math. Stat. 40:2076). A bootstrap
is not: an individual that is drawn twice would share all its nucleotypes with itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

HEAVY = 0.5  # fraction of the variance by one individual, above which there is a note
FEWEST = 3  # individuals: without one of two, nothing is shared
LEVEL = 0.95
HOW = (
    "errors by the jackknife over individuals, intervals and P by the t distribution with "
    "individuals - 1 degrees of freedom"
)


@dataclass(frozen=True)
class Estimate:
    """Estimate with its uncertainty; NaN if unknown.

    Attributes
    ----------
    value : estimate from all individuals
    error : standard error by the jackknife
    low, high : 95 % confidence interval
    p : two-sided P value of the null hypothesis
    heaviest : individual whose absence changes the estimate most; -1 without an error
    weight : its share of the variance
    """

    value: float
    error: float
    low: float
    high: float
    p: float
    heaviest: int = -1
    weight: float = math.nan


def jackknife(value: float, replicates: Sequence[float], null: float = 0.0) -> Estimate:
    """Return an estimate with its uncertainty.

    Parameters
    ----------
    value : estimate from all individuals
    replicates : estimates without each of them
    null : value under the null hypothesis
    """
    n, spread = len(replicates), np.asarray(replicates, float)
    if n < FEWEST or not np.isfinite(spread).all() or not math.isfinite(value):
        return Estimate(value, math.nan, math.nan, math.nan, math.nan)
    squares = (spread - spread.mean()) ** 2
    error = math.sqrt((n - 1) / n * float(squares.sum()))
    if not error:
        return Estimate(value, 0.0, value, value, math.nan)
    half = _t_quantile(n - 1) * error
    return Estimate(
        value,
        error,
        value - half,
        value + half,
        _p((value - null) / error, n - 1),
        int(squares.argmax()),
        float(squares.max() / squares.sum()),
    )


def clipped(found: Estimate, low: float, high: float) -> Estimate:
    """Return an estimate whose confidence interval is clipped to low..high."""
    if math.isnan(found.error):
        return found
    return replace(found, low=max(found.low, low), high=min(found.high, high))


def false_discovery(ps: Sequence[float]) -> tuple[float, ...]:
    """Return the q values of P values by Benjamini and Hochberg; NaN for NaN."""
    from scipy.stats import false_discovery_control

    found = np.asarray(ps, float)
    there = np.isfinite(found)
    if there.any():
        found[there] = false_discovery_control(found[there])
    return tuple(found.tolist())


def _t_quantile(degrees: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(degrees, (1 + LEVEL) / 2))


def _p(t: float, degrees: int) -> float:
    from scipy.special import stdtr

    return float(2 * stdtr(degrees, -abs(t)))
