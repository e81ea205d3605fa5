"""The founding paper's predictors and residuals, modulo 2^w on the words of a block (SPEC.md).

A plane is one component of one element of rest: its rows are frequencies, with time in each row. A
neighbour before the block counts as 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.numba.bits import ahead, fit, pointer, shift_left, shift_right
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.integers import static, value_of
from gangsaw.codecs.visibility.arrays import Words

# steps back of each predictor's extrapolation: Lagrange of order n uses n + 1
STEPS = {
    "time": 1,
    "parallelogram": 1,
    "lorenzo": 1,
    "lagrange1": 2,
    "lagrange2": 3,
    "lagrange3": 4,
}
ROWS, PLANES = 1, 2  # neighbours besides time: the row before, or the row and the plane before
NEIGHBOURS = {"frequency": ROWS, "parallelogram": ROWS, "lorenzo": PLANES}

# With one time step the rows are single words. Missing neighbours count as 0, so that frequency can
# take the place of time, and rest that of frequency: rows are long again.
ONE_STEP = {"frequency": "time", "parallelogram": "time", "lorenzo": "parallelogram"}


class Extrapolation(NamedTuple):
    """Inputs of a prediction: number of words before it in time, and 0, ROWS or PLANES."""

    steps: int
    neighbours: int


def to_word_residuals(words: Words, predictor: str, window: int, difference: bool) -> Words:
    """Return the prediction residuals of words (component, rest, frequency, time).

    window : number of words for the predictors "mean" and "median"
    difference : True for differences, False for XOR
    """
    residuals = np.empty_like(words)
    _run(words, residuals, predictor, window, difference, static(0))
    return residuals


def from_word_residuals(words: Words, predictor: str, window: int, difference: bool) -> None:
    """Convert prediction residuals (component, rest, frequency, time) to words, in place."""
    _run(words, words, predictor, window, difference, static(1))


def _run(
    source: Words,
    target: Words,
    predictor: str,
    window: int,
    difference: bool,
    back: tuple[None, ...],
) -> None:
    _, *sizes = source.shape
    if sizes[2] == 1:
        predictor = ONE_STEP.get(predictor, "none")
        sizes = [1, *sizes[:2]]
    n = sizes[2]
    flat, out, scratch = source.ravel(), target.ravel(), np.zeros(n, source.dtype)
    if predictor == "mean":
        _from_mean(flat, out, n, window, difference, back)
    elif predictor == "median":
        _from_median(flat, out, n, scratch[:window], difference, back)
    else:
        how = Extrapolation(STEPS.get(predictor, 0), NEIGHBOURS.get(predictor, 0))
        _from_neighbours(flat, out, scratch, tuple(sizes), how, difference, back)


# `fit` preserves the width of words: LLVM then vectorizes loops that are not serial.


@jit(inline=True, part=True, norefs=True)
def _extrapolated(row: NumpyArray, t: int, steps: int) -> Any:
    """Return Lagrange's extrapolation to row[t] from `steps` words before it, at most t and 4."""
    if steps == 0:
        return fit(0, row[t])
    a = row[t - 1]
    if steps == 1:
        return a
    b = row[t - 2]
    if steps == 2:
        return fit(a + a - b, a)
    c = row[t - 3]
    if steps == 3:
        return fit(a + a + a - b - b - b + c, a)
    two = fit(a + c, a)
    four = fit(two + two, a)
    six = fit(b + b + b, a)
    return fit(four + four - six - six - row[t - 4], a)


@jit(inline=True, part=True, norefs=True)
def _residual(word: int, predicted: int, difference: bool) -> Any:
    if not difference:
        return fit(word ^ predicted, word)
    delta = fit(word - predicted, word)
    one = fit(1, word)
    highest = shift_right(fit(-1, word), one)
    sign = fit(0 - (delta > highest), word)
    return fit(shift_left(delta, one) ^ sign, word)


@jit(inline=True, part=True, norefs=True)
def _restored(residual: int, predicted: int, difference: bool) -> Any:
    if not difference:
        return fit(residual ^ predicted, residual)
    one = fit(1, residual)
    sign = fit(0 - np.int64(residual & one), residual)
    return fit(predicted + fit(shift_right(residual, one) ^ sign, residual), residual)


@jit(inline=True, part=True, norefs=True)
def _take_neighbours(
    base: NumpyArray,
    n: int,
    row: NumpyArray,
    place: tuple[bool, bool],
    sizes: tuple[int, int],
    steps: int,
) -> None:
    """Fill `base` with the terms of a row's predictions from the row and the plane before.

    With a step in time a term is their difference in time: x[t-1] + x[f-1] - x[t-1, f-1] and the
    like.
    """
    (has_row, has_plane), (to_row, to_plane) = place, sizes
    for t in range(n):
        base[t] = fit(0, base[t])
    if has_row:
        _add_row(base, n, ahead(row, -to_row), steps, False)
    if has_plane:
        _add_row(base, n, ahead(row, -to_plane), steps, False)
    if has_row and has_plane:
        _add_row(base, n, ahead(row, -to_row - to_plane), steps, True)


