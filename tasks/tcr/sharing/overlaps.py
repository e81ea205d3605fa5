"""Overlaps: shared nucleotypes of each pair of individuals, and pairs that share far too many.

If all pairs were equally related, a pair would share a number proportional to the product of both
individuals' nucleotypes. If two individuals share many times that, one was sampled twice, or one
sample contaminates the other (or they are twins).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

FAR = 5.0  # robust standard deviations from the median pair
TIMES = 3.0  # ratio of shared to expected nucleotypes of a far pair, at least
MOST_OF_ONE = 0.5  # shared fraction of the smaller individual that is always suspicious
FEWEST = 5  # shared nucleotypes of a suspicious pair, at least
PAIRS = 5000  # pairs in the result
NORMAL = 1.4826  # ratio of standard deviation to median absolute deviation of a normal distribution
RULE = (
    f"shared by {FEWEST} or more, {TIMES:.0f} times what the median pair would share at these "
    f"sizes, and {FAR:.0f} robust deviations above it; or {100 * MOST_OF_ONE:.0f} % of one of both"
)


@dataclass(frozen=True)
class Overlap:
    """Overlap of a pair of individuals.

    Attributes
    ----------
    one, other : their names
    one_has, other_has : nucleotypes of each
    shared : nucleotypes of both
    expected : product of one_has and other_has, times the median over all pairs of shared /
        product; if that is 0, times the ratio of the sums over all other pairs
    distance : 2 (sqrt(shared + 3/8) - sqrt(expected + 3/8)), of unit variance for Poisson counts
        (Anscombe 1948, Biometrika 35:246), over the larger of 1 and 1.4826 times the median
        absolute deviation of all pairs from their median
    far : True if the pair shares far more than the rest, by RULE
    """

    one: str
    other: str
    one_has: int
    other_has: int
    shared: int
    expected: float
    distance: float
    far: bool


def shared_counts(owners: pa.ListArray, n_individuals: int) -> NDArray[np.int64]:
    """Return the nucleotypes that pairs share, (individuals, individuals); the diagonal has totals.

    Parameters
    ----------
    owners : individuals of each nucleotype, each once
    n_individuals : number of individuals
    """
    from scipy.sparse import csr_matrix

    ends = owners.offsets.to_numpy().astype(np.int64)
    flat = owners.flatten().to_numpy()
    shape = (len(owners), n_individuals)
    has = csr_matrix((np.ones(len(flat), np.int64), flat, ends - ends[0]), shape)
    return np.asarray((has.T @ has).toarray(), np.int64)


def list_overlaps(shared: NDArray[np.int64], names: Sequence[str]) -> tuple[Overlap, ...]:
    """Return the overlaps of all pairs, the most distant first.

    Parameters
    ----------
    shared : (individuals, individuals) int64
        Result of `shared_counts`.
    names : names of the individuals
    """
    one, other = np.triu_indices(len(names), 1)
    if not len(one):
        return ()
    has, both = np.diag(shared), shared[one, other]
    expected = _expected(both, has[one].astype(float) * has[other])
    distance = _distance(both, expected)
    far = (distance > FAR) & (both > TIMES * expected) & (len(one) > 1)
    far = (far | (both > MOST_OF_ONE * np.minimum(has[one], has[other]))) & (both >= FEWEST)
    order = np.lexsort((other, one, -distance))
    return tuple(
        Overlap(
            *(names[one[i]], names[other[i]], int(has[one[i]]), int(has[other[i]]), int(both[i])),
            *(float(expected[i]), float(distance[i]), bool(far[i])),
        )
        for i in order
    )


def warnings(found: Sequence[Overlap]) -> Iterator[str]:
    """Yield a message for each pair that shares far more than the rest."""
    total = sum(each.shared for each in found)
    for each in found:
        if each.far:
            yield (
                f"{each.one} and {each.other} share {each.shared:,} of {each.one_has:,} and "
                f"{each.other_has:,}, {each.expected:.3g} expected, {each.shared / total:.0%} of "
                "what all pairs share: one donor twice, or contamination?"
            )


def _expected(both: NDArray[np.int64], product: NDArray[np.float64]) -> NDArray[np.float64]:
    rate = np.median(both / np.maximum(product, 1))
    if not rate:  # most pairs share nothing: the sums of all others are more informative
        others = np.maximum(product.sum() - product, 1)
        found: NDArray[np.float64] = (both.sum() - both) / others * product
        return found
    return np.asarray(rate * product, np.float64)


def _distance(both: NDArray[np.int64], expected: NDArray[np.float64]) -> NDArray[np.float64]:
    found = 2 * (np.sqrt(both + 0.375) - np.sqrt(expected + 0.375))
    spread = NORMAL * np.median(np.abs(found - np.median(found)))
    scaled: NDArray[np.float64] = found / max(1.0, float(spread))
    return scaled
