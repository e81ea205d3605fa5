"""Significance of a score by Karlin and Altschul (1990), for uniformly distributed bases.

Without gaps lambda, K and H follow from the scores. With gaps there is no such theory: lambda and K
are fitted to scores of random sequences, for common scores. Multiples of scores have the same K and
H, and lambda divided by the factor.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from math import exp, expm1, gcd, log

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.parameters import require_int
from gangsaw.tasks.genomics.align.sets.scores import Scores

MATCHES = 0.25  # share of random pairs of bases
STEPS = 60  # bisections of an interval of lambda: all bits of a double
ROUNDS = 20  # of a fixed-point iteration; each reduces the error about tenfold
SMALL = 1e-12  # terms of a sum below this are dropped
TERMS = 3000  # largest number of terms: more are needed if random pairs score nearly 0 on average
LARGEST = 1 << 62


@dataclass(frozen=True)
class Significance:
    """Karlin-Altschul parameters of the distribution of alignment scores.

    Attributes
    ----------
    scale : lambda, in nats per unit of score
    k : K, factor of the search space
    entropy : H, in nats per aligned pair of bases
    """

    scale: float
    k: float
    entropy: float

    def bit_score(self, score: int) -> float:
        """Return a score in bits: (lambda S - ln K) / ln 2."""
        return (self.scale * score - log(self.k)) / log(2)

    def e_value(self, score: int, query: int, target: int, records: int = 1) -> float:
        """Return the expected number of random alignments with this score or more.

        It is K m' n' exp(-lambda S).

        Parameters
        ----------
        query, target : bases of the query, and of all records of the target together
        records : number of records of the target; no alignment crosses the end of a record

        Raises
        ------
        BadParams : a length or a number is not positive
        """
        m, n = self.effective(query, target, records)
        return float(self.k * m * n * exp(-self.scale * score))

    def effective(self, query: int, target: int, records: int = 1) -> tuple[int, int]:
        """Return the bases m' and n' at which an alignment can begin (Altschul and Gish, 1996).

        An alignment with the score that is expected once has l = ln(K m' n') / H bases; m' = m - l,
        n' = n - records * l; both are at least 1.
        """
        for name, value in (("query", query), ("target", target), ("records", records)):
            require_int(name, value, 1, LARGEST)
        m, n = query, target
        for _ in range(ROUNDS):
            length = max(0, int(log(max(1.0, self.k * m * n)) / self.entropy))
            m, n = max(1, query - length), max(1, target - records * length)
        return m, n


# from tests/benchmarks/RESULTS-DNA-PAPER.md, which describes the fit and its errors
FITTED = {
    Scores(): Significance(0.620, 0.351, 0.768),  # blastn
    Scores(1, -2, 2, 1): Significance(1.295, 0.528, 0.903),  # minimap2, twice
    Scores(1, -2, 5, 2): Significance(1.338, 0.658, 1.121),
    Scores(1, -3, 5, 2): Significance(1.379, 0.752, 1.317),  # blastn-short
    Scores(1, -4, 6, 1): Significance(1.388, 0.776, 1.369),  # BWA-MEM; minimap2 -x sr, twice
    # bowtie2 --local; odd scores need gaps and are rare: their e-values are up to twice too high
    Scores(2, -6, 5, 3): Significance(0.686, 0.715, 1.259),
}


def gapped_significance(scores: Scores) -> Significance:
    """Return the fitted Karlin-Altschul parameters for affine scores.

    Raises
    ------
    BadParams : there are none for these scores
    """
    own, times = _reduced(scores)
    if own not in FITTED:
        known = ", ".join(_named(one) for one in FITTED)
        raise BadParams(
            f"no statistics of gapped scores {_named(scores)}: they are fitted for {known} and "
            "multiples of these; use one of them, or alignments without gaps"
        )
    found = FITTED[own]
    return Significance(found.scale / times, found.k, found.entropy)


def has_statistics(scores: Scores) -> bool:
    """Return True if affine scores have fitted parameters."""
    return _reduced(scores)[0] in FITTED


def _reduced(scores: Scores) -> tuple[Scores, int]:
    """Return scores divided by their greatest common divisor, and the divisor."""
    own = astuple(scores)
    times = gcd(*own)
    return Scores(*(one // times for one in own)), times


def _named(scores: Scores) -> str:
    return f"{scores.match}/{scores.mismatch}/{scores.gap_open}/{scores.gap_extend}"


def ungapped_significance(scores: Scores) -> Significance:
    """Return the Karlin-Altschul parameters of alignments without gaps; gap costs are ignored.

    Raises
    ------
    BadParams : random pairs score 0 or nearly 0 or more on average: then all long ones do
    """
    probabilities = {scores.match: MATCHES, scores.mismatch: 1 - MATCHES}
    mean = sum(score * p for score, p in probabilities.items())
    if mean >= 0:
        raise BadParams(
            f"scores {scores.match}/{scores.mismatch} have no statistics: random pairs score "
            f"{mean:g} on average, which must be below 0"
        )
    scale = _scale(probabilities)
    gain = sum(score * p * exp(scale * score) for score, p in probabilities.items())
    span = gcd(scores.match, -scores.mismatch)
    k = span * exp(-2 * _sigma(scores, scale)) / (gain * -expm1(-scale * span))
    return Significance(scale, k, scale * gain)


def _scale(probabilities: dict[int, float]) -> float:
    """Return lambda, the positive root of sum p exp(lambda s) = 1 over pair scores s."""
    best = max(probabilities)
    low, high = 0.0, log(1 / probabilities[best]) / best  # where that term alone is 1
    for _ in range(STEPS):
        middle = (low + high) / 2
        total = sum(p * exp(middle * score) for score, p in probabilities.items())
        low, high = (middle, high) if total < 1 else (low, middle)
    return (low + high) / 2


def _sigma(scores: Scores, scale: float) -> float:
    """Return sum over j of (E(exp(lambda S_j); S_j < 0) + P(S_j >= 0)) / j, S_j a sum of j scores.

    Both terms fall by a factor with each step, so the rest behind a small term is small as well.
    """
    total = 0.0
    matches: NDArray[np.float64] = np.ones(1)  # probabilities of 0..j matches
    for j in range(1, TERMS):
        matches = np.convolve(matches, [1 - MATCHES, MATCHES]).astype(np.float64)
        sums = scores.match * np.arange(j + 1) + scores.mismatch * np.arange(j, -1, -1)
        term = float(matches @ np.exp(scale * np.minimum(sums, 0)))
        total += term / j
        if term < SMALL:
            return total
    raise BadParams(
        f"no statistics of scores {scores.match}/{scores.mismatch}: random pairs score so near to "
        "0 on average that chance alone makes long alignments; set a lower mismatch"
    )
