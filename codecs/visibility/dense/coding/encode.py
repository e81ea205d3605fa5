"""Values of `dense` blocks to symbols and bits: rows of 32 lanes are vectors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gangsaw.codecs.core.numba.bits import pointer
from gangsaw.codecs.core.numba.jit import jit_norefs, jit_norefs_inline, jit_norefs_part
from gangsaw.codecs.core.numba.vectors.floats import load_floats
from gangsaw.codecs.core.numba.vectors.integers import (
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
from gangsaw.codecs.visibility.dense.coding.bits import escaped_bits, finish, put, put_escape
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
    given_bits,
    to_symbol,
)
from gangsaw.codecs.visibility.dense.model.values import LARGEST, split
from gangsaw.codecs.visibility.lanes.table import LANES


class Strips(NamedTuple):
    """What is encoded.

    Attributes
    ----------
    words : signed, strips of `stride` rows of 32
    places : rows of all strips, where pieces of `DenseBlock.n_rows` begin that are coded
    predictors : (32 * strips,) uint8, of the lanes
    """

    words: Any
    places: Any
    stride: int
    predictors: Any


@jit_norefs_inline
def common_symbols(
    block: DenseBlock, octave: Any, exponent: Any, fraction: Any, scratch: StripScratch
) -> Any:
    """Return symbols of relative octaves, on the grid or off it; bits of fractions."""
    full = grid_bits(exponent, scratch)
    off = either(fraction << full < 0, fraction << full > 0)
    symbol = to_symbol(octave, logical_shift_right(fraction, block.width - 2))
    symbol = select(off, symbol + PLANE, symbol)
    return symbol, select(off, symbol * 0 + block.mantissa, full)


@jit_norefs_inline
def special_symbols(
    block: DenseBlock, symbol: Any, octave: Any, exponent: Any, word: Any, scratch: StripScratch
) -> Any:
    """Replace the symbols of octaves by those of escapes, the commonest word and zeros."""
    is_residual = lane(scratch, IS_RESIDUAL) > 0
    has_words = lane(scratch, IS_RESIDUAL) < 2 - block.signs  # as words, or among integers
    outside = either(octave > HIGHEST, octave < LOWEST)
    outside = either(outside, both(is_residual, exponent > LARGEST))
    if not block.signs:
        outside = either(outside, word < 0)
    symbol = select(outside, symbol * 0 + ESCAPE, symbol)
    if block.has_commonest:
        symbol = select(both(word == block.commonest, has_words), symbol * 0 + COMMONEST, symbol)
    symbol = select(both(word << 1 == 0, has_words), symbol * 0 + MINUS_ZERO, symbol)
    return select(word == 0, symbol * 0 + ZERO, symbol)


@jit_norefs_inline
def keep_bits(
    block: DenseBlock,
    symbol: Any,
    octave: Any,
    full: Any,
    fraction: Any,
    word: Any,
    scratch: StripScratch,
) -> None:
    """Store signs and the bits of fractions that symbols do not give, and their number."""
    given = given_bits(octave, word)
    left = maximum(full - given, word * 0)
    value = logical_shift_right(logical_shift_right(fraction << given, 1), (block.width - 1) - left)
    sign = select(word < 0, word * 0 + 1, word * 0)
    is_common = symbol < ZERO
    store(scratch.values, 0, select(is_common, (value << block.signs) | sign, word * 0))
    store(scratch.counts, 0, select(is_common, left + block.signs, word * 0))


@jit_norefs_inline
def encode_value(
    block: DenseBlock, exponent: Any, fraction: Any, around: Any, word: Any, scratch: StripScratch
) -> Any:
    """Return symbols of a row's values; store their bits and how many these are in the scratch.

    around : exponents that neighbours give
    """
    octave = exponent - around
    symbol, full = common_symbols(block, octave, exponent, fraction, scratch)
    symbol = special_symbols(block, symbol, octave, exponent, word, scratch)
    keep_bits(block, symbol, octave, full, fraction, word, scratch)
    if block.n_symbols > NEAR_GRID:
        symbol = encode_near_grid(block, symbol, exponent, around, word, scratch)
    return symbol


@jit_norefs_inline
def encode_row(
    words: Any, block: DenseBlock, strip: Strip, row: int, scratch: StripScratch, coded: Symbols,
    first: int,
) -> Any:  # fmt: skip
    """Fill symbols and contexts from `first` on, and the scratch's values and counts, of a row.

    Return whether some values are escaped; where they are, symbols are in the scratch, too.
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


