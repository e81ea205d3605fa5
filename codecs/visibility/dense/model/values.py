"""Values of the `dense` coder: the parts of words and residuals.

Two types of series: floats as they are, and residuals, which are integers. Both are sign, exponent
and a fraction, left-aligned. Vectors hold a row of 32 lanes, as wide as the words.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.numba.bits import leading_zeros
from gangsaw.codecs.core.numba.jit import jit_norefs_inline
from gangsaw.codecs.core.numba.vectors.integers import (
    lane_leading_zeros,
    maximum,
    minimum,
    resize_to,
    select,
)
from gangsaw.codecs.core.numba.vectors.logic import either, logical_shift_right

MANTISSA = {2: 10, 4: 23, 8: 52}  # bits, by the bytes of a word
LARGEST = 55  # exponent of a residual that a symbol can tell: 64 bits are read at a time


@jit_norefs_inline
def split_floats(word: Any, width: int, mantissa: int) -> Any:
    """Return exponents, biased, and fractions of a row of floats."""
    return logical_shift_right(word << 1, mantissa + 1), word << (width - mantissa)


@jit_norefs_inline
def split_residuals(word: Any, width: int) -> Any:
    """Return exponents, -1 of zeros, and fractions of a row of residuals."""
    size = select(word < 0, 0 - word, word)
    zeros = lane_leading_zeros(size)
    return (width - 1) - zeros, size << (zeros & (width - 1)) << 1


@jit_norefs_inline
def join_floats(negative: Any, exponent: Any, fraction: Any, width: int, mantissa: int) -> Any:
    """Return words from signs of 0 or 1, exponents and fractions."""
    return (
        (negative << (width - 1))
        | (exponent << mantissa)
        | logical_shift_right(fraction, width - mantissa)
    )


@jit_norefs_inline
def join_residuals(negative: Any, exponent: Any, fraction: Any, width: int) -> Any:
    """Return residuals from signs of 0 or 1, exponents of 0 or more, and fractions."""
    one = exponent * 0 + 1
    size = (one << exponent) | logical_shift_right(
        logical_shift_right(fraction, 1), (width - 1) - exponent
    )
    return select(negative > 0, 0 - size, size)


@jit_norefs_inline
def size_words(exponent: Any, fraction: Any, bias: Any, most: Any, sizes: Any, width: int) -> Any:
    """Return the bits of the float32 of sizes; 0 of denormals and of what is not finite.

    Parameters
    ----------
    bias : of the exponents
    most : exponents of what is not finite; of residuals more than there are
    """
    code = minimum(maximum(exponent - bias + 127, exponent * 0 + 1), 254)
    if width > 16:
        below = resize_to(logical_shift_right(fraction, width - 23), sizes)
    else:
        below = resize_to(fraction, sizes) << 7
    # a bias of 0 is that of residuals, which have no denormals
    excluded = either(exponent == most, select(bias > 0, exponent, bias + 1) == 0)
    code = select(excluded, code * 0, code)
    return (resize_to(code, sizes) << 23) | select(resize_to(code, sizes) > 0, below, below * 0)


@jit_norefs_inline
def split(word: Any, is_residual: Any, width: int, mantissa: int) -> Any:
    """Return sign, exponent and fraction, left-aligned in 64 bits, of one value but residual 0."""
    sign = word >> np.uint64(width - 1) & np.uint64(1)
    if not is_residual:
        exponent = (word >> np.uint64(mantissa)) & np.uint64((1 << (width - 1 - mantissa)) - 1)
        return sign, exponent, word << np.uint64(64 - mantissa)
    mask = (np.uint64(2) << np.uint64(width - 1)) - np.uint64(1)
    size = ((~word) + np.uint64(1)) & mask if sign else word
    zeros = np.uint64(leading_zeros(size))
    return sign, np.uint64(63) - zeros, size << zeros << np.uint64(1)


@jit_norefs_inline
def join(
    sign: Any, exponent: Any, fraction: Any, is_residual: Any, width: int, mantissa: int
) -> Any:
    """Return the word of one value, the inverse of `split`; its low `width` bits count."""
    if not is_residual:
        low = fraction >> np.uint64(64 - mantissa)
        return sign << np.uint64(width - 1) | exponent << np.uint64(mantissa) | low
    size = np.uint64(1) << exponent | fraction >> np.uint64(1) >> (np.uint64(63) - exponent)
    return (~size) + np.uint64(1) if sign else size
