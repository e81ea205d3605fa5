"""Predictions of the `dense` coder: per series none, or a sum of neighbours in time and frequency.

Sums are float64 in the order of the terms, none contracted, so that every machine gets the same
bits; the sum is rounded to the float of the words, and the difference taken between the integers
that order floats as they are ordered (SPEC.md, "dense").
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.bits import leading_zeros
from gangsaw.codecs.core.floats import as_float, as_word, rounded_like
from gangsaw.codecs.core.jit import jit_bare, jit_bare_inline

LANES = 32
# (steps back in time, in frequency, weight) of each predictor; 0 is none
PREDICTORS: tuple[tuple[tuple[int, int, float], ...], ...] = (
    (),
    ((1, 0, 1),),
    ((0, 1, 1),),
    ((1, 0, 1), (0, 1, 1), (1, 1, -1)),  # parallelogram
    ((1, 0, 2), (2, 0, -1)),  # Lagrange, orders 1 to 3, in time
    ((1, 0, 3), (2, 0, -3), (3, 0, 1)),
    ((1, 0, 4), (2, 0, -6), (3, 0, 4), (4, 0, -1)),
    ((0, 1, 2), (0, 2, -1)),  # and in frequency
    ((0, 1, 3), (0, 2, -3), (0, 3, 1)),
    ((0, 1, 4), (0, 2, -6), (0, 3, 4), (0, 4, -1)),
    ((1, 0, 0.5), (2, 0, 0.5)),  # means
    ((0, 1, 0.5), (0, 2, 0.5)),
    ((1, 0, 0.5), (0, 1, 0.5)),
    ((1, 0, 2), (2, 0, -1), (0, 1, 1), (1, 1, -2), (2, 1, 1)),  # order 1 in one, 0 in the other
    ((0, 1, 2), (0, 2, -1), (1, 0, 1), (1, 1, -2), (1, 2, 1)),
)
MOST_TERMS = max(map(len, PREDICTORS))


def _terms() -> Any:
    """(predictors, MOST_TERMS, 3) float64; terms that a predictor lacks weigh 0."""
    table = np.zeros((len(PREDICTORS), MOST_TERMS, 3))
    for row, terms in zip(table, PREDICTORS, strict=True):
        row[: len(terms)] = np.reshape(terms, (-1, 3))
    return table


TERMS = _terms()


@jit_bare_inline
def add_term(words: Any, first: int, weight: float, sums: Any) -> None:
    """Add weight * value to the 32 sums, for the words from `first` on; what is not finite is 0."""
    for lane in range(LANES):
        value = as_float(words[first + lane])
        finite = value - value == value - value  # infinity - infinity is no number
        sums[lane] += weight * (np.float64(value) if finite else 0.0)


@jit_bare_inline
def sum_terms(words: Any, base: int, row: int, n_times: int, terms: Any, sums: Any) -> None:
    """Fill the 32 sums that predict a row of a strip, whose words begin at `base`.

    Neighbours before the first time or frequency count as 0.
    """
    for lane in range(LANES):
        sums[lane] = 0.0
    time, frequency = row % n_times, row // n_times
    for i in range(len(terms)):
        back, down, weight = int(terms[i, 0]), int(terms[i, 1]), terms[i, 2]
        if weight != 0.0 and back <= time and down <= frequency:
            add_term(words, base + (row - back - down * n_times) * LANES, weight, sums)


@jit_bare_inline
def ordered(word: Any, sign: Any) -> Any:
    """Return the integer (modulo 2^64, its low bits count) that orders floats; its own inverse."""
    return word ^ (sign - np.uint64(1) if word & sign else np.uint64(0))


@jit_bare_inline
def predicted(total: float, word: Any, sign: Any) -> Any:
    """Return the ordered integer of a sum, rounded to the float of `word`; 0 if it is not finite."""
    value = rounded_like(total, word)
    if not value - value == value - value:
        return np.uint64(0)
    return ordered(np.uint64(as_word(value)), sign)


@jit_bare_inline
def used(predictors: Any, first: int, wanted: int) -> bool:
    """Whether one of a strip's 32 predictors, from `first` on, is the wanted one."""
    found = False
    for lane in range(LANES):
        found |= predictors[first + lane] == wanted
    return found


@jit_bare
def add_costs(
    words: Any, base: int, n_rows: int, step: int, n_times: int, terms: Any, sums: Any, costs: Any
) -> None:
    """Add to costs (predictors, 32) what each predictor leaves: bits of every step-th row."""
    word = words[0]
    width = 8 * words.itemsize
    sign = np.uint64(1) << np.uint64(width - 1)
    mask = sign | (sign - np.uint64(1))
    for row in range(0, n_rows, step):
        here = base + row * LANES
        for p in range(1, len(terms)):
            sum_terms(words, base, row, n_times, terms[p], sums)
            for lane in range(LANES):
                d = ordered(np.uint64(words[here + lane]), sign) - predicted(
                    sums[lane], word, sign
                )
                d &= mask
                size = ((~d) + np.uint64(1)) & mask if d & sign else d
                costs[p, lane] += 64 - leading_zeros(size)


@jit_bare
def to_residuals(
    words: Any, n_rows: int, n_times: int, predictors: Any, terms: Any, sums: Any, out: Any
) -> None:
    """Fill out with words, or with residuals in the lanes that are predicted: all strips."""
    word = words[0]
    sign = np.uint64(1) << np.uint64(8 * words.itemsize - 1)
    for i in range(words.size):
        out[i] = words[i]
    for i in range(len(predictors) // LANES * len(terms)):
        strip, p = i // len(terms), i % len(terms)
        base = strip * n_rows * LANES
        for row in range(n_rows if p > 0 and used(predictors, strip * LANES, p) else 0):
            sum_terms(words, base, row, n_times, terms[p], sums)
            for lane in range(LANES):
                at = base + row * LANES + lane
                d = ordered(np.uint64(words[at]), sign) - predicted(sums[lane], word, sign)
                if predictors[strip * LANES + lane] == p:
                    out[at] = d


@jit_bare
def from_residuals(
    words: Any, n_rows: int, n_times: int, predictors: Any, terms: Any, sums: Any
) -> None:
    """Turn residuals in all strips of words back into words; the inverse of `to_residuals`."""
    word = words[0]
    sign = np.uint64(1) << np.uint64(8 * words.itemsize - 1)
    for i in range(len(predictors) // LANES * len(terms)):
        strip, p = i // len(terms), i % len(terms)
        base = strip * n_rows * LANES
        for row in range(n_rows if p > 0 and used(predictors, strip * LANES, p) else 0):
            sum_terms(words, base, row, n_times, terms[p], sums)
            for lane in range(LANES):
                at = base + row * LANES + lane
                d = np.uint64(words[at]) + predicted(sums[lane], word, sign)
                d &= sign | (sign - np.uint64(1))
                if predictors[strip * LANES + lane] == p:
                    words[at] = ordered(d, sign)
