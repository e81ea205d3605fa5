"""Encoder choices for `dense` blocks, from samples: predictors, commonest word, start exponents."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes, Int64s, NumpyArray
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.visibility.dense.model.predict import PREDICTORS, TERMS, SampledRows, add_costs
from gangsaw.codecs.visibility.lanes.table import LANES, Lanes

SAMPLED_ROWS, GLANCED_ROWS = 96, 24  # rows per strip to compare predictors; rows for the first look
MARGIN = 1.5  # bits per value that a prediction must save, as floats correlate more with neighbours
LEAST_ROWS = 24  # least rows of a series that may have its own predictor


class FloatBits(NamedTuple):
    """Bit costs of float words in series without a predictor.

    Attributes
    ----------
    mantissa : bits of the mantissa
    of_exponent : (n,) uint8, fraction bits of a word on the grid, by exponent field
    commonest : uint64, word that costs no bits
    """

    mantissa: int
    of_exponent: npt.NDArray[np.uint8]
    commonest: np.uint64


def choose_predictors(
    words: NumpyArray,
    lanes: Lanes,
    mantissa: int,
    bits_of: npt.NDArray[np.uint8],
    commonest: int | None,
) -> npt.NDArray[np.uint8]:
    """Choose the predictor of each lane of all strips, (32 * n_strips,) uint8.

    The result is the cheapest of three options, with the cost of the predictor codes. They are one
    predictor per series, one for all series, or one for the series that gain by it.

    bits_of : (n,) uint8, fraction bits of a word on the grid, by exponent field
    """
    if words.itemsize == 2:  # Numba has no float16
        return np.zeros(lanes.n_strips * LANES, np.uint8)
    float_bits = FloatBits(mantissa, bits_of, np.uint64(commonest or 0))

    def costs(step: int) -> npt.NDArray[np.int64]:
        return _costs(words, lanes, step, float_bits)

    chosen = at_a_glance(costs(glance_step(lanes)), lanes)
    return best_predictors(costs(sample_step(lanes)), lanes) if chosen is None else chosen


def at_a_glance(costs: npt.NDArray[np.int64], lanes: Lanes) -> npt.NDArray[np.uint8] | None:
    """Return the predictors of all lanes if a few rows suffice to choose them, else None.

    costs : (predictors, series) bits of every `glance_step(lanes)`-th row, if coded by each
        predictor
    """
    if lanes.n_rows < LEAST_ROWS:  # too few rows to distinguish a gain from chance
        return _of_lanes(costs.sum(axis=1).argmin(), lanes)
    # noise, as in most blocks of most data
    if not _gains(costs, lanes.n_rows / glance_step(lanes)):
        return _of_lanes(0, lanes)
    return None


def best_predictors(costs: npt.NDArray[np.int64], lanes: Lanes) -> npt.NDArray[np.uint8]:
    """Return the cheapest predictor of each lane.

    costs : (predictors, series) bits of every `sample_step(lanes)`-th row
    """
    chosen = _best_chance(costs, sample_step(lanes), int(MARGIN * lanes.n_rows))
    return _of_lanes(chosen, lanes)


def _best_chance(costs: npt.NDArray[np.int64], step: int, margin: int) -> npt.NDArray[np.int64]:
    """Return the predictors of all series: one for all, one for some, or one for each.

    The option with the fewest bits wins. Its cost is the sampled bits times `step`, plus `margin`
    for each predicted series and the bits of the predictor codes.
    """
    scaled = costs * step
    scaled[1:] += margin
    single, other = scaled.sum(axis=1).argmin(), np.minimum(scaled, scaled[0]).sum(axis=1).argmin()
    chances = (
        np.full(costs.shape[1], single),
        np.where(scaled[other] < scaled[0], other, 0),
        scaled.argmin(axis=0),
    )
    totals = [
        np.take_along_axis(scaled, own[None], axis=0).sum()
        + own.size * (int(np.count_nonzero(np.bincount(own))) - 1).bit_length()
        for own in chances
    ]
    return chances[int(np.argmin(totals))]


def _of_lanes(chosen: Int64s | int, lanes: Lanes) -> npt.NDArray[np.uint8]:
    """Return the predictors of all lanes from those of series, 0 for lanes without words."""
    predictors = np.zeros(lanes.n_strips * LANES, np.uint8)
    predictors[: lanes.n_series] = chosen
    return predictors


def glance_step(lanes: Lanes) -> int:
    """Return the step between the few rows that are first compared by `at_a_glance`."""
    return _step(lanes, GLANCED_ROWS)


def sample_step(lanes: Lanes) -> int:
    """Return the step between rows in which predictors are compared, if few rows do not suffice."""
    return _step(lanes, SAMPLED_ROWS)


def sampled_strips(lanes: Lanes) -> npt.NDArray[np.int64]:
    """Return the indices of strips in which predictors are compared; others get no predictor."""
    return np.arange(0, lanes.n_strips, max(1, lanes.n_strips * LEAST_ROWS // lanes.n_rows // 8))


def _step(lanes: Lanes, n_rows: int) -> int:
    step = max(1, lanes.n_rows // n_rows)
    # else all sampled rows have the same time
    return step + (lanes.n_times > 1 and step % lanes.n_times == 0)


def _costs(
    words: NumpyArray, lanes: Lanes, step: int, float_bits: FloatBits
) -> npt.NDArray[np.int64]:
    """Return the (predictors, series) bits of every step-th row under each predictor."""
    sample = SampledRows(sampled_strips(lanes), lanes.n_rows, lanes.n_times, step)
    costs = np.zeros((len(PREDICTORS), lanes.n_strips * LANES), f"i{words.itemsize}")
    add_costs(words.view(costs.dtype), sample, TERMS.ravel(), costs)
    _float_costs(words, sample, float_bits, costs[0])
    return costs[:, : lanes.n_series].astype(np.int64, copy=False)


def _gains(costs: npt.NDArray[np.int64], n_rows: float) -> bool:
    """Return True if a predictor saves bits in some series, in a first look at `n_rows` rows."""
    return bool((costs[1:].min(axis=0) + n_rows * MARGIN / 2 < costs[0]).any())


@jit
def _float_costs(
    words: NumpyArray, sample: SampledRows, float_bits: FloatBits, costs: NumpyArray
) -> None:
    """Fill costs (n_strips * 32,) with the sign and fraction bits of sampled words per lane."""
    mantissa, bits_of, commonest = float_bits
    most = (1 << (8 * words.itemsize - 1 - mantissa)) - 1
    for strip in sample.strips:
        for lane in range(LANES):
            total = 0
            for row in range(0, sample.n_rows, sample.step):
                word = np.uint64(words[(strip * sample.n_rows + row) * LANES + lane])
                total += word_bits(word, mantissa, most, bits_of, commonest)
            costs[strip * LANES + lane] = total


@jit(inline=True, part=True)
def word_bits(
    word: np.uint64, mantissa: int, most: int, bits_of: Bytes, commonest: np.uint64
) -> int:
    """Return the bits of a word without a prediction; 0 for zeros and the commonest word.

    most : largest exponent field
    """
    exponent = np.int64(word >> np.uint64(mantissa)) & most
    fraction = word << np.uint64(64 - mantissa)
    if (exponent == 0 and fraction == np.uint64(0)) or word == commonest:
        return 0
    count = np.int64(bits_of[exponent])
    return 1 + (int(count) if fraction << np.uint64(count) == np.uint64(0) else mantissa)


def choose_commonest(words: NumpyArray, mantissa: int) -> int | None:
    """Return the most frequent non-finite word of (n,) words, None if all are finite."""
    width = 8 * words.itemsize
    infinity: Any = words.dtype.type(((1 << (width - 1 - mantissa)) - 1) << mantissa)
    return commonest_of(list_odd(words, infinity)) if find_odd(words, infinity) else None


def commonest_of(odd: NumpyArray) -> int:
    """Return the most frequent of (n,) words; the smallest if several are."""
    values, counts = np.unique(odd, return_counts=True)
    return int(values[counts.argmax()])


@jit(inline=True, part=True)
def is_finite(word: int, infinity: int) -> bool:
    """Return True if some bit of the exponent field is not set."""
    return bool(word & infinity != infinity)


@jit
def find_odd(words: NumpyArray, infinity: int) -> int:
    """Count the words that are not finite: infinities and NaNs."""
    n = 0
    for i in range(words.size):
        n += not is_finite(words[i], infinity)
    return n


def list_odd(words: NumpyArray, infinity: int) -> NumpyArray:
    """Return the words that are not finite."""
    bits: Any = words
    odd: NumpyArray = bits[(bits & infinity) == infinity]
    return odd


def start_steps(lanes: Lanes) -> tuple[int, int]:
    """Return the steps between strips, and between their rows, that `choose_starts` samples."""
    return max(1, lanes.n_strips // 16), max(1, lanes.n_rows // 8)


def choose_starts(
    some: NumpyArray, predictors: npt.NDArray[np.uint8], mantissa: int
) -> tuple[int, int]:
    """Return the median exponents of words and of residuals in a sample, (strips, rows, 32).

    The median is 0 without residuals, and the smallest exponent without words.

    predictors : (strips * 32,) predictors of the sampled lanes
    """
    of_lanes = np.broadcast_to(predictors.reshape(-1, 1, LANES) != 0, some.shape)
    most = (1 << (8 * some.itemsize - 1 - mantissa)) - 1
    words = some[~of_lanes].astype(np.int64) >> mantissa & most
    residuals = some.view(f"i{some.itemsize}")[of_lanes].astype(np.float64)
    exponents = np.frexp(residuals[residuals != 0])[1] - 1  # also valid for negative numbers
    bias = (1 << (8 * some.itemsize - 2 - mantissa)) - 1
    return _median(words[words > 0]) - bias, _median(exponents)


def _median(numbers: NumpyArray) -> int:
    """Return the median of non-negative numbers, rounded down; 0 for an empty array."""
    if not numbers.size:
        return 0
    low, high = (numbers.size - 1) // 2, numbers.size // 2
    ordered = np.partition(numbers, (low, high))
    return int(ordered[low] + ordered[high]) // 2
