"""Costs in bits as integers, so that an encoder decides the same on every machine."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Int64, Int64s, UInt32s
from gangsaw.codecs.core.entropy.gamma import bit_length
from gangsaw.codecs.core.numba.jit import jit

FRACTION = 12  # fractional bits of a cost
MANTISSA = 11  # bits of a number below its leading one that are used


def _logarithms() -> npt.NDArray[np.int64]:
    """Return log2 of 1 to 2 in steps of 2^-MANTISSA; each squaring gives one more bit."""
    y = (np.arange(1 << MANTISSA, dtype=np.uint64) + np.uint64(1 << MANTISSA)) << np.uint64(
        30 - MANTISSA
    )
    out = np.zeros(1 << MANTISSA, np.int64)
    for _ in range(FRACTION):
        y = y * y >> np.uint64(30)
        over = y >= np.uint64(1 << 31)
        y = np.where(over, y >> np.uint64(1), y)
        out = 2 * out + over
    return out


LOGARITHMS = _logarithms()


@jit(inline=True)
def scaled_log2(value: Int64) -> int:
    """Return log2 of a number > 0, rounded down, in units of 2^-FRACTION."""
    shift = bit_length(value) - 1
    place = value >> shift - MANTISSA if shift > MANTISSA else value << MANTISSA - shift
    return int((shift << FRACTION) + LOGARITHMS[place & (1 << MANTISSA) - 1])


@jit(inline=True, part=True)
def symbols_cost(counts: Int64s | UInt32s) -> int:
    """Return the entropy of symbols that occur (n,) counts times, in 2^-FRACTION bits."""
    total = np.int64(0)
    for s in range(counts.size):
        total += counts[s]
    cost = np.int64(0)
    for s in range(counts.size):
        n = np.int64(counts[s])
        if n:
            cost += n * (scaled_log2(total) - scaled_log2(n))
    return int(cost)
