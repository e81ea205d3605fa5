"""Symbols and bits of `dense` blocks to values: rows of 32 lanes are vectors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gangsaw.codecs.core.numba.bits import fit, pointer
from gangsaw.codecs.core.numba.floats import load_le64
from gangsaw.codecs.core.numba.jit import HAS_AVX512, jit_norefs, jit_norefs_inline
from gangsaw.codecs.core.numba.rans import FREQUENCY, LOWEST, OFFSET, PRECISION, STRIDE, TOTAL
from gangsaw.codecs.core.numba.simd import any_lane, load, maximum, resize_to, select, store
from gangsaw.codecs.core.numba.simd_floats import load_floats
from gangsaw.codecs.core.numba.simd_gather import (
    count_lanes,
    gather,
    last_lane,
    running_sums,
    spread_items,
)
from gangsaw.codecs.core.numba.simd_logic import both, either, logical_shift_right
from gangsaw.codecs.visibility.dense.block import (
    ESCAPED_EXPONENT,
    IS_RESIDUAL,
    LIMIT,
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
from gangsaw.codecs.visibility.dense.near_grid import find_near_grid, is_far, leave_grid
from gangsaw.codecs.visibility.dense.scale import NONE, ROW
from gangsaw.codecs.visibility.dense.symbols import (
    COMMONEST,
    ESCAPE,
    MINUS_ZERO,
    NEAR_GRID,
    PLANE,
    ZERO,
    from_symbol,
)
from gangsaw.codecs.visibility.dense.values import (
    LARGEST,
    join,
    join_floats,
    join_residuals,
)
from gangsaw.codecs.visibility.lanes.table import LANES

LANE_NUMBERS = np.arange(LANES, dtype=np.uint32)
GATHERED = 25  # bits of a value that are within 32 from a byte on, wherever they begin
FARTHEST = 1 << 33  # bit that gathers are sent to: their bytes are counted in 31 bits


class Stream(NamedTuple):
    """What symbols are decoded from.

    Attributes
    ----------
    slots : of the tables of all contexts (rans.lay_out_slots)
    states : (32,) uint32, of the lanes
    items : (n_items + 32,) uint16
    """

    slots: Any
    states: Any
    items: Any
    n_items: int


class Bits(NamedTuple):
    """Bits of values: (n,) uint8 with ROOM to spare behind `n_bits` bits."""

    data: Any
    n_bits: int


@jit_norefs_inline
def pull_in_turn(active: int, stream: Stream, at: int, scratch: Scratch) -> int:
    """Decode a symbol for each lane in use; return the place in the stream."""
    state_of, context_of = pointer(stream.states, 0), pointer(scratch.contexts, 0)
    symbol_of, item_of, entry_of = (
        pointer(scratch.symbols, 0),
        pointer(stream.items, 0),
        pointer(stream.slots, 0),
    )
    for i in range(active):
        state = np.int64(state_of[i])
        entry = np.int64(entry_of[np.int64(context_of[i]) << PRECISION | state & (TOTAL - 1)])
        frequency = (entry >> FREQUENCY & (TOTAL - 1)) + 1
        grown = frequency * (state >> PRECISION) + (entry >> OFFSET)
        more = grown << 16 | np.int64(item_of[at])  # read in any case: no branch to predict
        short = grown < LOWEST
        state_of[i] = np.uint32(more if short else grown)
        at += int(short)
        symbol_of[i] = fit(entry & (STRIDE - 1), symbol_of)
    return at


@jit_norefs_inline
def pull_at_once(active: int, stream: Stream, at: int, scratch: Scratch) -> int:
    """The same with a gather: 3.3 ns a value in all, where processors without take 5.5."""
    in_use, states = load(LANE_NUMBERS, 0, ROW) < active, stream.states
    state = load(states, 0, ROW)
    context = resize_to(load(scratch.contexts, 0, ROW), states)
    entry = gather(stream.slots, (context << PRECISION) | (state & (TOTAL - 1)))
    symbol = entry & (STRIDE - 1)
    frequency = (logical_shift_right(entry, FREQUENCY) & (TOTAL - 1)) + 1
    grown = frequency * logical_shift_right(state, PRECISION) + logical_shift_right(entry, OFFSET)
    short = both(in_use, logical_shift_right(grown, 16) == 0)
    item = spread_items(stream.items, at, short)
    store(states, 0, select(in_use, select(short, grown << 16 | item, grown), state))
    store(scratch.symbols, 0, resize_to(select(in_use, symbol, ZERO), scratch.symbols))
    return at + int(count_lanes(short))


pull_row = pull_at_once if HAS_AVX512 else pull_in_turn


@jit_norefs_inline
def take(data: Any, position: int, count: Any) -> Any:
    """Return `count` <= 56 bits from a bit position on."""
    word = load_le64(data, position >> 3) >> np.uint64(position & 7)
    return word & ((np.uint64(1) << np.uint64(count)) - np.uint64(1))


@jit_norefs_inline
def take_escape(
    data: Any, position: int, is_residual: Any, limit: Any, width: int, mantissa: int
) -> Any:
    """Return a value in full, the position after it, and whether its exponent is impossible."""
    head = take(data, position, 1 + ESCAPED_EXPONENT)
    position += 1 + ESCAPED_EXPONENT
    exponent = min(head >> np.uint64(1), limit)
    wrong = exponent != head >> np.uint64(1)
    count = exponent if is_residual else np.uint64(mantissa)
    upper = min(count, np.uint64(32))
    fraction = take(data, position, upper) << np.uint64(1) << (np.uint64(63) - upper)
    position += int(upper)
    low = take(data, position, count - upper)
    fraction |= low << np.uint64(1) << (np.uint64(63) - count)
    position += int(count - upper)
    word = join(head & np.uint64(1), exponent, fraction, is_residual, width, mantissa)
    return word, exponent, fraction, position, wrong


@jit_norefs_inline
def read_in_turn(block: Block, active: int, scratch: Scratch, data: Any, position: int) -> int:
    """Take the bits of a row's lanes, none of them escaped; return the position after them."""
    count_of, value_of = pointer(scratch.counts, 0), pointer(scratch.values, 0)
    for i in range(active):
        count = np.int64(count_of[i])
        value_of[i] = fit(take(data, position, count), value_of)
        position += int(count)
    return position


