"""Predictions of the `dense` coder: per series none, or a sum of neighbours in time and frequency.

Sums are float64 in the order of the terms, none contracted, so that every machine gets the same
bits; the sum is rounded to the float of the words, and the difference taken between the integers
that order floats as they are ordered (SPEC.md, "dense").
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.bits import ahead, fit, pointer
from gangsaw.codecs.core.floats import as_float, as_word, rounded_like
from gangsaw.codecs.core.jit import jit_bare, jit_bare_inline
from gangsaw.codecs.core.simd import any_lane, lane_leading_zeros, load, select, static, store
from gangsaw.codecs.core.simd_logic import logical_shift_right
from gangsaw.codecs.visibility.lanes import LANES

ROW = static(LANES)
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
def add_term(words: Any, weight: float, sums: Any) -> None:
    """Add weight * value to the 32 sums, for a row of words; what is not finite counts as 0."""
    for lane in range(LANES):
        value = np.float64(as_float(words[lane]))
        finite = value - value == 0.0
        sums[lane] += weight * (value if finite else 0.0)


@jit_bare_inline
def guess_row(words: Any, row: int, n_times: int, terms: Any, sums: Any, guess: Any) -> None:
    """Fill guess (32,) with the words that are predicted for a row of a strip.

    Neighbours before the first time or frequency count as 0; so does a sum that is not finite.

    Parameters
    ----------
    words : where the strip begins
    terms : (MOST_TERMS, 3) of the predictor
    """
    for lane in range(LANES):
        sums[lane] = 0.0
    time, frequency = row % n_times, row // n_times
    for i in range(MOST_TERMS):
        back, down, weight = int(terms[3 * i]), int(terms[3 * i + 1]), terms[3 * i + 2]
        if weight != 0.0 and back <= time and down <= frequency:
            add_term(ahead(words, (row - back - down * n_times) * LANES), weight, sums)
    for lane in range(LANES):
        value = rounded_like(sums[lane], guess[lane])
        word = fit(as_word(value), guess)
        guess[lane] = word if value - value == 0.0 else fit(0, guess)


@jit_bare_inline
def ordered(word: Any, width: int) -> Any:
    """Return integers ordered as floats are, of a vector of words; it is its own inverse."""
    return word ^ logical_shift_right(word >> (width - 1), 1)


@jit_bare
def add_costs(
    words: Any, strips: Any, n_rows: int, step: int, n_times: int, terms: Any, sums: Any,
    guess: Any, costs: Any,
) -> None:  # fmt: skip
    """Add to costs (predictors, lanes) what each predictor leaves: bits of every step-th row.

    Parameters
    ----------
    words : (n,) signed
    strips : numbers of those that are looked at
    terms : TERMS, flat
    sums, guess : (32,) float64, and words, to work with
    costs : signed, as wide as the words
    """
    width = 8 * words.itemsize
    n_predictors = len(costs)
    for strip in strips:
        base = strip * n_rows * LANES
        for row in range(0, n_rows, step):
            word = ordered(load(words, base + row * LANES, ROW), width)
            for p in range(1, n_predictors):
                of_p = pointer(terms, 3 * MOST_TERMS * p)
                guess_row(
                    pointer(words, base), row, n_times, of_p, pointer(sums, 0), pointer(guess, 0)
                )
                d = word - ordered(load(guess, 0, ROW), width)
                size = select(d < 0, 0 - d, d)
                row_costs = costs[p]
                so_far = load(row_costs, strip * LANES, ROW)
                store(row_costs, strip * LANES, so_far + (width - lane_leading_zeros(size)))


@jit_bare
def to_residuals(
    out: Any,
    words: Any,
    n_rows: int,
    n_times: int,
    predictors: Any,
    terms: Any,
    sums: Any,
    guess: Any,
) -> None:
    """Fill out with signed words, or with residuals in the lanes that are predicted: all strips."""
    width = 8 * words.itemsize
    n_predictors = terms.size // (3 * MOST_TERMS)
    for i in range(words.size):
        out[i] = words[i]
    for i in range(len(predictors) // LANES * n_predictors):
        strip, p = i // n_predictors, i % n_predictors
        base = strip * n_rows * LANES
        own = load(predictors, strip * LANES, ROW) == p
        for row in range(n_rows if p > 0 and any_lane(own) else 0):
            of_p = pointer(terms, 3 * MOST_TERMS * p)
            guess_row(pointer(words, base), row, n_times, of_p, pointer(sums, 0), pointer(guess, 0))
            at = base + row * LANES
            d = ordered(load(words, at, ROW), width) - ordered(load(guess, 0, ROW), width)
            store(out, at, select(own, d, load(out, at, ROW)))


@jit_bare
def from_residuals(
    words: Any, n_rows: int, n_times: int, predictors: Any, terms: Any, sums: Any, guess: Any
) -> None:
    """Turn residuals in all strips of signed words back into words."""
    width = 8 * words.itemsize
    n_predictors = terms.size // (3 * MOST_TERMS)
    for i in range(len(predictors) // LANES * n_predictors):
        strip, p = i // n_predictors, i % n_predictors
        base = strip * n_rows * LANES
        own = load(predictors, strip * LANES, ROW) == p
        for row in range(n_rows if p > 0 and any_lane(own) else 0):
            of_p = pointer(terms, 3 * MOST_TERMS * p)
            guess_row(pointer(words, base), row, n_times, of_p, pointer(sums, 0), pointer(guess, 0))
            at = base + row * LANES
            d = load(words, at, ROW)
            restored = ordered(d + ordered(load(guess, 0, ROW), width), width)
            store(words, at, select(own, restored, d))
