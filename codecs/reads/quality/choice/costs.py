"""Costs in bits as integers, so that every machine makes the same choices."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Int64s
from gangsaw.codecs.core.numba.bits import leading_zeros
from gangsaw.codecs.core.numba.jit import jit

BIT = 1 << 24  # units of one bit
INDEX_BITS = 11  # of the table; linear interpolation between entries is exact to 2^-24
FRACTION = 24


@cache
def logarithms() -> npt.NDArray[np.int64]:
    """Return (2^INDEX_BITS + 1,) int64: log2(1 + i / 2^INDEX_BITS) in units of 1 / BIT."""
    out = np.zeros((1 << INDEX_BITS) + 1, np.int64)
    fill_logarithms(out)
    return out


@jit
def fill_logarithms(out: Int64s) -> None:
    """Compute each logarithm bit by bit: squaring a number doubles its logarithm."""
    for i in range(out.size):
        x, bits = np.uint64(out.size - 1 + i) << np.uint64(31 - INDEX_BITS), np.int64(0)
        for _ in range(FRACTION + 1):
            over = x >> np.uint64(32)
            bits = bits << 1 | np.int64(over)
            x >>= over
            x = x * x >> np.uint64(31)
        out[i] = bits


@jit(inline=True, part=True)
def logarithm(n: int, logs: Int64s) -> Any:
    """Return log2(n) of a count from 1 to 2^32 - 1, in units of 1 / BIT."""
    bits = 63 - np.int64(leading_zeros(np.uint64(n)))
    fraction = (n << 32 - bits) - (1 << 32)
    i, rest = fraction >> 32 - INDEX_BITS, fraction & (1 << 32 - INDEX_BITS) - 1
    low, high = logs[i], logs[i + 1]
    return (bits << FRACTION) + low + ((high - low) * rest >> 32 - INDEX_BITS)


@jit(inline=True)
def information(n: int, logs: Int64s) -> Any:
    """Return n x log2(n) of a count below 2^32, in units of 1 / BIT."""
    return n * logarithm(n, logs) if n > 1 else 0
