"""How many hits with a score chance would give (S. Karlin and S. Altschul, 1990)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.tasks.align.scores import Scores


class Expected(NamedTuple):
    """Of each hit.

    Attributes
    ----------
    evalues : (n,) float64, K m n exp(-lambda S), m and n the letters of query and genome
    bits : (n,) float64, (lambda S - ln K) / ln 2
    """

    evalues: npt.NDArray[np.float64]
    bits: npt.NDArray[np.float64]


def expected(
    scores: Scores,
    found: npt.NDArray[np.int64],
    lengths: npt.NDArray[np.int64],
    records: npt.NDArray[np.int64],
) -> Expected:
    """Return what is expected for the scores found, (n,), of queries of these lengths, (n,)."""
    rate, factor = 0.625, 0.41
    raw = rate * found
    evalues = factor * lengths * float(records.sum()) * np.exp(-raw)
    return Expected(evalues, (raw - np.log(factor)) / np.log(2))
