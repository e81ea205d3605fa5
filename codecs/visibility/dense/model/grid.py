"""Grid of a `dense` block: the values with short fractions, and their number of fraction bits."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Int64s, NumpyArray
from gangsaw.codecs.core.numba.bits import leading_zeros, trailing_zeros
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.visibility.dense.model.symbols import LENGTHS, N_SYMBOLS, NEAR_GRID

NO_GRID, ABSOLUTE, RELATIVE = range(3)
EXPONENTS = 2048  # exponent fields of any float type
SAMPLED_WORDS = 2048  # words sampled to find a grid
LEAST_ZEROS = 4  # zero bits at the end of a mantissa, from which a relative grid is not chance
# thresholds for near-grid symbols: share of values on the grid; bits saved in a sample
LEAST_SHARE, LEAST_GAIN = 1 / 32, 1024


class Grid(NamedTuple):
    """Set of floats with short fractions: multiples of one number, or fractions that end with 0.

    Attributes
    ----------
    kind : NO_GRID, ABSOLUTE, RELATIVE
    value : exponent field of the number, if ABSOLUTE; zero bits at the end of fractions, if
        RELATIVE
    has_near_grid : True if values near the grid have symbols, too
    """

    kind: int
    value: int
    has_near_grid: bool = False

    @property
    def n_symbols(self) -> int:
        """Number of symbols of blocks with this grid."""
        return N_SYMBOLS if self.has_near_grid else NEAR_GRID


def grid_limits(grid: Grid, mantissa: int) -> tuple[int, int, int]:
    """Return low, least, most: a value on the grid has exponent - low fraction bits.

    The number of bits is at least `least` and at most `most`.
    """
    return limits_of(grid.kind, grid.value, mantissa)


def limits_of(kind: int, value: int, mantissa: int) -> tuple[int, int, int]:
    """Return the result of `grid_limits` for the fields of a grid."""
    none = 0 * value  # not a literal, for which kernels would be compiled separately
    if kind == ABSOLUTE:
        return value, none, mantissa
    count = mantissa - (value if kind == RELATIVE else none)
    return none, count, count


_limits_of = jit(limits_of)


@lru_cache(maxsize=64)
def bits_table(grid: Grid, mantissa: int) -> npt.NDArray[np.uint8]:
    """Return the fraction bits of values on the grid by exponent field, (EXPONENTS,) uint8.

    The array is cached: do not write to it.
    """
    low, least, most = grid_limits(grid, mantissa)
    return np.clip(np.arange(EXPONENTS) - low, least, most).astype(np.uint8)


def choose_grid(words: NumpyArray, mantissa: int) -> Grid:
    """Return the grid with the fewest total bits for (n,) words."""
    kind, value, has_near_grid = _best_grid(words, mantissa)
    return Grid(kind, value, bool(has_near_grid))


@jit
def _best_grid(words: NumpyArray, mantissa: int) -> Any:
    """Return the fields of the grid with the fewest total bits for (n,) words.

    It is one kernel, so that no arrays pass through Python.
    """
    lows, zeros = np.zeros(EXPONENTS + 64, np.int64), np.zeros(64, np.int64)
    _count_ends(words, mantissa, lows, zeros)
    best, _ = _grid_cost(words, mantissa, _limits_of(NO_GRID, np.int64(0), mantissa))  # type: ignore[arg-type]
    kind, value, has_near_grid = NO_GRID, 0, False
    if not zeros.sum():
        return kind, value, has_near_grid
    for place in _frequent(lows):
        if place >= 64:
            limits = _limits_of(ABSOLUTE, place - 64, mantissa)
            cost, near_grid = _grid_cost(words, mantissa, limits)
            if cost < best:
                best, kind, value, has_near_grid = cost, ABSOLUTE, place - 64, near_grid
    for end in _usual_ends(zeros, mantissa):
        if end:
            cost, near_grid = _grid_cost(words, mantissa, _limits_of(RELATIVE, end, mantissa))
            if cost < best:
                best, kind, value, has_near_grid = cost, RELATIVE, end, near_grid
    return kind, value, has_near_grid


@jit
def _frequent(lows: Int64s) -> Any:
    """Return the lowest index that occurs and the two most frequent, with -1 for duplicates."""
    first, often, second = -1, -1, -1
    for place in range(lows.size):
        if not lows[place]:
            continue
        if first < 0:
            first = place
        if often < 0 or lows[place] > lows[often]:
            often, second = place, often
        elif second < 0 or lows[place] > lows[second]:
            second = place
    return first, often if often != first else -1, second if second != first else -1


def usual_ends(zeros: Int64s, mantissa: int) -> Any:
    """Return the last two trailing-zero counts that are more frequent than chance; 0 for none.

    By chance, of the mantissas with k zeros or more, half have exactly k.
    """
    total, above, last, before = zeros.sum(), zeros.sum(), 0, 0
    for k in range(mantissa):
        is_usual = above > total / 32 and zeros[k] < 0.2 * above
        if k >= LEAST_ZEROS and is_usual:
            last, before = k + 1, last
        above -= zeros[k]
    return before, last


_usual_ends = jit(usual_ends)


def grid_step(n_words: int) -> int:
    """Return the step between the words sampled for `choose_grid`."""
    return max(1, n_words // SAMPLED_WORDS) | 1


@jit
def _grid_cost(words: NumpyArray, mantissa: int, limits: tuple[int, int, int]) -> Any:
    """Return the bits of all fractions, including classes, and True if near-grid symbols pay.

    The class of a value is on the grid, near it, or off it.
    """
    bits, on, n = _count_bits(words, mantissa, limits)
    if on in (0, n):
        return float(bits), False
    cost = bits + (_class_bits(on, n) + _class_bits(n - on, n))
    if on < n * LEAST_SHARE:
        return cost, False
    saved = _saved_near_grid(words, mantissa, limits)
    return (cost - saved, True) if saved > LEAST_GAIN else (cost, False)


@jit
def _entropy(counts: Int64s) -> float:
    """Return the bits to code the class of each value, from the counts of classes."""
    total, bits = np.int64(0), 0.0
    for n in counts:
        total += n
    for n in counts:
        bits += _class_bits(n, total)
    return bits


@jit
def _class_bits(n: int | np.int64, total: int | np.int64) -> Any:
    """Return the bits to code which class n values out of `total` have."""
    return n * np.log2(total / n) if n else 0.0


@jit
def _count_ends(words: NumpyArray, mantissa: int, lows: Int64s, zeros: Int64s) -> None:
    """Count the exponent fields of lowest set bits (+ 64), and the trailing zeros of mantissas."""
    most = (1 << (8 * words.itemsize - 1 - mantissa)) - 1
    for i in range(words.size):
        word = np.uint64(words[i])
        exponent = np.int64(word >> np.uint64(mantissa)) & most
        if exponent == 0 or exponent == most:
            continue
        ends = np.int64(trailing_zeros(word | np.uint64(1) << np.uint64(mantissa)))
        lows[exponent - mantissa + ends + 64] += 1
        zeros[ends] += 1


@jit(part=True)
def _count_bits(words: NumpyArray, mantissa: int, limits: tuple[int, int, int]) -> Any:
    """Return fraction bits, values on the grid, and all values; see `grid_limits`."""
    infinite = (1 << (8 * words.itemsize - 1 - mantissa)) - 1
    bits, on, n = 0, 0, 0
    for i in range(words.size):
        word = np.uint64(words[i])
        exponent = np.int64(word >> np.uint64(mantissa)) & infinite
        if exponent == 0 or exponent == infinite:
            continue
        count = _on_grid(exponent, limits)
        is_on = word << np.uint64(64 - mantissa) << np.uint64(count) == np.uint64(0)
        bits += count if is_on else mantissa
        on += is_on
        n += 1
    return bits, on, n


@jit
def _on_grid(exponent: int | np.int64, limits: tuple[int, int, int]) -> Any:
    """Return the fraction bits that values with this exponent have on the grid.

    limits : result of `grid_limits`
    """
    low, least, most = limits
    return min(max(exponent - low, least), most)


@jit
def _saved_near_grid(words: NumpyArray, mantissa: int, limits: tuple[int, int, int]) -> float:
    """Return the bits that symbols for values near the grid save, without their tables."""
    sign = np.uint64(1) << np.uint64(8 * words.itemsize - 1)
    infinite, saved = np.int64((sign - np.uint64(1)) >> np.uint64(mantissa)), 0.0
    counts = np.zeros(LENGTHS + 1, np.int64)
    for i in range(words.size):
        size = np.int64(np.uint64(words[i]) & (sign - np.uint64(1)))
        exponent = size >> mantissa
        if exponent == 0 or exponent == infinite:
            continue
        dropped = mantissa - _on_grid(exponent, limits)
        units = abs(size - (size + (1 << dropped >> 1) >> dropped << dropped))
        if units == 0:
            continue
        length = 64 - np.int64(leading_zeros(np.uint64(units)))
        gain = dropped - length if length <= LENGTHS else 0
        counts[length if gain > 0 else 0] += 1
        saved += float(max(gain, 0))
    return float(saved - _entropy(counts))
