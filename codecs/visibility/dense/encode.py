"""Values of `dense` blocks to symbols and bits: rows of 32 lanes are vectors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gangsaw.codecs.core.numba.bits import pointer
from gangsaw.codecs.core.numba.floats import store_le64
from gangsaw.codecs.core.numba.jit import HAS_AVX512, jit_norefs, jit_norefs_inline
from gangsaw.codecs.core.numba.rans import PRECISION, STRIDE
from gangsaw.codecs.core.numba.simd import any_lane, load, maximum, resize_to, select, store
from gangsaw.codecs.core.numba.simd_floats import load_floats
from gangsaw.codecs.core.numba.simd_gather import gather, keep_items, quotients
from gangsaw.codecs.core.numba.simd_logic import both, either, logical_shift_right
from gangsaw.codecs.visibility.dense.block import (
    ESCAPED_EXPONENT,
    IS_RESIDUAL,
    Block,
    Scratch,
    begin_block,
    begin_row,
    begin_strip,
    grid_bits,
    keep_sizes,
    lane,
    split_row,
)
from gangsaw.codecs.visibility.dense.near_grid import put_near_grid
from gangsaw.codecs.visibility.dense.scale import NONE, ROW
from gangsaw.codecs.visibility.dense.symbols import (
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
from gangsaw.codecs.visibility.dense.values import LARGEST, split
from gangsaw.codecs.visibility.lanes.table import LANES

LANE_NUMBERS = np.arange(LANES, dtype=np.uint32)


class Strips(NamedTuple):
    """What is encoded.

    Attributes
    ----------
    words : signed, strips of `stride` rows of 32
    places : rows of all strips, where pieces of `Block.n_rows` begin that are coded
    predictors : (32 * strips,) uint8, of the lanes
    """

    words: Any
    places: Any
    stride: int
    predictors: Any


class Symbols(NamedTuple):
    """Symbols by their lanes and how often each is there.

    Attributes
    ----------
    symbols, contexts : (n + 32,) uint8, row by row, lanes in use alone
    counts : (2 * CONTEXTS * n_symbols,) uint32
    """

    symbols: Any
    contexts: Any
    counts: Any


class Coder(NamedTuple):
    """State of the entropy coder.

    Attributes
    ----------
    frequencies : tables as `rans.lay_out` gives them
    inverses : 1 / frequency, float64
    states : (32,) uint32, LOWEST each at first; they become what the decoder starts with
    """

    frequencies: Any
    inverses: Any
    states: Any


@jit_norefs_inline
def put(out: Any, at: int, pending: Any, used: Any, value: Any, count: Any) -> Any:
    """Append `count` <= 56 bits of a value, least significant first; return the writer's state."""
    pending |= value << used
    store_le64(out, at, pending)
    total = used + count
    whole = total & np.uint64(120)
    return at + np.int64(total >> np.uint64(3)), pending >> whole, total & np.uint64(7)


@jit_norefs_inline
def put_escape(
    out: Any, writer: Any, word: Any, is_residual: Any, width: int, mantissa: int
) -> Any:
    """Append a value in full: sign, exponent, fraction in two parts."""
    at, pending, used = writer
    sign, exponent, fraction = split(word, is_residual, width, mantissa)
    head = sign | exponent << np.uint64(1)
    at, pending, used = put(out, at, pending, used, head, np.uint64(1 + ESCAPED_EXPONENT))
    count = exponent if is_residual else np.uint64(mantissa)
    upper = min(count, np.uint64(32))
    value = fraction >> np.uint64(1) >> (np.uint64(63) - upper)
    at, pending, used = put(out, at, pending, used, value, upper)
    rest = count - upper
    value = fraction << upper >> np.uint64(1) >> (np.uint64(63) - rest)
    return put(out, at, pending, used, value, rest)


@jit_norefs_inline
def common_symbols(
    block: Block, octave: Any, exponent: Any, fraction: Any, scratch: Scratch
) -> Any:
    """Return symbols of relative octaves, on the grid or off it; bits of fractions."""
    full = grid_bits(exponent, scratch)
    off = either(fraction << full < 0, fraction << full > 0)
    symbol = to_symbol(octave, logical_shift_right(fraction, block.width - 2))
    symbol = select(off, symbol + PLANE, symbol)
    return symbol, select(off, symbol * 0 + block.mantissa, full)


