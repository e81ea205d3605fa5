"""What the encoder of `dense` blocks chooses from samples: predictors, commonest word, starts."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.numba.jit import jit, jit_inline
from gangsaw.codecs.visibility.dense.model.grid import EXPONENTS
from gangsaw.codecs.visibility.dense.model.predict import PREDICTORS, TERMS, SampledRows, add_costs
from gangsaw.codecs.visibility.lanes.table import LANES, Lanes

SAMPLED_ROWS, GLANCED_ROWS = 96, 24  # of a strip, to compare predictors; to see if any gains
MARGIN = 1.5  # bits of a value that a prediction must save: floats are closer to their neighbours
LEAST_ROWS = 24  # of a series that may have a predictor of its own


class FloatBits(NamedTuple):
    """How many bits words take without a prediction.

    Attributes
    ----------
    mantissa : bits
    of_exponent : (n,) uint8, bits of the fraction of a word on the grid by its exponent field
    commonest : word that takes none, uint64
    """

    mantissa: int
    of_exponent: npt.NDArray[np.uint8]
    commonest: np.uint64


def choose_predictors(
    words: npt.NDArray[Any],
    lanes: Lanes,
    mantissa: int,
    bits_of: npt.NDArray[np.uint8],
    commonest: int | None,
) -> npt.NDArray[np.uint8]:
    """Return the predictor of each lane of all strips: (32 * n_strips,).

    Each series has its own, where that gains more than its code costs; or one for all; or one for
    those that gain by it.
    """
    if words.itemsize == 2:  # Numba has no float16
        return np.zeros(lanes.n_strips * LANES, np.uint8)
    float_bits = FloatBits(mantissa, bits_of, np.uint64(commonest or 0))

    def costs(step: int) -> npt.NDArray[np.int64]:
        return _costs(words, lanes, step, float_bits)

    chosen = at_a_glance(costs(glance_step(lanes)), lanes)
    return best_predictors(costs(sample_step(lanes)), lanes) if chosen is None else chosen


def at_a_glance(costs: npt.NDArray[np.int64], lanes: Lanes) -> npt.NDArray[np.uint8] | None:
    """Return the predictors that a few rows suffice to choose, None where more rows are needed.

    costs : (predictors, series) bits of every `glance_step(lanes)`-th row
    """
    if lanes.n_rows < LEAST_ROWS:  # too few to tell a series' own predictor from chance
        return _of_lanes(costs.sum(axis=1).argmin(), lanes)
    if not _gains(costs, lanes.n_rows / glance_step(lanes)):  # noise: most blocks of most data
        return _of_lanes(0, lanes)
    return None


def best_predictors(costs: npt.NDArray[np.int64], lanes: Lanes) -> npt.NDArray[np.uint8]:
    """Return the predictors of all lanes.

    costs : (predictors, series) bits of every `sample_step(lanes)`-th row
    """
    chances = np.empty((3, lanes.n_series), np.int64)
    best = _best_chance(costs, sample_step(lanes), int(MARGIN * lanes.n_rows), chances)
    return _of_lanes(chances[best], lanes)


@jit
def _best_chance(costs: Any, step: int, margin: int, chances: Any) -> int:
    """Fill chances with one predictor for all series, one for some, and each its own.

    Return which of the three takes the fewest bits: of every step-th row, `margin` and the index.
    Loops: Numba would compile each of NumPy's functions on arrays, too.
    """
    n_predictors, n_series = costs.shape
    scaled = np.empty(costs.shape, np.int64)
    sums, gains = np.zeros(n_predictors, np.int64), np.zeros(n_predictors, np.int64)
    for p in range(n_predictors):
        for i in range(n_series):
            scaled[p, i] = costs[p, i] * step + (margin if p else 0)
            sums[p] += scaled[p, i]
            gains[p] += min(scaled[0, i], scaled[p, i])
    single, other = _least(sums), _least(gains)
    for i in range(n_series):
        chances[0, i] = single
        chances[1, i] = other if scaled[other, i] < scaled[0, i] else 0
        chances[2, i] = 0
        for p in range(1, n_predictors):
            if scaled[p, i] < scaled[chances[2, i], i]:
                chances[2, i] = p
    totals = np.zeros(3, np.int64)
    for c in range(3):
        used, n_used = np.zeros(n_predictors, np.int64), 0
        for i in range(n_series):
            n_used += used[chances[c, i]] == 0
            used[chances[c, i]] = 1
            totals[c] += scaled[chances[c, i], i]
        totals[c] += n_series * _index_bits(n_used)
    return _least(totals)


@jit
def _least(numbers: Any) -> int:
    """Return where the least of some numbers is, the first of several."""
    least = 0
    for i in range(1, numbers.size):
        if numbers[i] < numbers[least]:
            least = i
    return least


@jit
def _index_bits(n: int) -> int:
    """Return the bits that code one of n."""
    bits = 0
    while 1 << bits < n:
        bits += 1
    return bits


def _of_lanes(chosen: Any, lanes: Lanes) -> npt.NDArray[np.uint8]:
    """Predictors of all lanes, 0 in those without words."""
    predictors = np.zeros(lanes.n_strips * LANES, np.uint8)
    predictors[: lanes.n_series] = chosen
    return predictors


def glance_step(lanes: Lanes) -> int:
    """Every how many rows a glance looks."""
    return _step(lanes, GLANCED_ROWS)


def sample_step(lanes: Lanes) -> int:
    """Every how many rows predictors are compared in."""
    return _step(lanes, SAMPLED_ROWS)


def sampled_strips(lanes: Lanes) -> npt.NDArray[np.int64]:
    """Strips in which predictors are compared; the others take none."""
    return np.arange(0, lanes.n_strips, max(1, lanes.n_strips * LEAST_ROWS // lanes.n_rows // 8))


def _step(lanes: Lanes, n_rows: int) -> int:
    step = max(1, lanes.n_rows // n_rows)
    return step + (lanes.n_times > 1 and step % lanes.n_times == 0)  # else always the same time


def _costs(
    words: npt.NDArray[Any], lanes: Lanes, step: int, float_bits: FloatBits
) -> npt.NDArray[np.int64]:
    """(predictors, series) bits that every step-th row takes under each of them."""
    sample = SampledRows(sampled_strips(lanes), lanes.n_rows, lanes.n_times, step)
    costs = np.zeros((len(PREDICTORS), lanes.n_strips * LANES), f"i{words.itemsize}")
    add_costs(words.view(costs.dtype), sample, TERMS.ravel(), costs)
    _float_costs(words, sample, float_bits, costs[0])
    return costs[:, : lanes.n_series].astype(np.int64, copy=False)


@jit
def _gains(costs: Any, n_rows: float) -> bool:
    """Whether some predictor does better than none in some series of a glance at n_rows."""
    for p in range(1, len(costs)):
        for i in range(costs.shape[1]):
            if costs[p, i] + n_rows * MARGIN / 2 < costs[0, i]:
                return True
    return False


@jit
def _float_costs(words: Any, sample: SampledRows, float_bits: FloatBits, costs: Any) -> None:
    """Fill costs (n_strips * 32,) with the bits of signs and fractions of a sample."""
    mantissa, bits_of, commonest = float_bits
    most = (1 << (8 * words.itemsize - 1 - mantissa)) - 1
    for strip in sample.strips:
        for lane in range(LANES):
            total = 0
            for row in range(0, sample.n_rows, sample.step):
                word = np.uint64(words[(strip * sample.n_rows + row) * LANES + lane])
                total += word_bits(word, mantissa, most, bits_of, commonest)
            costs[strip * LANES + lane] = total


@jit_inline
def word_bits(word: Any, mantissa: int, most: int, bits_of: Any, commonest: Any) -> int:
    """Return the bits of a word without a prediction; none of zeros and of the commonest word.

    most : greatest exponent field
    """
    exponent = np.int64(word >> np.uint64(mantissa)) & most
    fraction = word << np.uint64(64 - mantissa)
    if (exponent == 0 and fraction == np.uint64(0)) or word == commonest:
        return 0
    count = np.int64(bits_of[exponent])
    return 1 + (int(count) if fraction << np.uint64(count) == np.uint64(0) else mantissa)


def choose_commonest(words: npt.NDArray[Any], mantissa: int) -> int | None:
    """Return the most frequent word that is not finite, None where all of (n,) words are."""
    width = 8 * words.itemsize
    infinity = words.dtype.type(((1 << (width - 1 - mantissa)) - 1) << mantissa)
    if not find_odd(words, infinity):
        return None
    values, counts = np.unique(list_odd(words, infinity), return_counts=True)
    return int(values[counts.argmax()])


@jit_inline
def is_finite(word: Any, infinity: Any) -> bool:
    """Whether some bit of the exponent field is not set."""
    return bool(word & infinity != infinity)


@jit
def find_odd(words: Any, infinity: Any) -> int:
    """Count the words that are not finite."""
    n = 0
    for i in range(words.size):
        n += not is_finite(words[i], infinity)
    return n


def list_odd(words: npt.NDArray[Any], infinity: Any) -> npt.NDArray[Any]:
    """Return the words that are not finite."""
    odd: npt.NDArray[Any] = words[(words & infinity) == infinity]
    return odd


def start_steps(lanes: Lanes) -> tuple[int, int]:
    """Every how many strips, and rows of them, `choose_starts` looks at."""
    return max(1, lanes.n_strips // 16), max(1, lanes.n_rows // 8)


def choose_starts(
    some: npt.NDArray[Any], predictors: npt.NDArray[np.uint8], mantissa: int
) -> tuple[int, int]:
    """Return median exponents of words and of residuals, in (strips, rows, 32) of both.

    Of no residual it is 0, of no word that of the smallest.

    predictors : (strips * 32,), those of the lanes
    """
    fields, exponents = np.zeros(EXPONENTS, np.int64), np.zeros(EXPONENTS, np.int64)
    signed = some.view(f"i{some.itemsize}")
    _count_exponents(signed, predictors.reshape(-1, LANES), mantissa, fields, exponents)
    bias = (1 << (8 * some.itemsize - 2 - mantissa)) - 1
    return _median(fields) - bias, _median(exponents)


@jit
def _count_exponents(
    some: Any, predictors: Any, mantissa: int, fields: Any, exponents: Any
) -> None:
    """Count exponent fields of words, and floor(log2) of residuals, but for zeros."""
    most = (1 << (8 * some.itemsize - 1 - mantissa)) - 1
    strips, rows, lanes = some.shape
    for strip in range(strips):
        for row in range(rows):
            for lane in range(lanes):
                value = some[strip, row, lane]
                field = np.int64(value) >> mantissa & most
                if not predictors[strip, lane]:
                    fields[field] += field > 0
                elif value:
                    exponents[math.frexp(abs(float(value)))[1] - 1] += 1


@jit
def _median(counts: Any) -> int:
    """Return the median, rounded down, of numbers that are counted; 0 of none."""
    n, seen, low = counts.sum(), 0, -1
    for number in range(counts.size):
        seen += counts[number]
        if low < 0 and 2 * seen >= n > 0:
            low = number
        if 2 * seen > n:
            return (low + number) // 2
    return 0
