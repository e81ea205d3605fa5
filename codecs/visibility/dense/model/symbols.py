"""Symbols of the `dense` coder: how far a value is above or below its expected size.

A value is sign, exponent and a fraction; its neighbours give an exponent, too. The symbol holds the
difference, the octave, and where the value is large the first bits of the fraction: of Gaussian
noise they are not even. What is left of the fraction is stored as it is. SPEC.md, "dense".
"""

from __future__ import annotations

from typing import Any

from gangsaw.codecs.core.numba.jit import jit_norefs_inline
from gangsaw.codecs.core.numba.vectors.integers import maximum, minimum, select
from gangsaw.codecs.core.numba.vectors.logic import logical_shift_right

# octaves 4 to -1 tell two bits of the fraction, -2 and -3 one, -4 to -27 none
HIGHEST, LOWEST = 4, -27
HALVES, WHOLES = 24, 28  # first symbols of those that tell one bit, and none
PLANE = 52
# the same again for values off the grid, then four that are values themselves, and in some blocks
# those of values near the grid (near_grid.py)
ZERO = 2 * PLANE
MINUS_ZERO, COMMONEST, ESCAPE, NEAR_GRID = range(ZERO + 1, ZERO + 5)
HIGHEST_NEAR_GRID, LOWEST_NEAR_GRID, LENGTHS = (
    3,
    -10,
    8,
)  # octaves; bits of units off it
N_SYMBOLS = NEAR_GRID + (HIGHEST_NEAR_GRID - LOWEST_NEAR_GRID + 1) * LENGTHS


@jit_norefs_inline
def given_bits(octave: Any, like: Any) -> Any:
    """Return how many bits of the fraction a symbol of this octave tells; `like` is a vector."""
    return minimum(maximum((octave + 5) >> 1, like * 0), 2)


@jit_norefs_inline
def to_symbol(octave: Any, quarter: Any) -> Any:
    """Return symbols of octaves and the first two bits of fractions; not for escapes."""
    high = (HIGHEST - octave) * 4 + quarter
    middle = (-2 - octave) * 2 + (logical_shift_right(quarter, 1) + HALVES)
    return select(octave > -2, high, select(octave > -4, middle, WHOLES - 4 - octave))


@jit_norefs_inline
def from_symbol(symbol: Any) -> Any:
    """Return octave, bits given, and these bits as the first two of a fraction; within a plane."""
    middle = symbol - HALVES
    is_high, is_low = symbol < HALVES, symbol > WHOLES - 1
    octave = select(is_low, (WHOLES - 4) - symbol, -2 - logical_shift_right(middle, 1))
    quarter = select(is_low, symbol * 0, (middle & 1) * 2)
    given = select(is_low, symbol * 0, 1)
    return (
        select(is_high, HIGHEST - logical_shift_right(symbol, 2), octave),
        select(is_high, symbol * 0 + 2, given),
        select(is_high, symbol & 3, quarter),
    )
