"""Sharing of nucleotypes by deciles of their path counts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gangsaw.tasks.tcr.statistics.jackknife import jackknife
from gangsaw.tasks.tcr.statistics.nucleotypes.owners import Numbers, Owners

PARTS = 10
NO_PATH = 0  # number of the group without a path; deciles are 1 to PARTS


@dataclass(frozen=True)
class Decile:
    """Group of nucleotypes with similar numbers of paths.

    Attributes
    ----------
    number : 1 to 10, or 0 for nucleotypes without a path; equal counts are in the same decile
    lowest, highest : range of path counts
    nucleotypes, shared : numbers of all and of shared nucleotypes
    share : fraction of shared nucleotypes
    low, high : 95 % interval, from the jackknife of its logarithm; NaN if an estimate without an
        individual does not exist
    """

    number: int
    lowest: int
    highest: int
    nucleotypes: int
    shared: int
    share: float
    low: float
    high: float


def deciles(paths: Numbers, owners: Owners) -> tuple[Decile, ...]:
    """Return the nonempty groups, by number.

    Parameters
    ----------
    paths : (n,) path counts
    owners : individuals of nucleotypes
    """
    number = assign_groups(paths)
    rows = (
        number[found(individual)]
        for found in (owners.lost, owners.demoted)
        for individual in range(owners.individuals)
    )
    counts = [np.bincount(own, minlength=PARTS + 1) for own in rows]
    lost, demoted = np.array(counts).reshape(2, owners.individuals, PARTS + 1)
    return tuple(_groups(paths, number, owners.shared, lost, demoted))


def assign_groups(paths: Numbers) -> NDArray[np.int64]:
    """Return the decile 1..10 of each path count, (n,), or 0 for no path.

    Equal counts have the same decile.
    """
    found = np.zeros(len(paths), np.int64)
    has = paths > 0
    if has.any():
        own = np.sort(paths[has])
        # a value belongs to the decile of its mean rank
        middle = (np.searchsorted(own, paths[has]) + np.searchsorted(own, paths[has], "right")) / 2
        found[has] = np.minimum((PARTS * middle / len(own)).astype(np.int64), PARTS - 1) + 1
    return found


def _groups(
    paths: Numbers,
    number: NDArray[np.int64],
    shared: NDArray[np.bool_],
    lost: NDArray[np.int64],
    demoted: NDArray[np.int64],
) -> Iterator[Decile]:
    for i in np.unique(number).tolist():
        own = number == i
        n, n_shared = int(own.sum()), int(shared[own].sum())
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log((n_shared - demoted[:, i]) / (n - lost[:, i]))
        found = jackknife(math.log(n_shared / n) if n_shared else -math.inf, logs.tolist())
        yield Decile(
            i,
            int(paths[own].min()),
            int(paths[own].max()),
            n,
            n_shared,
            n_shared / n,
            math.exp(found.low),
            math.exp(found.high),
        )
