"""Karlin-Altschul parameters beside those that BLAST prints, and what is made of them."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.genomics.align import smith_waterman
from gangsaw.tasks.genomics.align.sets.pairs import SequenceSet
from gangsaw.tasks.genomics.align.sets.scores import Scores
from gangsaw.tasks.genomics.align.statistics import (
    FITTED,
    gapped_significance,
    ungapped_significance,
)

# lambda, K and H that blastn of NCBI prints at the end of its reports, rounded as there
PRINTED = {
    (2, -3): (0.634, 0.408, 0.912),
    (1, -3): (1.37, 0.711, 1.31),
    (1, -2): (1.33, 0.621, 1.12),
}


@pytest.mark.parametrize(("match", "mismatch"), PRINTED)
def test_ungapped_as_blast_prints_it(match: int, mismatch: int) -> None:
    found = ungapped_significance(Scores(match, mismatch))
    for ours, theirs in zip(
        (found.scale, found.k, found.entropy), PRINTED[match, mismatch], strict=True
    ):
        assert ours == pytest.approx(theirs, rel=0.005)


def test_scores_of_one_match_or_nothing() -> None:
    """+1/-1 is a random walk of which all is known in closed form: lambda = ln(q/p), K = (q-p)^2/q.

    Karlin and Altschul (1990), of a score of +1 and -1 with probabilities p and q.
    """
    found = ungapped_significance(Scores(1, -1))
    p, q = 0.25, 0.75
    assert found.scale == pytest.approx(log(q / p))
    assert found.k == pytest.approx((q - p) ** 2 / q)


def test_multiples_of_scores() -> None:
    one, three = ungapped_significance(Scores(1, -2)), ungapped_significance(Scores(3, -6))
    assert three.scale == pytest.approx(one.scale / 3)
    assert (three.k, three.entropy) == pytest.approx((one.k, one.entropy))


def test_scores_of_random_sequences() -> None:
    """Shares of pairs whose best ungapped score exceeds x: 1 - exp(-K m n exp(-lambda x))."""
    rng = np.random.default_rng(6)
    scores, n, pairs = Scores(1, -2), 300, 150
    found = ungapped_significance(scores)
    best = [_best_ungapped(rng.integers(0, 4, (2, n)), scores) for _ in range(pairs)]
    m, _ = found.effective(n, n)
    for x in (8, 9, 10):
        expected = 1 - exp(-found.k * m * m * exp(-found.scale * x))
        error = (expected * (1 - expected) / pairs) ** 0.5
        assert np.mean(np.array(best) >= x) == pytest.approx(expected, abs=4 * error + 0.03)


def _best_ungapped(pair: np.ndarray, scores: Scores) -> int:
    """Kadane's sums along all diagonals at once."""
    query, target = pair
    along, best = np.zeros(target.size + 1, np.int64), 0
    for base in query:
        values = np.where(target == base, scores.match, scores.mismatch)
        along[1:] = np.maximum(along[:-1] + values, 0)
        best = max(best, int(along.max()))
    return best


def test_bits_and_e_values() -> None:
    found = gapped_significance(Scores())
    bits = found.bit_score(100)
    assert bits == pytest.approx((found.scale * 100 - log(found.k)) / log(2))
    m, n = found.effective(150, 4_600_000)
    assert found.e_value(100, 150, 4_600_000) == pytest.approx(m * n * 2**-bits)
    length = log(found.k * m * n) / found.entropy
    assert (150 - m, 4_600_000 - n) == pytest.approx((length, length), abs=1.01)


def test_records_and_short_queries() -> None:
    found = gapped_significance(Scores())
    one, many = found.effective(150, 100_000), found.effective(150, 100_000, records=100)
    assert many[1] == pytest.approx(100_000 - 100 * (150 - many[0]), abs=1)
    assert many[1] < one[1]
    assert found.effective(3, 5)[0] >= 1
    assert found.e_value(6, 3, 5) > 0


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (Scores(3, -1), "3/-1 have no statistics: random pairs score 0 on average"),
        (Scores(100, -34), "so near to 0 on average"),
    ],
)
def test_scores_without_statistics(scores: Scores, message: str) -> None:
    with pytest.raises(BadParams, match=message):
        ungapped_significance(scores)


@pytest.mark.parametrize("scores", FITTED)
def test_gapped_scores_of_random_sequences(scores: Scores) -> None:
    """As many pairs as expected exceed scores near the usual best one."""
    rng, n, pairs = np.random.default_rng(12), 300, 3000
    found = gapped_significance(scores)
    offsets = np.arange(pairs + 1, dtype=np.int64) * n
    sides = (SequenceSet(rng.integers(0, 4, pairs * n, np.uint8), offsets) for _ in range(2))
    best = smith_waterman(*sides, scores).score
    m, _ = found.effective(n, n)
    for x in np.unique(np.quantile(best, [0.4, 0.7, 0.9, 0.98]).astype(int)):
        expected = 1 - exp(-found.k * m * m * exp(-found.scale * x))
        error = (expected * (1 - expected) / pairs) ** 0.5
        assert np.mean(best >= x) == pytest.approx(expected, abs=4 * error + 0.02)


def test_multiples_of_gapped_scores_have_their_statistics() -> None:
    one, two = (gapped_significance(Scores(*own)) for own in ((1, -4, 6, 1), (2, -8, 12, 2)))
    assert two.bit_score(200) == pytest.approx(one.bit_score(100))
    assert two.e_value(80, 150, 10**7) == pytest.approx(one.e_value(40, 150, 10**7))


def test_fitted_scores_are_near_those_of_blast() -> None:
    """For BLAST they were fitted to even scores, or are those without gaps (blast_stat.c)."""
    for own, scale, entropy in (((1, -2, 2, 1), 1.29, 0.92), ((1, -3, 5, 2), 1.374, 1.31)):
        found = gapped_significance(Scores(*own))
        assert found.scale == pytest.approx(scale, rel=0.02)
        assert found.entropy == pytest.approx(entropy, rel=0.03)


def test_gapped_scores_that_were_not_fitted() -> None:
    with pytest.raises(BadParams, match="1/-1/5/2: they are fitted for 2/-3/5/2, 1/-2/2/1"):
        gapped_significance(Scores(1, -1))
    with pytest.raises(BadParams, match="query must be in 1"):
        gapped_significance(Scores()).e_value(3, 0, 5)
