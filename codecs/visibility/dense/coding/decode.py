"""Decoder of `dense` blocks from symbols and bits to values: rows of 32 lanes are vectors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes, NumpyArray
from gangsaw.codecs.core.numba.bits import fit, pointer
from gangsaw.codecs.core.numba.jit import HAS_AVX512, jit
from gangsaw.codecs.core.numba.vectors.floats import load_floats
from gangsaw.codecs.core.numba.vectors.gather import gather, last_lane, running_sums
from gangsaw.codecs.core.numba.vectors.integers import (
    Vector,
    any_lane,
    load,
    maximum,
    resize_to,
    select,
    store,
)
from gangsaw.codecs.core.numba.vectors.logic import both, either, logical_shift_right
from gangsaw.codecs.visibility.dense.block import (
    IS_RESIDUAL,
    LIMIT,
    DenseBlock,
    Strip,
    StripScratch,
    begin_block,
    begin_row,
    begin_strip,
    grid_bits,
    keep_sizes,
    lane,
    split_row,
)
from gangsaw.codecs.visibility.dense.coding.bits import read_bits, take_escape
from gangsaw.codecs.visibility.dense.coding.near_grid import find_near_grid, is_far, leave_grid
from gangsaw.codecs.visibility.dense.coding.stream import LANE_NUMBERS, SymbolStream, pull_row
from gangsaw.codecs.visibility.dense.model.scale import NONE, ROW
from gangsaw.codecs.visibility.dense.model.symbols import (
    COMMONEST,
    ESCAPE,
    MINUS_ZERO,
    NEAR_GRID,
    PLANE,
    ZERO,
    from_symbol,
)
from gangsaw.codecs.visibility.dense.model.values import LARGEST, join_floats, join_residuals
from gangsaw.codecs.visibility.lanes.table import LANES

# most bits of a value that lie in the 32 bits from any byte that contains their first bit
GATHERED = 25
FARTHEST = 1 << 33  # last bit position that gathers reach: they index bytes by 31 bits


class Bits(NamedTuple):
    """Bit stream of values: (n,) uint8 with SPARE bytes after `n_bits` bits."""

    data: npt.NDArray[np.uint8]
    n_bits: int


class BitPlace(NamedTuple):
    """Bytes of `Bits`, and the position of the next bit."""

    data: Bytes
    position: int


@jit(inline=True, part=True, norefs=True)
def read_in_turn(
    block: DenseBlock, active: int, scratch: StripScratch, data: Bytes, position: int
) -> int:
    """Read the bits of a row without escaped values; return the position after them."""
    count_of, value_of = pointer(scratch.counts, 0), pointer(scratch.values, 0)
    for i in range(active):
        count = np.int64(count_of[i])
        value_of[i] = fit(read_bits(data, position, count), value_of)
        position += int(count)
    return position


@jit(inline=True, part=True, norefs=True)
def read_at_once(
    block: DenseBlock, active: int, scratch: StripScratch, data: Bytes, position: int
) -> int:
    """Read the bits of a row like `read_in_turn`, but with a gather.

    This needs the bits of each lane to lie within 32 bits from a byte.
    """
    count = resize_to(load(scratch.counts, 0, ROW), LANE_NUMBERS)
    if block.width > 32 or position > FARTHEST or any_lane(count > GATHERED):
        return read_in_turn(block, active, scratch, data, position)
    ends = running_sums(count)
    start = ends - count + (position & 7)
    bits = gather(data, logical_shift_right(start, 3) + (position >> 3))
    value = logical_shift_right(bits, start & 7) & ((count * 0 + 1 << count) - 1)
    store(scratch.values, 0, resize_to(value, scratch.values))
    return position + int(last_lane(ends))


read_values = read_at_once if HAS_AVX512 else read_in_turn


@jit(inline=True, part=True, norefs=True)
def read_escaped(
    active: int,
    block: DenseBlock,
    scratch: StripScratch,
    data: Bytes,
    position: int,
    words: NumpyArray,
    first: int,
) -> int:
    """Read a row with escaped values, stored in `words`; return the end position, -1 if invalid.

    The vector pass does not change the lanes of escaped values.
    """
    wrong = False
    for i in range(active):
        count = np.int64(scratch.counts[i])
        scratch.values[i] = read_bits(data, position, count)
        position += int(count)
        if scratch.symbols[i] == ESCAPE:
            residual = scratch.lanes[IS_RESIDUAL * LANES + i]
            limit = np.uint64(block.width - 1 if residual else block.of_type[0, LIMIT])
            words[first + i], _, _, position, bad = take_escape(
                data, position, residual, limit, block.width, block.mantissa
            )
            wrong |= bad
    return -1 if wrong else position


@jit(inline=True, part=True, norefs=True)
def find_counts(block: DenseBlock, symbol: Vector, around: Vector, scratch: StripScratch) -> Any:
    """Return exponents, given fraction bits and fraction lengths of a row, from its symbols.

    The numbers of bits that follow are stored in `scratch`.

    around : exponents predicted from neighbours
    """
    off = both(symbol > PLANE - 1, symbol < ZERO)
    octave, given, quarter = from_symbol(select(off, symbol - PLANE, symbol))
    exponent = around + octave
    full = select(off, symbol * 0 + block.mantissa, grid_bits(exponent, scratch))
    left = maximum(full - given, symbol * 0)
    store(scratch.counts, 0, select(symbol > ZERO - 1, symbol * 0, left + block.signs))
    if block.n_symbols > NEAR_GRID:
        is_near_grid = symbol > ESCAPE
        other, on_grid, length = find_near_grid(symbol, around, scratch)
        count = select(is_near_grid, on_grid + length + 1, load(scratch.counts, 0, ROW))
        store(scratch.counts, 0, count)
        exponent = select(is_near_grid, other, exponent)
        quarter, full = (
            select(is_near_grid, symbol * 0, quarter),
            select(is_near_grid, on_grid, full),
        )
        given = select(is_near_grid, symbol * 0, given)
    return exponent, quarter, maximum(full, given)


@jit(inline=True, part=True, norefs=True)
def is_signed(block: DenseBlock, symbol: Vector) -> Any:
    """Return a mask of the symbols whose values have a sign, an exponent and fraction bits."""
    if block.n_symbols > NEAR_GRID:
        return either(symbol < ZERO, symbol > ESCAPE)
    return symbol < ZERO


@jit(inline=True, part=True, norefs=True)
def is_impossible(
    block: DenseBlock, strip: Strip, symbol: Vector, exponent: Vector, scratch: StripScratch
) -> Any:
    """Return True if a symbol of a row gives an exponent that no float, or residual, has."""
    beyond = either(exponent < 0, exponent > lane(scratch, LIMIT))
    if strip.some:
        too_large = exponent > min(LARGEST, block.width - 1)
        beyond = either(beyond, both(lane(scratch, IS_RESIDUAL) > 0, too_large))
    if block.n_symbols > NEAR_GRID:
        beyond = either(beyond, is_far(block, symbol, exponent, scratch))
    return any_lane(both(is_signed(block, symbol), beyond))


@jit(inline=True, part=True, norefs=True)
def special_word(block: DenseBlock, symbol: Vector) -> Any:
    """Return the words of symbols that encode a whole value: -0.0, the commonest word, or 0."""
    special = select(symbol == MINUS_ZERO, symbol * 0 + 1 << (block.width - 1), symbol * 0)
    return select(symbol == COMMONEST, symbol * 0 + block.commonest, special)


@jit(inline=True, part=True, norefs=True)
def join_row(
    block: DenseBlock, strip: Strip, symbol: Vector, exponent: Vector, full: Vector,
    quarter: Vector, scratch: StripScratch,
) -> Any:  # fmt: skip
    """Return exponents, fractions and words of a row, except those of escaped values."""
    width, mantissa = block.width, block.mantissa
    value, is_common = load(scratch.values, 0, ROW), is_signed(block, symbol)
    negative, below = value & block.signs, logical_shift_right(value, block.signs)
    exponent = select(is_common, exponent, symbol * 0)
    full = select(is_common, full, symbol * 0 + 2)
    fraction = (quarter << (width - 2)) | (below << 1 << ((width - 1) - full))
    word = join_floats(negative, exponent, fraction, width, mantissa)
    if strip.some:
        is_residual = lane(scratch, IS_RESIDUAL) > 0
        word = select(is_residual, join_residuals(negative, exponent, fraction, width), word)
    if block.n_symbols > NEAR_GRID:
        word = leave_grid(symbol, full, word, scratch)
    return exponent, fraction, select(is_common, word, special_word(block, symbol))


@jit(inline=True, part=True, norefs=True)
def decode_row(
    words: NumpyArray, block: DenseBlock, strip: Strip, row: int, around: Vector,
    scratch: StripScratch, next_bit: BitPlace,
) -> Any:  # fmt: skip
    """Decode a row of words from its symbols and bits.

    Return the bit position after the row, -1 if the row is invalid.
    """
    data, position = next_bit
    first, symbol = strip.first + row * LANES, load(scratch.symbols, 0, ROW)
    exponent, quarter, full = find_counts(block, symbol, around, scratch)
    if is_impossible(block, strip, symbol, exponent, scratch):
        return np.int64(-1)
    escaped = any_lane(symbol == ESCAPE)
    if escaped:
        position = read_escaped(strip.active, block, scratch, data, position, words, first)
        if position < 0:
            return np.int64(-1)
    else:
        position = read_values(block, strip.active, scratch, data, position)
    exponent, fraction, word = join_row(block, strip, symbol, exponent, full, quarter, scratch)
    if escaped:
        word = select(symbol == ESCAPE, load(words, first, ROW), word)
    if any_lane(symbol > COMMONEST):
        exponent, fraction = split_row(block, strip, word, scratch)
    store(words, first, word)
    keep_sizes(block, row, symbol, exponent, fraction, scratch)
    return position


@jit(inline=True, part=True, norefs=True)
def decode_strip(
    words: NumpyArray, block: DenseBlock, strip: Strip, scratch: StripScratch, stream: SymbolStream,
    bits: Bits, positions: tuple[int, int],
) -> Any:  # fmt: skip
    """Decode a strip; return the positions after it in stream and bits, like `from_symbols`."""
    at, position = positions
    for row in range(block.n_rows):
        around, context = begin_row(block, strip, row, scratch)
        store(scratch.contexts, 0, context)
        at = pull_row(strip.active, stream, at, scratch)
        if at > stream.n_items or position > bits.n_bits:
            return -1, 0
        next_bit = BitPlace(bits.data, position)
        position = decode_row(words, block, strip, row, around, scratch, next_bit)
        if position < 0:
            return -1, 0
    return at, position


@jit(norefs=True)
def from_symbols(
    words: NumpyArray,
    block: DenseBlock,
    predictors: Bytes,
    scratch: StripScratch,
    stream: SymbolStream,
    bits: Bits,
) -> Any:
    """Decode all strips to signed words: float words, or residuals where lanes have a predictor.

    Returns
    -------
    tuple : positions in stream and bits; -1 as the first if they ran out or a value is impossible
    """
    at, position = 0, 0
    begin_block(scratch)
    nothing = load_floats(scratch.state, 0, ROW) * NONE
    for number in range(-(-block.n_series // LANES)):
        active, some = begin_strip(block, predictors, number, scratch)
        for i in range(active, LANES):
            scratch.symbols[i] = ZERO
        strip = Strip(number * block.n_rows * LANES, active, some, nothing)
        at, position = decode_strip(words, block, strip, scratch, stream, bits, (at, position))
        if at < 0:
            return -1, 0
    return at, position
