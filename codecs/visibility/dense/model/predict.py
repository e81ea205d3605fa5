"""Predictors of the `dense` coder: per series, none or a weighted sum of neighbours.

Sums are float64 in the order of the terms, none contracted, so that every machine gets the same
bits. The sum is rounded to the float type of the words. The residual is the difference between the
integers that sort in the same order as floats (SPEC.md, "dense").
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Float64s, Int64s, NumpyArray
from gangsaw.codecs.core.numba.bits import pointer
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.floats import (
    finite_doubles,
    load_floats,
    no_doubles,
    rounded_words,
)
from gangsaw.codecs.core.numba.vectors.integers import (
    Vector,
    lane_leading_zeros,
    load,
    select,
    static,
    store,
)
from gangsaw.codecs.core.numba.vectors.logic import logical_shift_right
from gangsaw.codecs.visibility.lanes.table import LANES

ROW = static(LANES)
# (steps back in time, steps back in frequency, weight) per term; predictor 0 has no terms
PREDICTORS: tuple[tuple[tuple[int, int, float], ...], ...] = (
    (),
    ((1, 0, 1),),
    ((0, 1, 1),),
    ((1, 0, 1), (0, 1, 1), (1, 1, -1)),  # parallelogram
    ((1, 0, 2), (2, 0, -1)),  # Lagrange, orders 1 to 3, in time
    ((1, 0, 3), (2, 0, -3), (3, 0, 1)),
    ((1, 0, 4), (2, 0, -6), (3, 0, 4), (4, 0, -1)),
    ((0, 1, 2), (0, 2, -1)),  # the same in frequency
    ((0, 1, 3), (0, 2, -3), (0, 3, 1)),
    ((0, 1, 4), (0, 2, -6), (0, 3, 4), (0, 4, -1)),
    ((1, 0, 0.5), (2, 0, 0.5)),  # means
    ((0, 1, 0.5), (0, 2, 0.5)),
    ((1, 0, 0.5), (0, 1, 0.5)),
    # order 1 on one axis, 0 on the other
    ((1, 0, 2), (2, 0, -1), (0, 1, 1), (1, 1, -2), (2, 1, 1)),
    ((0, 1, 2), (0, 2, -1), (1, 0, 1), (1, 1, -2), (1, 2, 1)),
)
MOST_TERMS = max(map(len, PREDICTORS))


def _terms() -> Any:
    """Return the terms of each predictor: steps back in time and in frequency, and weight.

    The result is (predictors, MOST_TERMS, 3) float64; unused terms have weight 0.
    """
    table = np.zeros((len(PREDICTORS), MOST_TERMS, 3))
    for row, terms in zip(table, PREDICTORS, strict=True):
        row[: len(terms)] = np.reshape(terms, (-1, 3))
    return table


# Neighbours in an order that fits all predictors, as each adds its terms in its own order. Only the
# last predictor uses the second t-1.
SLOTS = (
    *((1, 0), (2, 0), (3, 0), (4, 0), (0, 1), (0, 2), (0, 3), (0, 4)),
    *((1, 0), (1, 1), (2, 1), (1, 2)),
)
N_SLOTS = len(SLOTS)


def _weights() -> Any:
    """Return the weight of each neighbour (slot) in each predictor, (predictors, N_SLOTS) float64.

    Slots are in the order of the terms.
    """
    table = np.zeros((len(PREDICTORS), N_SLOTS))
    for row, terms in zip(table, PREDICTORS, strict=True):
        slot = -1
        for back, down, weight in terms:
            slot = SLOTS.index((back, down), slot + 1)
            row[slot] = weight
    return table


TERMS, WEIGHTS, PLACES = _terms(), _weights(), np.array(SLOTS)


@jit(inline=True, part=True, norefs=True)
def guess_row(
    words: NumpyArray, base: int, time: int, frequency: int, n_times: int, terms: Float64s
) -> Any:
    """Return the predicted words of a row of a strip, the same predictor for all lanes.

    Neighbours before the first time or frequency count as 0, as do non-finite values. A non-finite
    sum becomes 0.

    Parameters
    ----------
    base : offset of the strip
    terms : (MOST_TERMS, 3) terms of the predictor
    """
    row = frequency * n_times + time
    sums = no_doubles(ROW)
    for i in range(MOST_TERMS):
        back, down, weight = int(terms[3 * i]), int(terms[3 * i + 1]), terms[3 * i + 2]
        if weight != 0.0 and back <= time and down <= frequency:
            at = base + (row - back - down * n_times) * LANES
            sums = sums + weight * finite_doubles(load(words, at, ROW))
    return rounded_words(sums, load(words, base, ROW))


@jit(inline=True, part=True, norefs=True)
def ordered(word: Vector, width: int) -> Any:
    """Return integers that sort like the floats of words; the map is its own inverse."""
    return word ^ logical_shift_right(word >> (width - 1), 1)


class SampledRows(NamedTuple):
    """Rows of a table that are sampled to compare predictors.

    Attributes
    ----------
    strips : indices of the sampled strips
    n_rows, n_times : rows and times of a strip
    step : step between sampled rows
    """

    strips: Int64s
    n_rows: int
    n_times: int
    step: int


@jit(inline=True, part=True, norefs=True)
def residual_bits(word: Vector, guess: Vector, width: int) -> Any:
    """Return the bit lengths of prediction residuals; `word` is already mapped by `ordered`."""
    d = word - ordered(guess, width)
    return width - lane_leading_zeros(select(d < 0, 0 - d, d))


@jit(norefs=True)
def add_costs(words: NumpyArray, sample: SampledRows, terms: Float64s, costs: NumpyArray) -> None:
    """Add the residual bits of a sample under each predictor to costs (predictors, lanes).

    Parameters
    ----------
    words : (n,) signed
    terms : TERMS, flat
    costs : signed, as wide as the words
    """
    width = 8 * words.itemsize
    n_predictors, n_times = len(costs), sample.n_times
    for strip in sample.strips:
        base = strip * sample.n_rows * LANES
        for row in range(0, sample.n_rows, sample.step):
            time, frequency = row % n_times, row // n_times
            word = ordered(load(words, base + row * LANES, ROW), width)
            for p in range(1, n_predictors):
                of_p = pointer(terms, 3 * MOST_TERMS * p)
                guess = guess_row(words, base, time, frequency, n_times, of_p)
                row_costs = costs[p]
                so_far = load(row_costs, strip * LANES, ROW)
                store(row_costs, strip * LANES, so_far + residual_bits(word, guess, width))


class Prediction(NamedTuple):
    """Arguments of the kernels that predict words, for all strips of a block.

    Attributes
    ----------
    n_rows, n_times : rows and times of a strip
    predictors : (lanes of all strips,), signed and as wide as the words
    places, weights : PLACES and WEIGHTS, flat: position of each neighbour (slot), and its weights
    laid, used : (N_SLOTS * 32,) float64 and (N_SLOTS,) int64, filled by `take_terms`: weights of a
        strip's lanes, and slots that one of them uses
    """

    n_rows: int
    n_times: int
    predictors: NumpyArray
    places: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64]
    laid: npt.NDArray[np.float64]
    used: npt.NDArray[np.int64]


@jit(inline=True, part=True, norefs=True)
def take_terms(prediction: Prediction, strip: int) -> int:
    """Set the weights of a strip's lanes and the neighbours (slots) in use; return their number."""
    predictors, laid, n_used = prediction.predictors, prediction.laid, 0
    for slot in range(N_SLOTS):
        some = False
        for lane in range(LANES):
            predictor = np.int64(predictors[strip * LANES + lane])
            weight = prediction.weights[predictor * N_SLOTS + slot]
            laid[slot * LANES + lane] = weight
            some = some or weight != 0.0
        if some:
            prediction.used[n_used] = slot
            n_used += 1
    return n_used


