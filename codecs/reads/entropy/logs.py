"""Bits of costs in integers, so that an encoder decides alike on every machine."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.numba.jit import jit_inline
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


@jit_inline
def table_cost(counts: Any) -> tuple[int, int]:
    """Return what a table of (n,) counts takes, and what its symbols take, in 2^-FRACTION bits."""
    total = np.int64(0)
    for s in range(counts.size):
        total += counts[s]
    if total == 0:
        return 1 << FRACTION, 0
    whole, bits, before, cost = log2(total), 9, -1, np.int64(0)
    for s in range(counts.size):
        n = np.int64(counts[s])
        if n:
            cost += n * (whole - log2(n))
            share = max(1, n * 4096 // total)
            bits += 2 * bit_length(share) + 2 * bit_length(s - before) - 2
            before = s
    return bits << FRACTION, int(cost)


@jit_inline
def expected_cost(counts: Any, novel: int) -> int:
    """Return what as many symbols that are not counted may take, in units of 2^-FRACTION bits.

    Each counted symbol as if it had not been counted; counts alone promise too much where they
    are few.

    novel : what a symbol takes that was never counted
    """
    total, once = np.int64(0), np.int64(0)
    for s in range(counts.size):
        total += counts[s]
        once += counts[s] == 1
    if total == 0:
        return 0
    whole, cost = log2(total), np.int64(0)
    if once:
        cost = once * (whole - log2(once) + novel)
    for s in range(counts.size):
        n = np.int64(counts[s])
        if n > 1:
            cost += n * (whole - log2(n - 1))
    return int(cost)
