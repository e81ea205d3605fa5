"""Values of the `dense` coder: what a word or residual is made of, and the bits left to store.

Two types of series: floats as they are, and residuals, which are integers. Both are sign, exponent
and a fraction, left-aligned in 64 bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.bits import leading_zeros
from gangsaw.codecs.core.jit import jit_bare_inline

FLOATS, RESIDUALS = 0, 1
MANTISSA = {2: 10, 4: 23, 8: 52}  # bits, by the bytes of a word
ESCAPED_EXPONENT = 11  # bits, of any float
LARGEST = 55  # exponent of a residual that a symbol can tell: 64 bits are read at a time


@jit_bare_inline
def split(word: Any, kind: int, width: int, mantissa: int) -> Any:
    """Return sign, exponent (biased for floats, -1 for residual 0) and fraction of a word."""
    sign = word >> np.uint64(width - 1) & np.uint64(1)
    if kind == FLOATS:
        exponent = np.int64(word >> np.uint64(mantissa)) & ((1 << (width - 1 - mantissa)) - 1)
        return sign, exponent, word << np.uint64(64 - mantissa)
    mask = (np.uint64(2) << np.uint64(width - 1)) - np.uint64(1)
    size = ((~word) + np.uint64(1)) & mask if sign else word
    zeros = np.uint64(leading_zeros(size))
    if size == np.uint64(0):
        return sign, np.int64(-1), np.uint64(0)
    return sign, np.int64(63) - np.int64(zeros), size << zeros << np.uint64(1)


@jit_bare_inline
def join(sign: Any, exponent: int, fraction: Any, kind: int, width: int, mantissa: int) -> Any:
    """Return the word, the inverse of `split`; for residuals its low `width` bits count."""
    if kind == FLOATS:
        low = fraction >> np.uint64(64 - mantissa)
        return sign << np.uint64(width - 1) | np.uint64(exponent) << np.uint64(mantissa) | low
    above = fraction >> np.uint64(1) >> np.uint64(63 - exponent)
    size = np.uint64(1) << np.uint64(exponent) | above
    return (~size) + np.uint64(1) if sign else size


@jit_bare_inline
def size_bits(exponent: int, fraction: Any, bias: int, most: int) -> Any:
    """Return the bits of the float32 of a value's size; 0 for denormals and what is not finite.

    `most` is the exponent field of what is not finite, 0 for residuals.
    """
    unbiased = min(max(exponent - bias, -126), 127)
    bits = np.uint32(unbiased + 127) << np.uint32(23) | np.uint32(fraction >> np.uint64(41))
    excluded = most > 0 and (exponent == 0 or exponent == most)
    return np.uint32(0) if excluded else np.uint32(bits)
