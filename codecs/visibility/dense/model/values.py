"""Values of the `dense` coder: the parts of words and residuals.

A series has one of two types: floats, or residuals, which are integers. Both have a sign, an
exponent and a left-aligned fraction. Vectors are rows of 32 lanes, as wide as the words.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.arrays import UInt32s
from gangsaw.codecs.core.numba.bits import leading_zeros
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.integers import (
    Vector,
    lane_leading_zeros,
    maximum,
    minimum,
    resize_to,
    select,
)
from gangsaw.codecs.core.numba.vectors.logic import either, logical_shift_right

MANTISSA = {2: 10, 4: 23, 8: 52}  # bits, by the bytes of a word
LARGEST = 55  # largest residual exponent that a symbol can encode: 64 bits are read at a time


@jit(inline=True, part=True, norefs=True)
def split_floats(word: Vector, width: int, mantissa: int) -> Any:
    """Return the biased exponents and the fractions of a row of floats."""
    return logical_shift_right(word << 1, mantissa + 1), word << (width - mantissa)


@jit(inline=True, part=True, norefs=True)
def split_residuals(word: Vector, width: int) -> Any:
    """Return the exponents, -1 for zeros, and the fractions of a row of residuals."""
    size = select(word < 0, 0 - word, word)
    zeros = lane_leading_zeros(size)
    return (width - 1) - zeros, size << (zeros & (width - 1)) << 1


@jit(inline=True, part=True, norefs=True)
def join_floats(
    negative: Vector, exponent: Vector, fraction: Vector, width: int, mantissa: int
) -> Any:
    """Return words from signs of 0 or 1, exponents and fractions."""
    return (
        (negative << (width - 1))
        | (exponent << mantissa)
        | logical_shift_right(fraction, width - mantissa)
    )


@jit(inline=True, part=True, norefs=True)
def join_residuals(negative: Vector, exponent: Vector, fraction: Vector, width: int) -> Any:
    """Return residuals from signs of 0 or 1, exponents >= 0, and fractions."""
    one = exponent * 0 + 1
    size = (one << exponent) | logical_shift_right(
        logical_shift_right(fraction, 1), (width - 1) - exponent
    )
    return select(negative > 0, 0 - size, size)


@jit(inline=True, part=True, norefs=True)
def size_words(
    exponent: Vector, fraction: Vector, bias: Vector, most: Vector, sizes: UInt32s, width: int
) -> Any:
    """Return sizes (truncated absolute values) as float32 bits; 0 for denormal and non-finite ones.

    Parameters
    ----------
    bias : exponent bias
    most : exponent of non-finite values; for residuals, one that does not occur
    """
    code = minimum(maximum(exponent - bias + 127, exponent * 0 + 1), 254)
    if width > 16:
        below = resize_to(logical_shift_right(fraction, width - 23), sizes)
    else:
        below = resize_to(fraction, sizes) << 7
    # only residuals have bias 0, and they have no denormals
    excluded = either(exponent == most, select(bias > 0, exponent, bias + 1) == 0)
    code = select(excluded, code * 0, code)
    return (resize_to(code, sizes) << 23) | select(resize_to(code, sizes) > 0, below, below * 0)


@jit(inline=True, part=True, norefs=True)
def split(word: int | np.uint64, is_residual: int, width: int, mantissa: int) -> Any:
    """Return sign, exponent and left-aligned 64-bit fraction of one value; not for residual 0."""
    sign = word >> np.uint64(width - 1) & np.uint64(1)
    if not is_residual:
        exponent = (word >> np.uint64(mantissa)) & np.uint64((1 << (width - 1 - mantissa)) - 1)
        return sign, exponent, word << np.uint64(64 - mantissa)
    mask = (np.uint64(2) << np.uint64(width - 1)) - np.uint64(1)
    size = ((~word) + np.uint64(1)) & mask if sign else word
    zeros = np.uint64(leading_zeros(size))
    return sign, np.uint64(63) - zeros, size << zeros << np.uint64(1)


@jit(inline=True, part=True, norefs=True)
def join(
    sign: int, exponent: int, fraction: int, is_residual: int, width: int, mantissa: int
) -> Any:
    """Return the word of one value, the inverse of `split`; only its low `width` bits are valid."""
    if not is_residual:
        low = fraction >> np.uint64(64 - mantissa)
        return sign << np.uint64(width - 1) | exponent << np.uint64(mantissa) | low
    size = np.uint64(1) << exponent | fraction >> np.uint64(1) >> (np.uint64(63) - exponent)
    return (~size) + np.uint64(1) if sign else size
