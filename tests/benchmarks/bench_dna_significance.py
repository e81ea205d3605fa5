"""Karlin-Altschul parameters: ungapped ones as computed, gapped ones fitted to random sequences.

The best local scores of random pairs follow P(S >= x) = 1 - exp(-K m' n' exp(-lambda x)). Lambda
and K are those of the greatest likelihood, H is lambda over the bases that a unit of score takes.
Errors are those of the mean of PARTS parts that are fitted apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import gcd

import numpy as np
from scipy.optimize import minimize

from gangsaw.tasks.bench.table import Row, say
from gangsaw.tasks.genomics.align import Alignments, Scores, smith_waterman
from gangsaw.tasks.genomics.align.sets.pairs import SequenceSet
from gangsaw.tasks.genomics.align.statistics import FITTED, Significance, ungapped_significance

SEED = 1990
BASES = 1000
PARTS, PAIRS = 10, 10_000  # of a part
# of blastn: what it prints for alignments without gaps; its table in blast_stat.c for those with
PRINTED = {
    (2, -3): (0.634, 0.408, 0.912),
    (1, -3): (1.37, 0.711, 1.31),
    (1, -2): (1.33, 0.621, 1.12),
}
TABLE = (0.625, 0.41, 0.78)
NAMES = ("lambda", "K", "H")


def rows() -> Iterator[Row]:
    """Yield each parameter, with BLAST's beside it."""
    for (match, mismatch), printed in PRINTED.items():
        found = ungapped_significance(Scores(match, mismatch))
        for name, ours, theirs in zip(NAMES, _figures(found), printed, strict=True):
            yield Row(
                f"{name} of {match}/{mismatch} without gaps", ours, "", "", f"blastn {theirs}"
            )
    for scores in FITTED:
        yield from _fitted_rows(scores)


def _fitted_rows(scores: Scores) -> Iterator[Row]:
    """Yield the parameters of scores with gaps, with those that are used."""
    parts = np.array([_figures(_fitted(SEED + part, scores)) for part in range(PARTS)])
    used = _figures(FITTED[scores])
    costs = f"{scores.match}/{scores.mismatch} with gaps {scores.gap_open}/{scores.gap_extend}"
    for i, name in enumerate(NAMES):
        mean, error = parts[:, i].mean(), parts[:, i].std(ddof=1) / PARTS**0.5
        apart = (mean - TABLE[i]) / error
        theirs = f"; blastn {TABLE[i]}, {apart:+.1f} errors from it" if scores == Scores() else ""
        note = f"+- {error:.2g}{theirs}; used {used[i]}"
        yield Row(f"{name} of {costs}, fitted", mean, "", "", note, {"error": error})


def _figures(found: Significance) -> tuple[float, float, float]:
    return found.scale, found.k, found.entropy


def _fitted(seed: int, scores: Scores) -> Significance:
    say(f"fit {seed} {scores}")
    rng = np.random.default_rng(seed)
    offsets = np.arange(PAIRS + 1, dtype=np.int64) * BASES
    queries, targets = (
        SequenceSet(rng.integers(0, 4, PAIRS * BASES, np.uint8), offsets) for _ in range(2)
    )
    found = smith_waterman(queries, targets, scores)
    return likeliest(found, scores)


def likeliest(found: Alignments, scores: Scores) -> Significance:
    """Return the parameters under which such scores of BASES x BASES cells are most likely."""
    span = gcd(scores.match, scores.mismatch)  # scores between its multiples need gaps, and are few
    values, times = np.unique(found.score // span * span, return_counts=True)
    lengths = found.query_end - found.query_start
    slope = float(np.polyfit(found.score, lengths, 1)[0])

    def surprise(logs: np.ndarray) -> float:
        scale, k = np.exp(logs)
        now = Significance(float(scale), float(k), float(scale) / slope)
        m, n = now.effective(BASES, BASES)
        below = np.exp(-k * m * n * np.exp(-scale * np.array([values, values + span])))
        return -float(times @ np.log(np.maximum(below[1] - below[0], 1e-300)))

    start = ungapped_significance(scores)
    logs = np.log([start.scale, start.k])
    best = minimize(surprise, logs, method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-6})
    scale, k = np.exp(best.x)
    return replace(start, scale=float(scale), k=float(k), entropy=float(scale) / slope)
