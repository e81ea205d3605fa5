"""Rarefaction: repertoires are drawn down to equal depth, copies without replacement.

The draws of an individual are first divided among the runs of rows, then in each run among its
rows, both by the multivariate hypergeometric distribution. Together this is one draw from all its
copies. It depends only on the rows and the seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gangsaw.codecs.core.errors import BadParams

SMALLEST = 0  # depth: as many copies as the individual with the fewest has
MOST = 10**9  # maximum of copies of an individual, for NumPy's generator


@dataclass(frozen=True)
class Rarefaction:
    """Depth and seed of a rarefaction.

    Attributes
    ----------
    copies : copies to draw from each individual; SMALLEST means those of the individual with fewest
    seed : seed of the draws
    """

    copies: int
    seed: int = 0

    def __post_init__(self) -> None:
        """Raise `BadParams` for negative numbers."""
        if self.copies < 0 or self.seed < 0:
            raise BadParams("copies to draw, and the seed, must not be negative")


@dataclass(frozen=True)
class Draws:
    """Numbers of copies to draw from each range of rows and individual.

    A range of rows (`RowRun`) is the input of one task; its place is the number of its first row.

    Attributes
    ----------
    copies : place of a range -> copies to draw from each individual
    depth : total of drawn copies of each individual
    seed : seed of the draws
    """

    copies: dict[int, tuple[int, ...]]
    depth: int
    seed: int

    def of(self, rows: pa.Table, owners: NDArray[np.int32], place: int) -> pa.Table:
        """Draw the copies of a range of rows; return its rows with drawn copies.

        Parameters
        ----------
        rows : table with `copies`
        owners : (rows,) int32
            Individual of each row.
        place : place of the range, see `Draws`
        """
        copies = rows["copies"].to_numpy()
        kept = np.zeros_like(copies)
        for individual in np.unique(owners).tolist():
            own = np.flatnonzero(owners == individual)
            rng = np.random.default_rng([self.seed, individual, 1, place])
            kept[own] = _drawn(rng, copies[own], self.copies[place][individual])
        at = rows.schema.get_field_index("copies")
        found = rows.set_column(at, "copies", pa.array(kept))
        return found.filter(pa.array(kept > 0))


def draws(
    how: Rarefaction, copies: dict[int, NDArray[np.int64]], individuals: Sequence[str]
) -> Draws:
    """Distribute the copies to draw from each individual at random over the ranges of rows.

    Parameters
    ----------
    how : depth and seed
    copies : place of a range, see `Draws` -> (individuals,) copies in it
    individuals : names

    Raises
    ------
    BadParams : an individual has fewer copies than the depth, or more than NumPy can draw from
    """
    places = sorted(copies)
    of_run = np.array([copies[place] for place in places])
    totals = of_run.sum(axis=0)
    depth = how.copies or int(totals.min())
    _check(depth, totals, individuals)
    found = np.zeros_like(of_run)
    for i in range(len(individuals)):
        rng = np.random.default_rng([how.seed, i, 0])
        found[:, i] = _drawn(rng, of_run[:, i], depth)
    rows = {place: tuple(row) for place, row in zip(places, found.tolist(), strict=True)}
    return Draws(rows, depth, how.seed)


def _check(depth: int, totals: NDArray[np.int64], individuals: Sequence[str]) -> None:
    least = int(totals.argmin())
    if depth > totals[least]:
        raise BadParams(
            f"{individuals[least]} has {totals[least]:,} copies, fewer than the {depth:,} to draw: "
            f"draw at most as many, or leave that individual out"
        )
    if depth < 1:
        raise BadParams(f"{individuals[least]} has no copies: nothing can be drawn")
    if totals.max() >= MOST:
        raise BadParams(f"{totals.max():,} copies of an individual: draws need fewer than 10^9")


def _drawn(rng: np.random.Generator, copies: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    return rng.multivariate_hypergeometric(copies, n, method="marginals")