@jit(inline=True, part=True, norefs=True)
def guess_lanes(
    words: NumpyArray, base: int, time: int, frequency: int, prediction: Prediction, n_used: int
) -> Any:
    """Return the predicted words of a row, each lane with its own predictor, in one sum.

    An absent term adds a zero to a sum that is never -0.0, so it changes nothing. With a pass over
    the strip per predictor, each row would wait for the row before.
    """
    places, n_times, sums = prediction.places, prediction.n_times, no_doubles(ROW)
    for k in range(n_used):
        slot = prediction.used[k]
        back, down = places[2 * slot], places[2 * slot + 1]
        if back <= time and down <= frequency:
            at = base + ((frequency - down) * n_times + time - back) * LANES
            value = finite_doubles(load(words, at, ROW))
            sums = sums + load_floats(prediction.laid, slot * LANES, ROW) * value
    return rounded_words(sums, load(words, base, ROW))


@jit(norefs=True)
def to_residuals(out: NumpyArray, words: NumpyArray, prediction: Prediction) -> None:
    """Fill `out` with the words of all strips, or residuals in lanes with a predictor."""
    width, n_rows, n_times = 8 * words.itemsize, prediction.n_rows, prediction.n_times
    for strip in range(len(prediction.predictors) // LANES):
        base, codes = strip * n_rows * LANES, load(prediction.predictors, strip * LANES, ROW)
        n_used = take_terms(prediction, strip)
        for frequency in range(n_rows // n_times):
            for time in range(n_times):
                at = base + (frequency * n_times + time) * LANES
                word = load(words, at, ROW)
                guess = guess_lanes(words, base, time, frequency, prediction, n_used)
                d = ordered(word, width) - ordered(guess, width)
                store(out, at, select(codes > 0, d, word))


@jit(norefs=True)
def from_residuals(words: NumpyArray, prediction: Prediction) -> None:
    """Convert residuals in all strips of signed words back to words, in place."""
    width, n_rows, n_times = 8 * words.itemsize, prediction.n_rows, prediction.n_times
    for strip in range(len(prediction.predictors) // LANES):
        base, codes = strip * n_rows * LANES, load(prediction.predictors, strip * LANES, ROW)
        n_used = take_terms(prediction, strip)
        for frequency in range(n_rows // n_times if n_used else 0):
            for time in range(n_times):
                at = base + (frequency * n_times + time) * LANES
                d = load(words, at, ROW)
                guess = guess_lanes(words, base, time, frequency, prediction, n_used)
                restored = ordered(d + ordered(guess, width), width)
                store(words, at, select(codes > 0, restored, d))