@jit_norefs_inline
def read_at_once(block: Block, active: int, scratch: Scratch, data: Any, position: int) -> int:
    """The same with a gather, where all lanes' bits are within 32 from a byte on."""
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


@jit_norefs_inline
def read_escaped(
    active: int, block: Block, scratch: Scratch, data: Any, position: int, words: Any, first: int
) -> int:
    """As `read_values` where some are escaped, which are put in their place; -1 of wrong ones.

    The vector pass leaves these lanes alone.
    """
    wrong = False
    for i in range(active):
        count = np.int64(scratch.counts[i])
        scratch.values[i] = take(data, position, count)
        position += int(count)
        if scratch.symbols[i] == ESCAPE:
            residual = scratch.lanes[IS_RESIDUAL * LANES + i]
            limit = np.uint64(block.width - 1 if residual else block.of_type[0, LIMIT])
            words[first + i], _, _, position, bad = take_escape(
                data, position, residual, limit, block.width, block.mantissa
            )
            wrong |= bad
    return -1 if wrong else position


@jit_norefs_inline
def find_counts(block: Block, symbol: Any, around: Any, scratch: Scratch) -> Any:
    """Return exponents, the bits that symbols tell, and bits in all of a row's fractions."""
    off = both(symbol > PLANE - 1, symbol < ZERO)
    octave, given, quarter = from_symbol(select(off, symbol - PLANE, symbol))
    exponent = around + octave
    full = select(off, symbol * 0 + block.mantissa, grid_bits(exponent, scratch))
    left = maximum(full - given, symbol * 0)
    store(scratch.counts, 0, select(symbol > ZERO - 1, symbol * 0, left + 1))
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


@jit_norefs_inline
def is_signed(block: Block, symbol: Any) -> Any:
    """Which symbols are those of values with a sign, an exponent, and bits of the fraction."""
    if block.n_symbols > NEAR_GRID:
        return either(symbol < ZERO, symbol > ESCAPE)
    return symbol < ZERO