@jit_norefs_inline
def special_symbols(
    block: Block, symbol: Any, octave: Any, exponent: Any, word: Any, scratch: Scratch
) -> Any:
    """Replace the symbols of octaves by those of escapes, the commonest word and zeros."""
    is_residual = lane(scratch, IS_RESIDUAL) > 0
    is_float = lane(scratch, IS_RESIDUAL) == 0
    outside = either(octave > HIGHEST, octave < LOWEST)
    outside = either(outside, both(is_residual, exponent > LARGEST))
    symbol = select(outside, symbol * 0 + ESCAPE, symbol)
    if block.has_commonest:
        symbol = select(both(word == block.commonest, is_float), symbol * 0 + COMMONEST, symbol)
    symbol = select(both(word << 1 == 0, is_float), symbol * 0 + MINUS_ZERO, symbol)
    return select(word == 0, symbol * 0 + ZERO, symbol)


@jit_norefs_inline
def keep_bits(
    block: Block, symbol: Any, octave: Any, full: Any, fraction: Any, word: Any, scratch: Scratch
) -> None:
    """Store signs and the bits of fractions that symbols do not give, and their number."""
    given = given_bits(octave, word)
    left = maximum(full - given, word * 0)
    value = logical_shift_right(logical_shift_right(fraction << given, 1), (block.width - 1) - left)
    sign = select(word < 0, word * 0 + 1, word * 0)
    is_common = symbol < ZERO
    store(scratch.values, 0, select(is_common, (value << 1) | sign, word * 0))
    store(scratch.counts, 0, select(is_common, left + 1, word * 0))


@jit_norefs_inline
def encode_row(
    words: Any, place: int, row: int, block: Block, some: bool, nothing: Any, scratch: Scratch,
    symbols: Any, contexts: Any, first: int,
) -> Any:  # fmt: skip
    """Fill symbols and contexts from `first` on, and the scratch's values and counts, of a row.

    Return whether some values are escaped.
    """
    around, context = begin_row(block, row, nothing, scratch)
    word = load(words, place * LANES, ROW)
    exponent, fraction = split_row(block, some, word, scratch)
    octave = exponent - around
    symbol, full = common_symbols(block, octave, exponent, fraction, scratch)
    symbol = special_symbols(block, symbol, octave, exponent, word, scratch)
    keep_bits(block, symbol, octave, full, fraction, word, scratch)
    if block.n_symbols > NEAR_GRID:
        symbol = put_near_grid(block, symbol, exponent, around, word, scratch)
    store(symbols, first, resize_to(symbol, symbols))
    store(contexts, first, resize_to(context, contexts))
    keep_sizes(block, row, symbol, exponent, fraction, scratch)
    return any_lane(symbol == ESCAPE)