@jit(inline=True, part=True, norefs=True)
def _add_row(base: NumpyArray, n: int, row: NumpyArray, steps: int, negative: bool) -> None:
    before = fit(0, row[0])
    for t in range(n):
        term = fit(row[t] - before, base[t])
        base[t] = fit(base[t] - term if negative else base[t] + term, base[t])
        before = row[t] if steps else before


@jit(inline=True, part=True, norefs=True)
def _coded(value: int, predicted: int, difference: bool, back: tuple[None, ...]) -> Any:
    """Return the residual of a word, or with `back` the word of a residual."""
    if value_of(back):
        return _restored(value, predicted, difference)
    return _residual(value, predicted, difference)


# One kernel for both directions: with `back`, source and target are the same array, and values
# before the current position are words in both directions.


@jit(norefs=True)
def _from_neighbours(
    source: NumpyArray,
    target: NumpyArray,
    scratch: NumpyArray,
    sizes: tuple[int, ...],
    how: Extrapolation,
    difference: bool,
    back: tuple[None, ...],
) -> None:
    (rest, rows, n), (steps, neighbours) = sizes, how
    base = pointer(scratch, 0)
    for i in range(source.size // n):
        row, out = pointer(source, i * n), pointer(target, i * n)
        if neighbours:
            place = i % rows > 0, neighbours == PLANES and i // rows % rest > 0
            _take_neighbours(base, n, row, place, (n, rows * n), steps)
        for t in range(min(steps, n)):
            predicted = fit(base[t] + _extrapolated(row, t, t), base[t])
            out[t] = _coded(row[t], predicted, difference, back)
        for t in range(steps, n):
            predicted = fit(base[t] + _extrapolated(row, t, steps), base[t])
            out[t] = _coded(row[t], predicted, difference, back)


@jit(norefs=True)
def _from_mean(
    source: NumpyArray,
    target: NumpyArray,
    n: int,
    window: int,
    difference: bool,
    back: tuple[None, ...],
) -> None:
    for first in range(0, source.size, n):
        row, out = pointer(source, first), pointer(target, first)
        _mean_row(row, out, n, window, difference, back)


@jit(norefs=True)
def _from_median(
    source: NumpyArray,
    target: NumpyArray,
    n: int,
    ordered: NumpyArray,
    difference: bool,
    back: tuple[None, ...],
) -> None:
    for first in range(0, source.size, n):
        row, out = pointer(source, first), pointer(target, first)
        _median_row(row, out, n, ordered, difference, back)


@jit(inline=True, part=True, norefs=True)
def _mean_row(
    row: NumpyArray, out: NumpyArray, n: int, window: int, difference: bool, back: tuple[None, ...]
) -> None:
    """Code a row by the mean of up to `window` words before each; sums of halves stay exact."""
    half, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    high = low = np.uint64(0)
    for t in range(n):
        count = np.uint64(min(max(t, 1), window))
        rest = ((high % count) << half) + low
        mean = ((high // count) << half) + rest // count
        out[t] = _coded(row[t], fit(mean, row[t]), difference, back)
        newest = np.uint64(row[t])
        high, low = high + (newest >> half), low + (newest & mask)
        if t >= window:
            oldest = np.uint64(row[t - window])
            high, low = high - (oldest >> half), low - (oldest & mask)


@jit(inline=True, part=True, norefs=True)
def _median_row(
    row: NumpyArray,
    out: NumpyArray,
    n: int,
    ordered: NumpyArray,
    difference: bool,
    back: tuple[None, ...],
) -> None:
    """Code a row by the median of up to `ordered.size` words before each, the lower of two."""
    count = 0
    for t in range(n):
        median = ordered[(count - 1) // 2] if count else fit(0, row[t])
        out[t] = _coded(row[t], median, difference, back)
        place = count
        if count == ordered.size:
            place = 0
            while ordered[place] != row[t - count]:
                place += 1
        else:
            count += 1
        _put_in_order(ordered, place, row[t], count)


@jit(inline=True, part=True, norefs=True)
def _put_in_order(ordered: NumpyArray, place: int, word: int, count: int) -> None:
    """Insert a word in order among the first `count`; it replaces the item at `place`."""
    while place > 0 and ordered[place - 1] > word:
        ordered[place] = ordered[place - 1]
        place -= 1
    while place + 1 < count and ordered[place + 1] < word:
        ordered[place] = ordered[place + 1]
        place += 1
    ordered[place] = word
