"""Groups of 32 rows of a lane: conversion from words to values stored as planes, and back.

SPEC.md, fast, defines the three kinds. Kernels process as many lanes at once as fit into a vector
of AVX2. Words of 16 bits are zero-extended to 32.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from llvmlite import ir
from numba import types

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.numba.jit import intrinsic, jit
from gangsaw.codecs.core.numba.vectors.integers import (
    Vector,
    as_float_bits,
    lane_leading_zeros,
    load,
    resize_to,
    select,
    spread,
    store,
    unsigned_maximum,
    unsigned_minimum,
    value_of,
)
from gangsaw.codecs.core.numba.vectors.logic import logical_shift_right
from gangsaw.codecs.visibility.fast.tiling.scratch import TileScratch
from gangsaw.codecs.visibility.lanes.table import LANES, ROWS

EXPONENTS, GRID, PREDICTED = 0, 1, 2  # kinds of a group
FRACTION_BITS = {16: 10, 32: 23, 64: 52}  # IEEE 754
NEVER = 1 << 10  # a width above that of every kind


class LaneColumn(NamedTuple):
    """Adjacent lanes of a tile in a vector: the first lane, and its offset in the first row."""

    lane: int
    at: int


class GroupHeaders(NamedTuple):
    """Header fields of a vector of groups (32 words of one lane each), one vector per field."""

    width: Vector
    kind: Vector | int
    base: Vector | int


@intrinsic
def width_of(typing_context: Any, array: Any) -> Any:
    """Return the bits of an item of an array, as a constant."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return ir.IntType(64)(array.dtype.bitwidth)

    return types.int64(array), codegen


