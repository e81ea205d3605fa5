"""Genotypes: the germline parts that the donor of each sample has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.errors import BadParams

Region = Literal["V", "D", "J"]
SHOWN = 5  # samples in a message


class NoGenotype(BadParams):
    """Error: a sample is missing in the table of genotypes."""


@dataclass(frozen=True)
class Lacking:
    """Germline parts that a donor lacks.

    Attributes
    ----------
    v, d, j : indices into the parts of the germline, ascending
    """

    v: tuple[int, ...] = ()
    d: tuple[int, ...] = ()
    j: tuple[int, ...] = ()

    def of(self, region: Region) -> tuple[int, ...]:
        """Return the indices of the lacking parts of one region."""
        return {"V": self.v, "D": self.d, "J": self.j}[region]


@dataclass(frozen=True)
class Genotypes:
    """Genotypes of a table.

    Attributes
    ----------
    source : name of the table, for messages
    samples : names, in the order of the table
    lacking : for each sample, the parts that its donor lacks
    """

    source: str
    samples: tuple[str, ...]
    lacking: tuple[Lacking, ...]

    def of(self, sample: str) -> Lacking:
        """Return the parts that a sample's donor lacks; raise `NoGenotype` if unknown."""
        if sample not in self.samples:
            more = ", ..." if len(self.samples) > SHOWN else ""
            known = ", ".join(self.samples[:SHOWN]) + more
            raise NoGenotype(
                f"sample {sample!r} has no genotype in {self.source}, which names {known}"
            )
        return self.lacking[self.samples.index(sample)]

    def has(self, samples: Sequence[str], region: Region, n: int) -> NDArray[np.bool_]:
        """Return a mask (samples, n) of the parts of a region: True where the donor has one."""
        found = np.ones((len(samples), n), np.bool_)
        for i, sample in enumerate(samples):
            if sample in self.samples:  # samples without a genotype have no counted rows
                found[i, list(self.of(sample).of(region))] = False
        return found


def pairs_of(has: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return a mask (n, pairs): True where both genes of a pair are present in (n, genes)."""
    pairs = list(combinations(range(has.shape[1]), 2))
    both: NDArray[np.bool_] = has[:, [a for a, _ in pairs]] & has[:, [b for _, b in pairs]]
    return both
