"""Differences of calls between shared and other nucleotypes: means, with their uncertainty."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from gangsaw.tasks.tcr.model.nucleotides import NUCLEOTIDES
from gangsaw.tasks.tcr.statistics.jackknife import false_discovery, jackknife
from gangsaw.tasks.tcr.statistics.nucleotypes.owners import Numbers, Owners

JUNCTIONS = ("n1", "n2", "ndn")


@dataclass(frozen=True)
class Difference:
    """Difference of a call's means over shared nucleotypes and over others.

    Attributes
    ----------
    call : in nucleotides; "share of A in n2" is over nucleotypes that have an N2
    shared, unshared : numbers of nucleotypes
    mean_shared, mean_unshared : means of the call
    difference, error, low, high, p : difference with a 95 % interval, and P against 0
    q : P adjusted for multiple tests, by Benjamini and Hochberg over all calls
    """

    call: str
    shared: int
    unshared: int
    mean_shared: float
    mean_unshared: float
    difference: float
    error: float
    low: float
    high: float
    p: float
    q: float


def with_shares(calls: Mapping[str, Numbers]) -> dict[str, Numbers]:
    """Return calls with base counts replaced by fractions; NaN for empty junctions.

    The number of A in an N2 grows with its length, while its fraction shows the composition.
    """
    found = {name: np.asarray(values, float) for name, values in calls.items()}
    for junction in JUNCTIONS:
        for nucleotide in NUCLEOTIDES if f"{junction}_a" in found else "":
            length, part = found[junction], found.pop(f"{junction}_{nucleotide.lower()}")
            none = np.full(len(length), math.nan)
            share = np.divide(part, length, out=none, where=length > 0)
            found[f"share of {nucleotide} in {junction}"] = share
    return found


def estimate_differences(calls: Mapping[str, Numbers], owners: Owners) -> tuple[Difference, ...]:
    """Return the differences of all calls; NaN values are ignored."""
    found = [_difference(name, values, owners) for name, values in with_shares(calls).items()]
    qs = false_discovery([each.p for each in found])
    return tuple(replace(each, q=q) for each, q in zip(found, qs, strict=True))


def _difference(name: str, values: Numbers, owners: Owners) -> Difference:
    there = np.isfinite(values)
    values = np.where(there, values, 0)
    shared = owners.shared
    # (2, 2): sum and number for the shared, and for the others
    base = np.array([[values[k].sum(), there[k].sum()] for k in (shared, ~shared)], float)

    def sums(rows: Numbers) -> Numbers:
        return np.array([values[rows].sum(), there[rows].sum()])

    replicates = []
    for individual in range(owners.individuals):
        demoted, lost = sums(owners.demoted(individual)), sums(owners.lost(individual))
        replicates.append(_gap(base + np.array([-demoted, demoted - lost])))
    found = jackknife(_gap(base), replicates)
    (n_shared, n_unshared), means = base[:, 1].astype(int).tolist(), _means(base)
    return Difference(
        name,
        n_shared,
        n_unshared,
        *means,
        *(found.value, found.error, found.low, found.high, found.p),
        q=math.nan,
    )


def _means(sums: Numbers) -> tuple[float, float]:
    total, n = sums.T
    shared, unshared = np.divide(total, n, out=np.full(2, math.nan), where=n > 0).tolist()
    return shared, unshared


def _gap(sums: Numbers) -> float:
    shared, unshared = _means(sums)
    return shared - unshared
