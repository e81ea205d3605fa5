"""Symbols of the `dense` coder: the size of a value relative to its expected size.

A value is sign, exponent and a fraction; its neighbours predict an exponent. The symbol encodes the
octave, which is the difference of both exponents. For large values it includes the first bits of
the fraction, which are not uniform in Gaussian noise. The rest of the fraction is stored raw.
SPEC.md, "dense".
"""

from __future__ import annotations

from typing import Any

from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.integers import Vector, maximum, minimum, select
from gangsaw.codecs.core.numba.vectors.logic import logical_shift_right

# octaves 4 to -1 include two bits of the fraction, -2 and -3 one, -4 to -27 none
HIGHEST, LOWEST = 4, -27
HALVES, WHOLES = 24, 28  # first symbols of octaves with one fraction bit, and with none
PLANE = 52
# A second plane for values off the grid, then four symbols of their own meaning, then in some
# blocks symbols of values near the grid (near_grid.py).
ZERO = 2 * PLANE
MINUS_ZERO, COMMONEST, ESCAPE, NEAR_GRID = range(ZERO + 1, ZERO + 5)
HIGHEST_NEAR_GRID, LOWEST_NEAR_GRID, LENGTHS = (
    3,
    -10,
    8,
)  # octaves; bits of units off the grid
N_SYMBOLS = NEAR_GRID + (HIGHEST_NEAR_GRID - LOWEST_NEAR_GRID + 1) * LENGTHS


@jit(inline=True, part=True, norefs=True)
def count_symbol_bits(octave: Vector, like: Vector) -> Any:
    """Return the number of fraction bits that symbols of these octaves give.

    like : a vector of the same type
    """
    return minimum(maximum((octave + 5) >> 1, like * 0), 2)


@jit(inline=True, part=True, norefs=True)
def to_symbol(octave: Vector, quarter: Vector) -> Any:
    """Return symbols from octaves relative to the prediction, and the first two fraction bits.

    It is not valid for escapes.
    """
    high = (HIGHEST - octave) * 4 + quarter
    middle = (-2 - octave) * 2 + (logical_shift_right(quarter, 1) + HALVES)
    return select(octave > -2, high, select(octave > -4, middle, WHOLES - 4 - octave))


@jit(inline=True, part=True, norefs=True)
def from_symbol(symbol: Vector) -> Any:
    """Return octave, number of given fraction bits, and these as the first two of the fraction.

    Symbols are those of values on the grid, or of other values minus PLANE.
    """
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
