"""Values near the grid of a `dense` block: a grid value plus an offset of a few units.

Grid values that were scaled or rotated and back, or summed as floats, are off the grid by some
units in the last place. They are coded as the grid value and these units; the bit length of their
count is part of the symbol. SPEC.md, "dense".
"""

from __future__ import annotations

from typing import Any

from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.integers import (
    Vector,
    lane_leading_zeros,
    load,
    maximum,
    minimum,
    select,
    store,
)
from gangsaw.codecs.core.numba.vectors.logic import both, either, logical_shift_right
from gangsaw.codecs.visibility.dense.block import (
    IS_RESIDUAL,
    LIMIT,
    DenseBlock,
    StripScratch,
    grid_bits,
    lane,
)
from gangsaw.codecs.visibility.dense.model.scale import ROW
from gangsaw.codecs.visibility.dense.model.symbols import (
    HIGHEST_NEAR_GRID,
    LENGTHS,
    LOWEST_NEAR_GRID,
    NEAR_GRID,
    PLANE,
    ZERO,
)


@jit(inline=True, part=True, norefs=True)
def round_to_grid(word: Vector, exponent: Vector, mantissa: int, scratch: StripScratch) -> Any:
    """Return words, without sign, rounded to the grid, and the units in the last place off it."""
    size, full = logical_shift_right(word << 1, 1), grid_bits(exponent, scratch)
    # larger for residuals, which have no values near the grid
    dropped = maximum(mantissa - full, size * 0)
    rounded = size + ((size * 0 + 1 << dropped) >> 1) >> dropped << dropped
    return rounded, size - rounded


@jit(inline=True, part=True, norefs=True)
def encode_near_grid(
    block: DenseBlock,
    symbol: Vector,
    exponent: Vector,
    around: Vector,
    word: Vector,
    scratch: StripScratch,
) -> Any:
    """Replace the symbols of values near the grid; store the bits after them in `scratch`.

    around : exponents predicted from neighbours
    """
    rounded, off = round_to_grid(word, exponent, block.mantissa, scratch)
    there, one = logical_shift_right(rounded, block.mantissa), word * 0 + 1
    octave, full = there - around, minimum(grid_bits(there, scratch), block.mantissa)
    units = maximum(off, 0 - off)
    length = block.width - lane_leading_zeros(units)
    is_off = both(both(symbol > PLANE - 1, symbol < ZERO), exponent < lane(scratch, LIMIT))
    is_near = both(length < LENGTHS + 1, full + length < block.mantissa)
    has_symbol = both(octave < HIGHEST_NEAR_GRID + 1, octave > LOWEST_NEAR_GRID - 1)
    is_near_grid = both(is_off, both(is_near, has_symbol))
    below = logical_shift_right(rounded & ((one << block.mantissa) - 1), block.mantissa - full)
    above = select(off < 0, one, one * 0) | (units - (one << (length - 1))) << 1
    value = logical_shift_right(word, block.width - 1) | below << 1 | above << full << 1
    store(scratch.values, 0, select(is_near_grid, value, load(scratch.values, 0, ROW)))
    store(scratch.counts, 0, select(is_near_grid, full + length + 1, load(scratch.counts, 0, ROW)))
    return select(
        is_near_grid, NEAR_GRID - 1 + ((HIGHEST_NEAR_GRID - octave) << 3) + length, symbol
    )


@jit(inline=True, part=True, norefs=True)
def near_grid_octave(symbol: Vector) -> Any:
    """Return the octaves, relative to the prediction, that near-grid symbols give."""
    return HIGHEST_NEAR_GRID - ((symbol - NEAR_GRID) >> 3)


@jit(inline=True, part=True, norefs=True)
def near_grid_length(symbol: Vector) -> Any:
    """Return the bit lengths of the units off the grid that near-grid symbols give."""
    return ((symbol - NEAR_GRID) & 7) + 1


@jit(inline=True, part=True, norefs=True)
def near_grid_units(bits: Vector, length: Vector) -> Any:
    """Return units off the grid from their bits: the sign, then all but the highest bit."""
    units = logical_shift_right(bits, 1) + (bits * 0 + 1 << (length - 1))
    return select((bits & 1) > 0, 0 - units, units)


@jit(inline=True, part=True, norefs=True)
def find_near_grid(symbol: Vector, around: Vector, scratch: StripScratch) -> Any:
    """Return exponents, fraction bits and bit lengths of units that near-grid symbols give."""
    exponent = around + near_grid_octave(symbol)
    return exponent, grid_bits(exponent, scratch), near_grid_length(symbol)


@jit(inline=True, part=True, norefs=True)
def is_far(block: DenseBlock, symbol: Vector, exponent: Vector, scratch: StripScratch) -> Any:
    """Return a mask of invalid near-grid symbols: residuals, or no fewer bits than off the grid."""
    is_long = grid_bits(exponent, scratch) + near_grid_length(symbol) > block.mantissa - 1
    return both(symbol > NEAR_GRID - 1, either(is_long, lane(scratch, IS_RESIDUAL) > 0))


@jit(inline=True, part=True, norefs=True)
def leave_grid(symbol: Vector, full: Vector, word: Vector, scratch: StripScratch) -> Any:
    """Add the units off the grid to the words of values near it; return all words.

    full : fraction bits of values on the grid
    """
    above = logical_shift_right(logical_shift_right(load(scratch.values, 0, ROW), 1), full)
    moved = word + near_grid_units(above, near_grid_length(symbol))
    return select(symbol > NEAR_GRID - 1, moved, word)
