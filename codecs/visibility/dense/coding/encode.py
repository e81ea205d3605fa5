"""Encoder of `dense` blocks from values to symbols and bits: rows of 32 lanes are vectors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gangsaw.codecs.core.arrays import Bytes, Int64s, NumpyArray
from gangsaw.codecs.core.numba.bits import pointer
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.floats import load_floats
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
    ESCAPED_EXPONENT,
    IS_RESIDUAL,
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
from gangsaw.codecs.visibility.dense.coding.bits import escaped_bits, finish, put_escape, write_bits
from gangsaw.codecs.visibility.dense.coding.near_grid import encode_near_grid
from gangsaw.codecs.visibility.dense.coding.stream import Symbols
from gangsaw.codecs.visibility.dense.model.scale import NONE, ROW
from gangsaw.codecs.visibility.dense.model.symbols import (
    COMMONEST,
    ESCAPE,
    HIGHEST,
    LOWEST,
    MINUS_ZERO,
    NEAR_GRID,
    PLANE,
    ZERO,
    count_symbol_bits,
    to_symbol,
)
from gangsaw.codecs.visibility.dense.model.values import LARGEST, split
from gangsaw.codecs.visibility.lanes.table import LANES


class Strips(NamedTuple):
    """Input of the symbol encoder.

    Attributes
    ----------
    words : signed, strips of `stride` rows of 32
    places : start rows, over all strips, of the pieces of `DenseBlock.n_rows` rows to encode
    predictors : (32 * strips,) uint8, predictor of each lane
    """

    words: NumpyArray
    places: Int64s
    stride: int
    predictors: Bytes


@jit(inline=True, part=True, norefs=True)
def common_symbols(
    block: DenseBlock, octave: Vector, exponent: Vector, fraction: Vector, scratch: StripScratch
) -> Any:
    """Return the symbols of octaves relative to the prediction, and the fraction lengths of values.

    Values that are not on the grid have other symbols.
    """
    full = grid_bits(exponent, scratch)
    off = either(fraction << full < 0, fraction << full > 0)
    symbol = to_symbol(octave, logical_shift_right(fraction, block.width - 2))
    symbol = select(off, symbol + PLANE, symbol)
    return symbol, select(off, symbol * 0 + block.mantissa, full)


@jit(inline=True, part=True, norefs=True)
def special_symbols(
    block: DenseBlock,
    symbol: Vector,
    octave: Vector,
    exponent: Vector,
    word: Vector,
    scratch: StripScratch,
) -> Any:
    """Replace symbols where a value is escaped, the commonest word, or a zero."""
    is_residual = lane(scratch, IS_RESIDUAL) > 0
    has_words = lane(scratch, IS_RESIDUAL) < 2 - block.signs  # lanes of words, or of integers
    outside = either(octave > HIGHEST, octave < LOWEST)
    outside = either(outside, both(is_residual, exponent > LARGEST))
    if not block.signs:
        outside = either(outside, word < 0)
    symbol = select(outside, symbol * 0 + ESCAPE, symbol)
    if block.has_commonest:
        symbol = select(both(word == block.commonest, has_words), symbol * 0 + COMMONEST, symbol)
    symbol = select(both(word << 1 == 0, has_words), symbol * 0 + MINUS_ZERO, symbol)
    return select(word == 0, symbol * 0 + ZERO, symbol)


@jit(inline=True, part=True, norefs=True)
def keep_bits(
    block: DenseBlock,
    symbol: Vector,
    octave: Vector,
    full: Vector,
    fraction: Vector,
    word: Vector,
    scratch: StripScratch,
) -> None:
    """Store the sign and the fraction bits that the symbol does not give, and their number.

    full : fraction bits of each value
    """
    in_symbol = count_symbol_bits(octave, word)
    left = maximum(full - in_symbol, word * 0)
    value = logical_shift_right(
        logical_shift_right(fraction << in_symbol, 1), (block.width - 1) - left
    )
    sign = select(word < 0, word * 0 + 1, word * 0)
    is_common = symbol < ZERO
    store(scratch.values, 0, select(is_common, (value << block.signs) | sign, word * 0))
    store(scratch.counts, 0, select(is_common, left + block.signs, word * 0))


@jit(inline=True, part=True, norefs=True)
def encode_value(
    block: DenseBlock,
    exponent: Vector,
    fraction: Vector,
    around: Vector,
    word: Vector,
    scratch: StripScratch,
) -> Any:
    """Return the symbols of a row of values; store the bits after them in `scratch`.

    around : exponents predicted from neighbours
    """
    octave = exponent - around
    symbol, full = common_symbols(block, octave, exponent, fraction, scratch)
    symbol = special_symbols(block, symbol, octave, exponent, word, scratch)
    keep_bits(block, symbol, octave, full, fraction, word, scratch)
    if block.n_symbols > NEAR_GRID:
        symbol = encode_near_grid(block, symbol, exponent, around, word, scratch)
    return symbol


@jit(inline=True, part=True, norefs=True)
def encode_word_row(
    words: NumpyArray, block: DenseBlock, strip: Strip, row: int, scratch: StripScratch,
    coded: Symbols, first: int,
) -> Any:  # fmt: skip
    """Encode a row: fill symbols and contexts from `first` on, and the scratch's values and counts.

    Return True if some values are escaped; the symbols are then in the scratch memory, too.
    """
    around, context = begin_row(block, strip, row, scratch)
    word = load(words, strip.first + row * LANES, ROW)
    exponent, fraction = split_row(block, strip, word, scratch)
    symbol = encode_value(block, exponent, fraction, around, word, scratch)
    store(coded.symbols, first, resize_to(symbol, coded.symbols))
    store(coded.contexts, first, resize_to(context, coded.contexts))
    keep_sizes(block, row, symbol, exponent, fraction, scratch)
    escaped = any_lane(symbol == ESCAPE)
    if escaped:
        store(scratch.symbols, 0, symbol)
    return escaped


@jit(inline=True, part=True, norefs=True)
def put_row(
    block: DenseBlock,
    active: int,
    scratch: StripScratch,
    out: Bytes,
    writer: tuple[int, np.uint64, np.uint64],
) -> Any:
    """Append the bits of a row without escaped values; return the writer state."""
    mask = np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(64 - block.width)
    value_of, count_of = pointer(scratch.values, 0), pointer(scratch.counts, 0)
    at, pending, used = writer
    for i in range(active):
        value, count = np.uint64(value_of[i]) & mask, np.uint64(count_of[i])
        at, pending, used = write_bits(out, at, pending, used, value, count)
    return at, pending, used


@jit(inline=True, part=True, norefs=True)
def put_escaped(
    words: NumpyArray,
    block: DenseBlock,
    strip: Strip,
    row: int,
    scratch: StripScratch,
    out: Bytes,
    writer: tuple[int, np.uint64, np.uint64],
) -> Any:
    """Append the bits of a row with escaped values; return the writer state."""
    mask = np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(64 - block.width)
    at, pending, used = writer
    for i in range(strip.active):
        if scratch.symbols[i] == ESCAPE:
            word = np.uint64(words[strip.first + row * LANES + i]) & mask
            residual = scratch.lanes[IS_RESIDUAL * LANES + i]
            at, pending, used = put_escape(
                out, (at, pending, used), word, residual, block.width, block.mantissa
            )
        else:
            value, count = np.uint64(scratch.values[i]) & mask, np.uint64(scratch.counts[i])
            at, pending, used = write_bits(out, at, pending, used, value, count)
    return at, pending, used


@jit(inline=True, part=True, norefs=True)
def count_row(active: int, n_symbols: int, out: Symbols, first: int) -> None:
    """Count the symbols of a row by context."""
    symbol_of, context_of, count_of = (
        pointer(out.symbols, first),
        pointer(out.contexts, first),
        pointer(out.counts, 0),
    )
    for i in range(active):
        count_of[np.int64(context_of[i]) * n_symbols + np.int64(symbol_of[i])] += np.uint32(1)


@jit(norefs=True)
def to_symbols(
    strips: Strips, block: DenseBlock, scratch: StripScratch, coded: Symbols, out: Bytes
) -> Any:
    """Convert strips of words and residuals to symbols and bits.

    Parameters
    ----------
    coded : output for symbols and contexts; its counts are incremented
    out : (n,) uint8, output for bits

    Returns
    -------
    tuple : number of symbols, bytes written
    """
    words, first, writer = strips.words, 0, (0, np.uint64(0), np.uint64(0))
    begin_block(scratch)
    nothing = load_floats(scratch.state, 0, ROW) * NONE
    for first_row in strips.places:
        active, some = begin_strip(block, strips.predictors, first_row // strips.stride, scratch)
        strip = Strip(first_row * LANES, active, some, nothing)
        for row in range(block.n_rows):
            if encode_word_row(words, block, strip, row, scratch, coded, first):
                writer = put_escaped(words, block, strip, row, scratch, out, writer)
            else:
                writer = put_row(block, active, scratch, out, writer)
            count_row(active, block.n_symbols, coded, first)
            first += active
    return first, finish(out, writer)


@jit(inline=True, part=True, norefs=True)
def count_bits(scratch: StripScratch) -> Any:
    """Return the number of bits after the symbols of a row, except those of escaped values."""
    n_bits, count_of = np.int64(0), pointer(scratch.counts, 0)
    for i in range(LANES):
        n_bits += np.int64(count_of[i])
    return n_bits


@jit(inline=True, part=True, norefs=True)
def count_escaped(
    words: NumpyArray, block: DenseBlock, strip: Strip, row: int, scratch: StripScratch
) -> Any:
    """Return the number of bits of the escaped values of a row."""
    n_bits = np.int64(0)
    for i in range(strip.active):
        if scratch.symbols[i] == ESCAPE:
            residual = scratch.lanes[IS_RESIDUAL * LANES + i]
            word = np.uint64(words[strip.first + row * LANES + i])
            _, exponent, _ = split(word, residual, block.width, block.mantissa)
            count = escaped_bits(exponent, residual, block.mantissa)
            n_bits += 1 + ESCAPED_EXPONENT + np.int64(count)
    return n_bits


@jit(part=True, norefs=True)
def try_means(strips: Strips, block: DenseBlock, scratch: StripScratch, row_of: Symbols) -> int:
    """Count symbols and return the bits that `to_symbols` would write, without writing them.

    row_of : its counts are incremented; symbols and contexts of a row, (64,) uint8 each, are
        scratch
    """
    n_bits, words = np.int64(0), strips.words
    begin_block(scratch)
    nothing = load_floats(scratch.state, 0, ROW) * NONE
    for first_row in strips.places:
        active, some = begin_strip(block, strips.predictors, first_row // strips.stride, scratch)
        strip = Strip(first_row * LANES, active, some, nothing)
        for row in range(block.n_rows):
            if encode_word_row(words, block, strip, row, scratch, row_of, 0):
                n_bits += count_escaped(words, block, strip, row, scratch)
            n_bits += count_bits(scratch)
            count_row(active, block.n_symbols, row_of, 0)
    return int(n_bits)
