"""Grid choice of `grid.choose_grid` in NumPy, which compiles no kernels.

A process that encodes on a GPU samples a few thousand words of each block. All sums except those of
logarithms are integers. The few logarithms are those of the C library, added in the kernel's order,
so that both functions choose the same grid.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.visibility.dense.model.grid import (
    ABSOLUTE,
    EXPONENTS,
    LEAST_GAIN,
    LEAST_SHARE,
    NO_GRID,
    RELATIVE,
    Grid,
    limits_of,
    usual_ends,
)
from gangsaw.codecs.visibility.dense.model.symbols import LENGTHS

Ints = npt.NDArray[np.int64]
Limits = tuple[int, int, int]


class NormalWords(NamedTuple):
    """Words that are normal floats: not zero, denormal or infinite.

    Attributes
    ----------
    words : (n,) uint64
    exponents : (n,) int64, exponent fields
    mantissa, width : bits of a fraction, of a word
    """

    words: npt.NDArray[np.uint64]
    exponents: Ints
    mantissa: int
    width: int


def choose_grid(words: NumpyArray, mantissa: int) -> Grid:
    """Return the grid with the fewest total bits for (n,) words."""
    normal = _normal(words, mantissa)
    lows, zeros = _count_ends(normal)
    best, _ = _grid_cost(normal, limits_of(NO_GRID, 0, mantissa))
    chosen = Grid(NO_GRID, 0)
    if not zeros.sum():
        return chosen
    absolute = [(ABSOLUTE, place - 64) for place in _frequent(lows) if place >= 64]
    ends = usual_ends(zeros, mantissa)
    for kind, value in [*absolute, *((RELATIVE, end) for end in ends if end)]:
        cost, near_grid = _grid_cost(normal, limits_of(kind, value, mantissa))
        if cost < best:
            best, chosen = cost, Grid(kind, value, near_grid)
    return chosen


def _normal(words: NumpyArray, mantissa: int) -> NormalWords:
    width = 8 * words.itemsize
    most = (1 << (width - 1 - mantissa)) - 1
    wide = words.astype(np.uint64)
    exponents = (wide >> np.uint64(mantissa)).astype(np.int64) & most
    there = (exponents != 0) & (exponents != most)
    return NormalWords(wide[there], exponents[there], mantissa, width)


def _count_ends(normal: NormalWords) -> tuple[Ints, Ints]:
    """Count the exponent fields of lowest set bits (+ 64), and the trailing zeros of mantissas."""
    marked = (normal.words | np.uint64(1 << normal.mantissa)).astype(np.int64)
    ends = _bit_lengths(marked & -marked) - 1
    places = normal.exponents - normal.mantissa + ends + 64
    return np.bincount(places, minlength=EXPONENTS + 64), np.bincount(ends, minlength=64)


def _bit_lengths(numbers: Ints) -> Ints:
    """Return the bit lengths of non-negative numbers; exact, as mantissas fit into float64."""
    return np.frexp(numbers.astype(np.float64))[1].astype(np.int64)


def _frequent(lows: Ints) -> list[int]:
    """Return the lowest index that occurs and the two most frequent, without duplicates."""
    places = np.flatnonzero(lows)
    often = places[np.argsort(-lows[places], kind="stable")[:2]]
    return list(dict.fromkeys([*places[:1].tolist(), *often.tolist()]))


def _grid_cost(normal: NormalWords, limits: Limits) -> tuple[float, bool]:
    """Return the bits of all fractions, including classes, and True if near-grid symbols pay.

    The class of a value is on the grid, near it, or off it.
    """
    count, mantissa, n = _on_grid(normal, limits), normal.mantissa, normal.words.size
    rest = normal.words << np.uint64(64 - mantissa) << count.astype(np.uint64)
    is_on = rest == 0
    bits, on = int(np.where(is_on, count, mantissa).sum()), int(is_on.sum())
    if on in (0, n):
        return float(bits), False
    cost = bits + (_class_bits(on, n) + _class_bits(n - on, n))
    if on < n * LEAST_SHARE:
        return cost, False
    saved = _saved_near_grid(normal, mantissa - count)
    return (cost - saved, True) if saved > LEAST_GAIN else (cost, False)


def _on_grid(normal: NormalWords, limits: Limits) -> Ints:
    """Return the fraction bits that each word has on the grid.

    limits : result of `grid_limits`
    """
    low, least, most = limits
    return np.clip(normal.exponents - low, least, most)


def _saved_near_grid(normal: NormalWords, dropped: Ints) -> float:
    """Return the bits that symbols for values near the grid save, without their tables.

    dropped : (n,) int64, fraction bits that values on the grid omit
    """
    sizes = (normal.words & np.uint64((1 << (normal.width - 1)) - 1)).astype(np.int64)
    half = np.int64(1) << dropped >> 1
    units = np.abs(sizes - (sizes + half >> dropped << dropped))
    near = units != 0
    length = _bit_lengths(units[near])
    gain = np.where(length <= LENGTHS, dropped[near] - length, 0)
    counts = np.bincount(np.where(gain > 0, length, 0), minlength=LENGTHS + 1).tolist()
    total, bits = sum(counts), 0.0
    for n in counts:
        bits += _class_bits(n, total)
    return float(np.maximum(gain, 0).sum()) - bits


def _class_bits(n: int, total: int) -> float:
    """Return the bits to code which class n values out of `total` have."""
    return n * math.log2(total / n) if n else 0.0
