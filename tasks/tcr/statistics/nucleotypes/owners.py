"""Owners: the individuals that have each nucleotype, and the effect of leaving one out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gangsaw.tasks.tcr.sharing.table import SHARED

Rows = NDArray[np.int64]
Numbers = NDArray[np.int64] | NDArray[np.float64]  # integers or floats


@dataclass(frozen=True, eq=False)
class Owners:
    """Individuals that have each nucleotype, as a sparse matrix.

    Attributes
    ----------
    individual, row : (pairs,) an individual, and a nucleotype that it has; by nucleotype
    counts : (n,) number of individuals that have each nucleotype
    individuals : number of individuals
    vanishing : (n,) mask of nucleotypes that are removed once they are not shared; None for none.
        In a sample with denser shared nucleotypes they would be too many among the others
    """

    individual: NDArray[np.int32]
    row: Rows
    counts: NDArray[np.int32]
    individuals: int
    vanishing: NDArray[np.bool_] | None = None

    @property
    def shared(self) -> NDArray[np.bool_]:
        """Mask (n,) of nucleotypes that two or more individuals have."""
        found: NDArray[np.bool_] = self.counts >= SHARED
        return found

    def lost(self, individual: int) -> Rows:
        """Return the private nucleotypes of an individual, which are absent without it."""
        return self._of(individual, 1)

    def demoted(self, individual: int) -> Rows:
        """Return an individual's nucleotypes that one other has: without it they are not shared."""
        return self._of(individual, SHARED)

    def joining(self, individual: int) -> Rows:
        """Return the nucleotypes that become unshared if an individual is left out.

        These are nucleotypes of the individual and one other (`demoted`), without those that are
        removed from the sample once they are unshared (`vanishing`).
        """
        rows = self.demoted(individual)
        return rows if self.vanishing is None else rows[~self.vanishing[rows]]

    def only(self, rows: Rows) -> Owners:
        """Return the individuals of selected nucleotypes; `rows` are ascending."""
        number = np.full(len(self.counts), -1)
        number[rows] = np.arange(len(rows))
        kept = number[self.row] >= 0
        return Owners(
            self.individual[kept], number[self.row[kept]], self.counts[rows], self.individuals
        )

    def all(self, individual: int) -> Rows:
        """Return all nucleotypes of an individual."""
        return self._by_individual[self._ends[individual] : self._ends[individual + 1]]

    def _of(self, individual: int, count: int) -> Rows:
        rows = self.all(individual)
        found: Rows = rows[self.counts[rows] == count]
        return found

    @cached_property
    def _by_individual(self) -> Rows:
        return self.row[np.argsort(self.individual, kind="stable")]

    @cached_property
    def _ends(self) -> NDArray[np.int64]:
        found = np.bincount(self.individual, minlength=self.individuals)
        return np.concatenate([[0], np.cumsum(found)])


def owners_of(lists: pa.ChunkedArray, individuals: int) -> Owners:
    """Return the sparse matrix from a column with the list of individuals of each nucleotype."""
    lists = lists.combine_chunks()
    counts = np.diff(lists.offsets.to_numpy()).astype(np.int32)
    flat = lists.flatten().to_numpy().astype(np.int32)
    return Owners(flat, np.repeat(np.arange(len(counts)), counts), counts, individuals)