@intrinsic
def fraction_of(typing_context: Any, array: Any) -> Any:
    """Return the fraction bits of a float as wide as an array's items, as a constant."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return ir.IntType(64)(FRACTION_BITS[array.dtype.bitwidth])

    return types.int64(array), codegen


@jit(inline=True, part=True, norefs=True)
def _words(table: NumpyArray, at: int, rows: NumpyArray, lanes: tuple[None, ...]) -> Any:
    return resize_to(load(table, at, lanes), rows)


@jit(inline=True, part=True, norefs=True)
def _rotate(words: Vector, table: NumpyArray) -> Any:
    """Rotate words left by one: the exponent is on top, the sign below the fraction."""
    bits = width_of(table)
    return (words << 1 | logical_shift_right(words, bits - 1)) & ((2 << (bits - 1)) - 1)


@jit(inline=True, part=True, norefs=True)
def lane_bit_length(vector: Vector, rows: NumpyArray) -> Any:
    """Return the bit length of each lane of a vector, at the width of `rows`."""
    return width_of(rows) - lane_leading_zeros(vector)


@jit(inline=True, part=True, norefs=True)
def extremes(table: NumpyArray, at: int, rows: NumpyArray, lanes: tuple[None, ...]) -> Any:
    """Return the smallest and largest rotated word of each lane of a tile from table[at] on."""
    least, most = spread(-1, rows, lanes), spread(0, rows, lanes)
    for row in range(ROWS):
        rotated = _rotate(_words(table, at + LANES * row, rows, lanes), table)
        least, most = unsigned_minimum(least, rotated), unsigned_maximum(most, rotated)
    return least, most


@jit(inline=True, part=True, norefs=True)
def exponent_group(
    least: Vector, most: Vector, table: NumpyArray, rows: NumpyArray, lanes: tuple[None, ...]
) -> Any:
    """Return the headers of groups if coded as kind EXPONENTS, from their extreme words."""
    base = logical_shift_right(least, fraction_of(table) + 1)
    width = lane_bit_length(most - (base << (fraction_of(table) + 1)), rows)
    return GroupHeaders(width, spread(EXPONENTS, rows, lanes), base)


@jit(inline=True, part=True, norefs=True)
def grid_group(
    table: NumpyArray, at: int, most: Vector, rows: NumpyArray, lanes: tuple[None, ...]
) -> Any:
    """Return the headers of groups if coded as kind GRID; the width is NEVER without a grid."""
    fraction = fraction_of(table)
    least, lowest = spread(-1, rows, lanes), spread(-1, rows, lanes)
    for row in range(ROWS):
        words = _words(table, at + LANES * row, rows, lanes)
        # zeros wrap around to the largest value, so that `least` is the smallest nonzero word
        least = unsigned_minimum(least, _rotate(words, table) - 2)
        exponent = _exponent_of(words, table)
        significand = words & ((1 << fraction) - 1) | (1 << fraction)
        last = as_float_bits(significand & (spread(0, rows, lanes) - significand))
        place = logical_shift_right(last, fraction_of(rows)) + exponent
        lowest = unsigned_minimum(lowest, select(exponent == 0, -1, place))
    base = unsigned_minimum(lowest - _bias(rows), most_base(table))
    highest = logical_shift_right(most, fraction + 1)
    width = highest - base + (fraction + 2)
    width = select(logical_shift_right(least + 2, fraction + 1) == 0, NEVER, width)  # denormals
    width = select(highest == most_exponent(table), NEVER, width)  # infinities, NaNs
    return GroupHeaders(width, GRID, base)


@jit(inline=True, part=True, norefs=True)
def narrower(one: GroupHeaders, other: GroupHeaders) -> GroupHeaders:
    """Return for each lane the header with fewer bit planes; the first one if equal."""
    is_other = other.width < one.width
    return GroupHeaders(
        select(is_other, other.width, one.width),
        select(is_other, other.kind, one.kind),
        select(is_other, other.base, one.base),
    )


@jit(inline=True, part=True, norefs=True)
def _bias(rows: NumpyArray) -> int:
    return 1023 if width_of(rows) == 64 else 127


@jit(inline=True, part=True, norefs=True)
def most_exponent(table: NumpyArray) -> Any:
    """Return the exponent field of infinities."""
    return (1 << (width_of(table) - 1 - fraction_of(table))) - 1


@jit(inline=True, part=True, norefs=True)
def most_base(table: NumpyArray) -> int:
    """Return the largest base of a grid: for 32-bit words, the largest uint8."""
    greatest = most_exponent(table) - 1 + fraction_of(table)
    return 255 if width_of(table) == 32 else greatest


@jit(inline=True, part=True, norefs=True)
def _exponent_of(words: Vector, table: NumpyArray) -> Any:
    return logical_shift_right(words, fraction_of(table)) & most_exponent(table)


@jit(inline=True, part=True, norefs=True)
def store_values(
    table: NumpyArray,
    column: LaneColumn,
    header: GroupHeaders,
    scratch: TileScratch,
    grids: tuple[None, ...],
    predictions: tuple[None, ...],
) -> None:
    """Convert the words of each lane to values of its group's kind, in `scratch.rows`.

    Parameters
    ----------
    scratch : `TileScratch` of scratch.py, with the residuals of predicted groups
    grids, predictions : `static`, 1 if some lanes have this kind
    """
    _, kind, base = header
    rows, lanes = scratch.rows, scratch.lanes
    floor, is_grid, is_predicted = base << (fraction_of(table) + 1), kind == GRID, kind == PREDICTED
    for row in range(ROWS):
        words = _words(table, column.at + LANES * row, rows, lanes)
        values = _rotate(words, table) - floor
        if value_of(grids):
            values = select(is_grid, _grid_value(words, base, table, rows, lanes), values)
        if value_of(predictions):
            residual = load(scratch.residuals, row * value_of(lanes), lanes)
            values = select(is_predicted, residual, values)
        store(rows, row * value_of(lanes), values)


@jit(inline=True, part=True, norefs=True)
def _grid_value(
    words: Vector, base: Vector | int, table: NumpyArray, rows: NumpyArray, lanes: tuple[None, ...]
) -> Any:
    fraction, bits = fraction_of(table), width_of(table)
    room = bits - 2 - fraction  # largest left shift of a significand
    exponent = _exponent_of(words, table)
    significand = words & ((1 << fraction) - 1)
    significand = select(exponent == 0, 0, significand | (1 << fraction)) << room
    steps = logical_shift_right(significand, (base - exponent + room) & (width_of(rows) - 1))
    return steps << 1 | logical_shift_right(words, bits - 1)


@jit(inline=True, part=True, norefs=True)
def store_residuals(table: NumpyArray, column: LaneColumn, scratch: TileScratch) -> Any:
    """Write the prediction residuals of a tile's lanes; return the largest of each lane."""
    rows, lanes = scratch.rows, scratch.lanes
    most = spread(0, rows, lanes)
    for row in range(ROWS):
        words = _words(table, column.at + LANES * row, rows, lanes)
        predicted = _prediction(table, column.lane, row, scratch)
        residual = _zigzag(words, predicted, table, rows)
        store(scratch.residuals, row * value_of(lanes), residual)
        most = unsigned_maximum(most, residual)
    return most


@jit(inline=True, part=True, norefs=True)
def residual_width(table: NumpyArray, column: LaneColumn, scratch: TileScratch) -> Any:
    """Write the prediction residuals of a tile's lanes; return the widths of their groups."""
    return lane_bit_length(store_residuals(table, column, scratch), scratch.rows)


