"""Radix sort of 64-bit keys by their upper half, a hash."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Int64s, UInt64s
from gangsaw.codecs.core.numba.jit import jit

DIGIT_BITS = 11
DIGITS = (32, 43, 54)  # first bit of each digit


def sort_by_hash(keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Return keys sorted by their upper 32 bits, stably."""
    other = np.empty_like(keys)
    counts = np.zeros((len(DIGITS), 1 << DIGIT_BITS), np.int64)
    count_digits(keys, counts)
    for shift, count in zip(DIGITS, counts, strict=True):
        sort(keys, other, np.cumsum(count) - count, shift)
        keys, other = other, keys
    return keys


@jit(restrict=True)
def count_digits(keys: UInt64s, counts: Int64s) -> None:
    """Count the values of the three digits of all hashes into `counts`, (3, 2^DIGIT_BITS)."""
    mask = np.uint64((1 << DIGIT_BITS) - 1)
    for i in range(keys.size):
        for digit in range(3):
            counts[digit, np.int64(keys[i] >> np.uint64(32 + DIGIT_BITS * digit) & mask)] += 1


@jit(restrict=True)
def sort(keys: UInt64s, out: UInt64s, begins: Int64s, shift: int) -> None:
    """Move keys to `out`, ordered by one digit, stably; `begins` of the digits become ends."""
    mask = np.uint64((1 << DIGIT_BITS) - 1)
    for i in range(keys.size):
        digit = np.int64(keys[i] >> np.uint64(shift) & mask)
        out[begins[digit]] = keys[i]
        begins[digit] += 1
