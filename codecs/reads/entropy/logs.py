"""Bits of costs in integers, so that an encoder decides alike on every machine."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.numba.jit import jit_inline, jit_inline_part
from gangsaw.codecs.reads.entropy.bits import bit_length

FRACTION = 12  # bits of a cost behind the point
MANTISSA = 11  # bits of a number, below its leading one, that count


def _logarithms() -> npt.NDArray[np.int64]:
    """log2 of 1 to 2 in steps of 2^-MANTISSA, by squaring: one more bit of it each time."""
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


@jit_inline
def log2(value: Any) -> int:
    """Return log2 of a number > 0, rounded down, in units of 2^-FRACTION."""
    shift = bit_length(value) - 1
    place = value >> shift - MANTISSA if shift > MANTISSA else value << MANTISSA - shift
    return int((shift << FRACTION) + LOGARITHMS[place & (1 << MANTISSA) - 1])


@jit_inline_part
def symbols_cost(counts: Any) -> int:
    """Return what symbols of (n,) counts take by a table of these, in units of 2^-FRACTION bits."""
    total = np.int64(0)
    for s in range(counts.size):
        total += counts[s]
    cost = np.int64(0)
    for s in range(counts.size):
        n = np.int64(counts[s])
        if n:
            cost += n * (log2(total) - log2(n))
    return int(cost)