@jit(inline=True, part=True, norefs=True)
def _zigzag(words: Vector, predicted: Vector, table: NumpyArray, rows: NumpyArray) -> Any:
    """Return zigzag-coded differences: magnitudes with the sign in the lowest bit."""
    spare = width_of(rows) - width_of(table)
    difference = (words - predicted) << spare
    zigzag = difference << 1 ^ difference >> (width_of(rows) - 1)
    return logical_shift_right(zigzag, spare)


@jit(inline=True, part=True, norefs=True)
def _undo_zigzag(residuals: Vector) -> Any:
    return logical_shift_right(residuals, 1) ^ (residuals & 1) * -1


@jit(inline=True, part=True, norefs=True)
def _prediction(table: NumpyArray, lane: int, row: int, scratch: TileScratch) -> Any:
    neighbours, rows, lanes = scratch.neighbours, scratch.rows, scratch.lanes
    first = _words(table, neighbours[3 * row] + lane, rows, lanes)
    second = _words(table, neighbours[3 * row + 1] + lane, rows, lanes)
    return first + second - _words(table, neighbours[3 * row + 2] + lane, rows, lanes)


@jit(inline=True, part=True, norefs=True)
def lowest_bits(rows: NumpyArray, widths: Vector, lanes: tuple[None, ...]) -> Any:
    """Return a mask of the lowest `widths` bits of each lane; other bits of rows are undefined."""
    bits = width_of(rows)
    mask = logical_shift_right(spread(-1, rows, lanes), (bits - widths) & (bits - 1))
    return select(widths == 0, 0, mask)


@jit(inline=True, part=True, norefs=True)
def restore_values(
    table: NumpyArray,
    column: LaneColumn,
    header: GroupHeaders,
    scratch: TileScratch,
    grids: tuple[None, ...],
    predictions: tuple[None, ...],
) -> None:
    """Undo `store_values` and `store_residuals`; the rows above must be decoded.

    Bits of rows above the width of a lane may have any value.
    """
    rows, lanes = scratch.rows, scratch.lanes
    mask, is_predicted = lowest_bits(rows, header.width, lanes), header.kind == PREDICTED
    last = spread(0, rows, lanes)
    for row in range(ROWS):
        values = load(rows, row * value_of(lanes), lanes) & mask
        words = _restore(values, header, table, rows, grids)
        if value_of(predictions):
            # lanes without prediction continue with undefined values, which are not selected
            last = _predicted(values, last, row, table, column, scratch)
            words = select(is_predicted, last, words)
        store(table, column.at + LANES * row, resize_to(words, table))


@jit(inline=True, part=True, norefs=True)
def _restore(
    values: Vector,
    header: GroupHeaders,
    table: NumpyArray,
    rows: NumpyArray,
    grids: tuple[None, ...],
) -> Any:
    """Return values as words again, except predicted ones; grids as in `restore_values`."""
    words = _rotate_back(values + (header.base << (fraction_of(table) + 1)), table)
    if value_of(grids):
        grid_words = _grid_word(values, header.base, table, rows)
        words = select(header.kind == GRID, grid_words, words)
    return words


@jit(inline=True, part=True, norefs=True)
def _rotate_back(rotated: Vector, table: NumpyArray) -> Any:
    return logical_shift_right(rotated, 1) | rotated << (width_of(table) - 1)


@jit(inline=True, part=True, norefs=True)
def _grid_word(values: Vector, base: Vector | int, table: NumpyArray, rows: NumpyArray) -> Any:
    """Return the words of grid values; values that no encoder writes give arbitrary words."""
    fraction, bits = fraction_of(table), width_of(table)
    # the float of a value has the right significand, and the right exponent but for a scale
    scale = (base - (_bias(rows) + fraction)) << fraction
    steps = logical_shift_right(values, 1)
    code = logical_shift_right(as_float_bits(steps), fraction_of(rows) - fraction) + scale
    return select(steps == 0, 0, code) & ((1 << (bits - 1)) - 1) | values << (bits - 1)


@jit(inline=True, part=True, norefs=True)
def _predicted(
    residuals: Vector,
    last: Vector,
    row: int,
    table: NumpyArray,
    column: LaneColumn,
    scratch: TileScratch,
) -> Any:
    """Add residuals of a row to their predictions; return the words.

    The row before comes from a register: a load would wait for the preceding store.
    """
    neighbours, rows, lanes = scratch.neighbours, scratch.rows, scratch.lanes
    words = _undo_zigzag(residuals) - _words(
        table, neighbours[3 * row + 2] + column.lane, rows, lanes
    )
    for i in range(2):
        place = neighbours[3 * row + i] + column.lane
        if row > 0 and place == column.at + LANES * (row - 1):
            words = words + last
        else:
            words = words + _words(table, place, rows, lanes)
    return words
