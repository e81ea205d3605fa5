"""Area under the ROC curve: separation of shared nucleotypes from others by a column.

It is the probability that a random shared nucleotype has a larger value than a random unshared one
(ties count half); 0.5 is chance. Ties, such as many zeros, and rare sharing do not bound it, while
both bound Spearman's rho. Within strata only pairs of one stratum count, so that the variable of
the strata explains nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gangsaw.tasks.tcr.statistics.jackknife import Estimate, clipped, jackknife
from gangsaw.tasks.tcr.statistics.nucleotypes.owners import Numbers, Owners

Floats = NDArray[np.float64]
CHANCE = 0.5


@dataclass(frozen=True)
class Auc:
    """AUC of a column, with its uncertainty.

    Attributes
    ----------
    column : name of the column
    within : variable that must be equal in both nucleotypes of a compared pair; "" for none
    shared, unshared : numbers of nucleotypes
    auc, error, low, high, p : estimate with a 95 % interval, and P against 0.5
    q : P adjusted for multiple tests, by Benjamini and Hochberg over all columns
    heaviest, weight : the individual whose absence changes the AUC most, by its index in the
        table's list, and its share of the variance
    """

    column: str
    within: str
    shared: int
    unshared: int
    auc: float
    error: float
    low: float
    high: float
    p: float
    q: float
    heaviest: int
    weight: float


def auc_of(
    name: str,
    values: Numbers,
    owners: Owners,
    strata: Numbers | None = None,
    within: str = "",
) -> Auc:
    """Return the AUC of a column with its uncertainty over individuals; q is NaN.

    Parameters
    ----------
    name : name of the column
    values : (n,) values of nucleotypes
    owners : individuals of nucleotypes
    strata : (n,) integers; None is one stratum
    within : variable of the strata
    """
    found = areas(values, owners, strata)
    n_shared = int(owners.shared.sum())
    return Auc(
        name,
        within,
        n_shared,
        len(values) - n_shared,
        *(found.value, found.error, found.low, found.high, found.p),
        q=math.nan,
        heaviest=found.heaviest,
        weight=found.weight,
    )


def areas(values: Numbers, owners: Owners, strata: Numbers | None = None) -> Estimate:
    """Return the AUC with its jackknife over individuals."""
    cells = _ValueCells.of(values, np.zeros(len(values), np.int64) if strata is None else strata)
    shared = owners.shared
    positive, negative = cells.counts(shared.nonzero()[0]), cells.counts((~shared).nonzero()[0])
    replicates = []
    for individual in range(owners.individuals):
        demoted, lost, joining = (
            cells.counts(rows(individual)) for rows in (owners.demoted, owners.lost, owners.joining)
        )
        replicates.append(cells.area(positive - demoted, negative - lost + joining))
    return clipped(jackknife(cells.area(positive, negative), replicates, CHANCE), 0, 1)


@dataclass(frozen=True, eq=False)
class _ValueCells:
    """Cells: nucleotypes of one stratum with equal values, sorted by stratum and value.

    Attributes
    ----------
    of_row : (n,) cell of each nucleotype
    stratum : (cells,) stratum of each cell
    begins : (strata,) first cell of each stratum
    """

    of_row: NDArray[np.int64]
    stratum: NDArray[np.int64]
    begins: NDArray[np.int64]

    @classmethod
    def of(cls, values: Numbers, strata: Numbers) -> _ValueCells:
        order = np.lexsort((values, strata))
        values, strata = values[order], strata[order]
        new_stratum = np.concatenate([[True], strata[1:] != strata[:-1]])[: len(values)]
        new_cell = new_stratum.copy()
        new_cell[1:] |= values[1:] != values[:-1]
        of_row = np.empty(len(values), np.int64)
        of_row[order] = np.cumsum(new_cell) - 1
        stratum = (np.cumsum(new_stratum) - 1)[new_cell]
        return cls(of_row, stratum, np.flatnonzero(new_stratum[new_cell]))

    def counts(self, rows: NDArray[np.int64]) -> Floats:
        """Return the number of selected rows in each cell, (cells,)."""
        return np.bincount(self.of_row[rows], minlength=len(self.stratum)).astype(float)

    def area(self, positive: Floats, negative: Floats) -> float:
        """Return the share of (positive, negative) pairs in which the positive value is larger.

        Pairs are within a stratum; the arguments are numbers of nucleotypes in each cell.
        """
        if not len(self.stratum):
            return math.nan
        below = np.cumsum(negative) - negative
        below -= below[self.begins][self.stratum]
        larger = float(positive @ (below + negative / 2))
        pairs = np.add.reduceat(positive, self.begins) @ np.add.reduceat(negative, self.begins)
        return larger / float(pairs) if pairs else math.nan
