"""Genotypes: which parts of the germline the donor of each sample has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.errors import BadParams

Region = Literal["V", "D", "J"]
SHOWN = 5  # samples that a message names


class NoGenotype(BadParams):
    """A sample is not in the table of genotypes."""


@dataclass(frozen=True)
class Lacking:
    """What a donor has not, by places along the parts of a germline.

    Attributes
    ----------
    v, d, j : places, ascending
    """

    v: tuple[int, ...] = ()
    d: tuple[int, ...] = ()
    j: tuple[int, ...] = ()

    def of(self, region: Region) -> tuple[int, ...]:
        """Return the places of one region."""
        return {"V": self.v, "D": self.d, "J": self.j}[region]


@dataclass(frozen=True)
class Genotypes:
    """The genotypes of a table.

    Attributes
    ----------
    source : name of the table, for people
    samples : in its order
    lacking : of each of them, what its donor has not
    """

    source: str
    samples: tuple[str, ...]
    lacking: tuple[Lacking, ...]

    def of(self, sample: str) -> Lacking:
        """Return what the donor of a sample has not; NoGenotype where it has none."""
        if sample not in self.samples:
            more = ", ..." if len(self.samples) > SHOWN else ""
            known = ", ".join(self.samples[:SHOWN]) + more
            raise NoGenotype(
                f"sample {sample!r} has no genotype in {self.source}, which names {known}"
            )
        return self.lacking[self.samples.index(sample)]

    def has(self, samples: Sequence[str], region: Region, n: int) -> NDArray[np.bool_]:
        """Return (samples, n) which of the n parts of a region the donors of samples have."""
        found = np.ones((len(samples), n), np.bool_)
        for i, sample in enumerate(samples):
            if sample in self.samples:  # others kept no row
                found[i, list(self.of(sample).of(region))] = False
        return found


def pairs_of(has: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return (n, pairs) whether both genes of each pair are there, from (n, genes)."""
    pairs = list(combinations(range(has.shape[1]), 2))
    both: NDArray[np.bool_] = has[:, [a for a, _ in pairs]] & has[:, [b for _, b in pairs]]
    return both
