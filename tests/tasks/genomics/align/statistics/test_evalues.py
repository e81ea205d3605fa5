"""E-values of many hits are those of each of them."""

from __future__ import annotations

import numpy as np
import pytest

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.genomics.align.sets.scores import Scores
from gangsaw.tasks.genomics.align.statistics import gapped_significance
from gangsaw.tasks.genomics.align.statistics.evalues import compute_evalues


def test_they_are_those_of_each_hit() -> None:
    records, lengths = np.array([4000, 90_000]), np.array([150, 150, 10_000])
    scores, own = np.array([40, 300, 41]), gapped_significance(Scores())
    found = compute_evalues(Scores(), scores, lengths, records)
    rows = zip(scores.tolist(), lengths.tolist(), strict=True)
    assert found.evalues.tolist() == pytest.approx(
        [own.e_value(score, size, 94_000, 2) for score, size in rows], rel=1e-12
    )
    assert found.bits.tolist() == pytest.approx([own.bit_score(s) for s in scores.tolist()])


def test_unknown_scores_have_none() -> None:
    with pytest.raises(BadParams, match="statistics"):
        compute_evalues(Scores(1, -9), np.array([40]), np.array([50]), np.array([100]))