@jit_norefs_inline
def put_row(block: Block, active: int, scratch: Scratch, out: Any, writer: Any) -> Any:
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
    block: Block, active: int, scratch: Scratch, words: Any, place: int, symbols: Any, first: int,
    out: Any, writer: Any,
) -> Any:  # fmt: skip
    """As `put_row` where some values are escaped."""
    mask = np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(64 - block.width)
    at, pending, used = writer
    for i in range(active):
        if symbols[first + i] == ESCAPE:
            word = np.uint64(words[place * LANES + i]) & mask
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
def to_symbols(strips: Strips, block: Block, scratch: Scratch, coded: Symbols, out: Any) -> Any:
    """Turn strips of words and residuals into symbols and bits.

    Parameters
    ----------
    coded : filled; counts are added to
    out : (n,) uint8, bits are written to

    Returns
    -------
    tuple : symbols, bytes written
    """
    words, symbols, contexts = strips.words, coded.symbols, coded.contexts
    first, writer = 0, (0, np.uint64(0), np.uint64(0))
    begin_block(scratch)
    nothing = load_floats(scratch.state, 0, ROW) * NONE
    for first_row in strips.places:
        active, some = begin_strip(block, strips.predictors, first_row // strips.stride, scratch)
        for row in range(block.n_rows):
            place = first_row + row
            if encode_row(
                words, place, row, block, some, nothing, scratch, symbols, contexts, first
            ):
                writer = put_escaped(
                    block, active, scratch, words, place, symbols, first, out, writer
                )
            else:
                writer = put_row(block, active, scratch, out, writer)
            tally_row(active, block.n_symbols, coded, first)
            first += active
    at, pending, used = writer
    out[at] = pending
    return first, at + np.int64(used > np.uint64(0))


@jit_norefs_inline
def count_bits(scratch: Scratch) -> Any:
    """Return the bits of a row's values, without those that are escaped."""
    n_bits, count_of = np.int64(0), pointer(scratch.counts, 0)
    for i in range(LANES):
        n_bits += np.int64(count_of[i])
    return n_bits


@jit_norefs_inline
def count_escaped(
    block: Block, active: int, scratch: Scratch, words: Any, place: int, symbols: Any
) -> Any:
    """Return the bits of a row's values that are escaped."""
    n_bits = np.int64(0)
    for i in range(active):
        if symbols[i] == ESCAPE:
            residual = scratch.lanes[IS_RESIDUAL * LANES + i]
            word = np.uint64(words[place * LANES + i])
            _, exponent, _ = split(word, residual, block.width, block.mantissa)
            n_bits += 1 + ESCAPED_EXPONENT + (np.int64(exponent) if residual else block.mantissa)
    return n_bits


@jit_norefs
def try_symbols(strips: Strips, block: Block, scratch: Scratch, row_of: Symbols) -> int:
    """Count symbols and return the bits, of `to_symbols` with these arguments; write nothing.

    row_of : counts are added to; symbols and contexts of a row, (64,) uint8 each, are scratch
    """
    n_bits, words = np.int64(0), strips.words
    symbols, contexts = row_of.symbols, row_of.contexts
    begin_block(scratch)
    nothing = load_floats(scratch.state, 0, ROW) * NONE
    for first_row in strips.places:
        active, some = begin_strip(block, strips.predictors, first_row // strips.stride, scratch)
        for row in range(block.n_rows):
            place = first_row + row
            if encode_row(words, place, row, block, some, nothing, scratch, symbols, contexts, 0):
                n_bits += count_escaped(block, active, scratch, words, place, symbols)
            n_bits += count_bits(scratch)
            tally_row(active, block.n_symbols, row_of, 0)
    return int(n_bits)


@jit_norefs_inline
def push_in_turn(active: int, coded: Symbols, first: int, coder: Coder, out: Any, at: int) -> int:
    """Encode the symbols of a row, the last lane first; return where the stream begins now."""
    state_of, item_of = pointer(coder.states, 0), pointer(out, 0)
    symbol_of, context_of = pointer(coded.symbols, first), pointer(coded.contexts, first)
    entries, inverse_of = pointer(coder.frequencies, 0), pointer(coder.inverses, 0)
    for i in range(active - 1, -1, -1):
        place = np.int64(context_of[i]) * STRIDE + np.int64(symbol_of[i])
        entry, state = np.int64(entries[place]), np.int64(state_of[i])
        frequency = entry & 0xFFFF
        long = state >= frequency << (32 - PRECISION)
        item_of[at - 1] = np.uint16(state)
        at -= int(long)
        state = state >> 16 if long else state
        # a fraction is at least 2^-12 off the next whole number, rounding 2^-19
        whole = np.int64(np.float64(state) * inverse_of[place] + 2.0**-14)
        grown = (whole << PRECISION) + state - whole * frequency + (entry >> 16)
        state_of[i] = np.uint32(grown)
    return at


@jit_norefs_inline
def push_at_once(active: int, coded: Symbols, first: int, coder: Coder, out: Any, at: int) -> int:
    """The same for all lanes of a row: 2.5 ns a symbol, where one after the other takes 8."""
    in_use, states = load(LANE_NUMBERS, 0, ROW) < active, coder.states
    state = load(states, 0, ROW)
    symbol = resize_to(load(coded.symbols, first, ROW), states) & 255
    context = resize_to(load(coded.contexts, first, ROW), states) & 255
    entry = gather(coder.frequencies, select(in_use, context * STRIDE + symbol, symbol * 0))
    frequency = entry & 0xFFFF
    long = both(in_use, logical_shift_right(state, 32 - PRECISION) > frequency - 1)
    at = keep_items(out, at, long, state)
    shifted = select(long, logical_shift_right(state, 16), state)
    whole = quotients(shifted, maximum(frequency, symbol * 0 + 1))
    grown = (whole << PRECISION) + shifted - whole * frequency + logical_shift_right(entry, 16)
    store(states, 0, select(in_use, grown, state))
    return at


push_row = push_at_once if HAS_AVX512 else push_in_turn


@jit_norefs
def push_symbols(coded: Symbols, n_symbols: int, block: Block, coder: Coder, out: Any) -> int:
    """Encode all symbols, the last first, into `out` from its end on; return where it begins.

    Parameters
    ----------
    n_symbols : of all lanes in use
    out : (n,) uint16, more items than symbols
    """
    at, first = len(out), n_symbols
    for strip in range(-(-block.n_series // LANES) - 1, -1, -1):
        active = min(LANES, block.n_series - strip * LANES)
        for _ in range(block.n_rows):
            first -= active
            at = push_row(active, coded, first, coder, out, at)
    return at