@jit_norefs_inline
def is_impossible(block: Block, some: bool, symbol: Any, exponent: Any, scratch: Scratch) -> Any:
    """Whether a symbol says an exponent that its type does not have."""
    beyond = either(exponent < 0, exponent > lane(scratch, LIMIT))
    if some:
        too_large = exponent > min(LARGEST, block.width - 1)
        beyond = either(beyond, both(lane(scratch, IS_RESIDUAL) > 0, too_large))
    if block.n_symbols > NEAR_GRID:
        beyond = either(beyond, is_far(block, symbol, exponent, scratch))
    return any_lane(both(is_signed(block, symbol), beyond))


@jit_norefs_inline
def join_row(
    block: Block, some: bool, symbol: Any, exponent: Any, full: Any, quarter: Any, scratch: Scratch
) -> Any:
    """Return exponents, fractions and words of a row, without those that were escaped."""
    width, mantissa = block.width, block.mantissa
    value, is_common = load(scratch.values, 0, ROW), is_signed(block, symbol)
    negative, below = value & 1, logical_shift_right(value, 1)
    exponent = select(is_common, exponent, symbol * 0)
    full = select(is_common, full, symbol * 0 + 2)
    fraction = (quarter << (width - 2)) | (below << 1 << ((width - 1) - full))
    word = join_floats(negative, exponent, fraction, width, mantissa)
    if some:
        is_residual = lane(scratch, IS_RESIDUAL) > 0
        word = select(is_residual, join_residuals(negative, exponent, fraction, width), word)
    if block.n_symbols > NEAR_GRID:
        word = leave_grid(symbol, full, word, scratch)
    special = select(symbol == MINUS_ZERO, symbol * 0 + 1 << (width - 1), symbol * 0)
    special = select(symbol == COMMONEST, symbol * 0 + block.commonest, special)
    return exponent, fraction, select(is_common, word, special)


@jit_norefs_inline
def decode_row(
    words: Any, base: int, row: int, block: Block, active: int, some: bool, around: Any,
    scratch: Scratch, data: Any, position: int,
) -> Any:  # fmt: skip
    """Fill a row of words from its symbols and bits; return the position, -1 where it is wrong."""
    symbol = load(scratch.symbols, 0, ROW)
    exponent, quarter, full = find_counts(block, symbol, around, scratch)
    if is_impossible(block, some, symbol, exponent, scratch):
        return np.int64(-1)
    escaped = any_lane(symbol == ESCAPE)
    if escaped:
        first = base + row * LANES
        position = read_escaped(active, block, scratch, data, position, words, first)
        if position < 0:
            return np.int64(-1)
    else:
        position = read_values(block, active, scratch, data, position)
    exponent, fraction, word = join_row(block, some, symbol, exponent, full, quarter, scratch)
    if escaped:
        in_full = load(words, base + row * LANES, ROW)
        word = select(symbol == ESCAPE, in_full, word)
    if any_lane(symbol > COMMONEST):
        exponent, fraction = split_row(block, some, word, scratch)
    store(words, base + row * LANES, word)
    keep_sizes(block, row, symbol, exponent, fraction, scratch)
    return position


@jit_norefs
def from_symbols(
    words: Any, block: Block, predictors: Any, scratch: Scratch, stream: Stream, bits: Bits
) -> Any:
    """Fill all strips of signed words with words and residuals.

    Returns
    -------
    tuple : places in stream and bits; -1 as the first where they ran out or a value is impossible
    """
    at, position = 0, 0
    begin_block(scratch)
    nothing = load_floats(scratch.state, 0, ROW) * NONE
    for strip in range(-(-block.n_series // LANES)):
        active, some = begin_strip(block, predictors, strip, scratch)
        for i in range(active, LANES):
            scratch.symbols[i] = ZERO
        base = strip * block.n_rows * LANES
        for row in range(block.n_rows):
            around, context = begin_row(block, row, nothing, scratch)
            store(scratch.contexts, 0, context)
            at = pull_row(active, stream, at, scratch)
            if at > stream.n_items or position > bits.n_bits:
                return -1, 0
            position = decode_row(
                words, base, row, block, active, some, around, scratch, bits.data, position
            )
            if position < 0:
                return -1, 0
    return at, position