@jit_norefs_inline
def put_row(block: DenseBlock, active: int, scratch: StripScratch, out: Any, writer: Any) -> Any:
    """Append the bits of a row's values, none of them escaped."""
    mask = np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(64 - block.width)
    value_of, count_of = pointer(scratch.values, 0), pointer(scratch.counts, 0)
    at, pending, used = writer
    for i in range(active):
        value, count = np.uint64(value_of[i]) & mask, np.uint64(count_of[i])
        at, pending, used = put(out, at, pending, used, value, count)
    return at, pending, used


@jit_norefs_inline
def put_escaped(
    words: Any,
    block: DenseBlock,
    strip: Strip,
    row: int,
    scratch: StripScratch,
    out: Any,
    writer: Any,
) -> Any:
    """As `put_row` where some values are escaped."""
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
            at, pending, used = put(out, at, pending, used, value, count)
    return at, pending, used


@jit_norefs_inline
def tally_row(active: int, n_symbols: int, out: Symbols, first: int) -> None:
    """Count the symbols of a row by their contexts."""
    symbol_of, context_of, count_of = (
        pointer(out.symbols, first),
        pointer(out.contexts, first),
        pointer(out.counts, 0),
    )
    for i in range(active):
        count_of[np.int64(context_of[i]) * n_symbols + np.int64(symbol_of[i])] += np.uint32(1)


@jit_norefs
def to_symbols(
    strips: Strips, block: DenseBlock, scratch: StripScratch, coded: Symbols, out: Any
) -> Any:
    """Turn strips of words and residuals into symbols and bits.

    Parameters
    ----------
    coded : filled; counts are added to
    out : (n,) uint8, bits are written to

    Returns
    -------
    tuple : symbols, bytes written
    """
    words, first, writer = strips.words, 0, (0, np.uint64(0), np.uint64(0))
    begin_block(scratch)
    nothing = load_floats(scratch.state, 0, ROW) * NONE
    for first_row in strips.places:
        active, some = begin_strip(block, strips.predictors, first_row // strips.stride, scratch)
        strip = Strip(first_row * LANES, active, some, nothing)
        for row in range(block.n_rows):
            if encode_row(words, block, strip, row, scratch, coded, first):
                writer = put_escaped(words, block, strip, row, scratch, out, writer)
            else:
                writer = put_row(block, active, scratch, out, writer)
            tally_row(active, block.n_symbols, coded, first)
            first += active
    return first, finish(out, writer)


@jit_norefs_inline
def count_bits(scratch: StripScratch) -> Any:
    """Return the bits of a row's values, without those that are escaped."""
    n_bits, count_of = np.int64(0), pointer(scratch.counts, 0)
    for i in range(LANES):
        n_bits += np.int64(count_of[i])
    return n_bits


@jit_norefs_inline
def count_escaped(
    words: Any, block: DenseBlock, strip: Strip, row: int, scratch: StripScratch
) -> Any:
    """Return the bits of a row's values that are escaped."""
    n_bits = np.int64(0)
    for i in range(strip.active):
        if scratch.symbols[i] == ESCAPE:
            residual = scratch.lanes[IS_RESIDUAL * LANES + i]
            word = np.uint64(words[strip.first + row * LANES + i])
            _, exponent, _ = split(word, residual, block.width, block.mantissa)
            count = escaped_bits(exponent, residual, block.mantissa)
            n_bits += 1 + ESCAPED_EXPONENT + np.int64(count)
    return n_bits


@jit_norefs_part
def try_means(strips: Strips, block: DenseBlock, scratch: StripScratch, row_of: Symbols) -> int:
    """Count symbols and return the bits, of `to_symbols` with these arguments; write nothing.

    row_of : counts are added to; symbols and contexts of a row, (64,) uint8 each, are scratch
    """
    n_bits, words = np.int64(0), strips.words
    begin_block(scratch)
    nothing = load_floats(scratch.state, 0, ROW) * NONE
    for first_row in strips.places:
        active, some = begin_strip(block, strips.predictors, first_row // strips.stride, scratch)
        strip = Strip(first_row * LANES, active, some, nothing)
        for row in range(block.n_rows):
            if encode_row(words, block, strip, row, scratch, row_of, 0):
                n_bits += count_escaped(words, block, strip, row, scratch)
            n_bits += count_bits(scratch)
            tally_row(active, block.n_symbols, row_of, 0)
    return int(n_bits)
