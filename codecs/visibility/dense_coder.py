"""The two passes over a block of the `dense` coder: values to symbols and bits, and back.

A row of 32 lanes is a vector; what is of any length, bits and symbols, goes lane by lane.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.bits import fit, pointer
from gangsaw.codecs.core.floats import load_le64, store_le64
from gangsaw.codecs.core.jit import jit_bare, jit_bare_inline
from gangsaw.codecs.core.rans import LOWEST, PRECISION, STRIDE, TOTAL
from gangsaw.codecs.core.simd import any_lane, load, maximum, minimum, resize_to, select, store
from gangsaw.codecs.core.simd_floats import load_floats
from gangsaw.codecs.core.simd_logic import both, either, logical_shift_right
from gangsaw.codecs.visibility import dense_symbols
from gangsaw.codecs.visibility.dense_scale import (
    CONTEXTS,
    NONE,
    RATES,
    ROW,
    SLOW,
    add_neighbours,
    find_contexts,
    follow,
)
from gangsaw.codecs.visibility.dense_symbols import (
    ESCAPE,
    FAVOURITE,
    MINUS_ZERO,
    N_SYMBOLS,
    PLANE,
    ZERO,
    from_symbol,
    to_symbol,
    told_bits,
)
from gangsaw.codecs.visibility.dense_values import (
    LARGEST,
    join,
    join_floats,
    join_residuals,
    size_words,
    split,
    split_floats,
    split_residuals,
)
from gangsaw.codecs.visibility.lanes import LANES

ESCAPED_EXPONENT = 11  # bits, of any float
MOST_BITS = 1 + ESCAPED_EXPONENT + 64  # that one value puts beside its symbol
ROOM = LANES * 16  # bytes to spare behind the bits: a row of such values
HIGHEST_OCTAVE, LOWEST_OCTAVE = dense_symbols.HIGHEST, dense_symbols.LOWEST


class Block(NamedTuple):
    """What kernels know of a block.

    Attributes
    ----------
    n_rows, n_times : of a strip
    n_series : lanes in use over all strips
    width, mantissa : bits of a word, of its mantissa
    means : kind of means (dense_scale)
    has_favourite : whether `favourite`, a signed word, has a symbol of its own
    of_type : (2, 6) int64 for floats, then residuals: exponent where no neighbour says one, bias,
        what grids subtract from exponents, the fewest and the most bits that leaves, and the
        largest exponent
    """

    n_rows: int
    n_times: int
    n_series: int
    width: int
    mantissa: int
    means: int
    has_favourite: bool
    favourite: int
    of_type: Any


START, BIAS, LOW, LEAST, MOST, LIMIT, FIRST, IS_RESIDUAL, N_LANE_ROWS = range(9)


class Scratch(NamedTuple):
    """What one call works with: sizes of a strip; what lanes are; one row of everything else.

    Attributes
    ----------
    sizes, size_bits : (n_rows * 32,) float32, and the same memory as uint32
    state : (32,) float32, running means
    lanes : (N_LANE_ROWS * 32,) words, what holds for a lane in all rows of a strip
    exponents, contexts, symbols, values, counts : (32,) words
    """

    sizes: Any
    size_bits: Any
    state: Any
    lanes: Any
    exponents: Any
    contexts: Any
    symbols: Any
    values: Any
    counts: Any


def make_scratch(n_rows: int, words: npt.NDArray[Any]) -> Scratch:
    """Allocate what strips of so many rows need, for words like those."""
    kind = f"i{words.itemsize}"
    sizes = np.zeros(n_rows * LANES, np.float32)
    lanes = np.full(N_LANE_ROWS * LANES, -1, kind)
    rows = (np.zeros(LANES, kind) for _ in range(5))
    return Scratch(sizes, sizes.view(np.uint32), np.zeros(LANES, np.float32), lanes, *rows)


@jit_bare_inline
def begin_strip(block: Block, predictors: Any, strip: int, scratch: Scratch) -> Any:
    """Say what a strip's lanes are; return how many are in use, and whether some are residuals."""
    some = False
    for lane in range(LANES):
        kind = np.int64(predictors[strip * LANES + lane] > 0)
        if kind != scratch.lanes[IS_RESIDUAL * LANES + lane]:
            scratch.state[lane] = NONE  # a running mean of the other type says nothing
        for item in range(6):
            scratch.lanes[item * LANES + lane] = block.of_type[kind, item]
        scratch.lanes[START * LANES + lane] += block.of_type[kind, BIAS]
        scratch.lanes[FIRST * LANES + lane] = CONTEXTS * kind
        scratch.lanes[IS_RESIDUAL * LANES + lane] = kind
        some |= kind > 0
    return min(LANES, block.n_series - strip * LANES), some


@jit_bare_inline
def lane(scratch: Scratch, item: int) -> Any:
    """Vector of what holds for the lanes of a strip."""
    return load(scratch.lanes, item * LANES, ROW)


@jit_bare_inline
def begin_row(block: Block, row: int, nothing: Any, scratch: Scratch) -> Any:
    """Return exponents, biased, and contexts of a row's lanes from the rows before."""
    if block.means >= SLOW:
        scale = follow(scratch.sizes, row, RATES[block.means], scratch.state, nothing)
    else:
        scale = add_neighbours(scratch.sizes, row, block.n_times, block.means, nothing)
    exponent, context = find_contexts(
        scale, lane(scratch, START), lane(scratch, BIAS), scratch.lanes
    )
    return exponent, context + lane(scratch, FIRST)


@jit_bare_inline
def grid_bits(exponent: Any, scratch: Scratch) -> Any:
    """Return the bits of fractions of values on the grid."""
    above = exponent - lane(scratch, LOW)
    return minimum(maximum(above, lane(scratch, LEAST)), lane(scratch, MOST))


@jit_bare_inline
def put(out: Any, at: int, pending: Any, used: Any, value: Any, count: Any) -> Any:
    """Append `count` <= 56 bits of a value, least significant first; return the writer's state."""
    pending |= value << used
    store_le64(out, at, pending)
    total = used + count
    whole = total & np.uint64(120)
    return at + np.int64(total >> np.uint64(3)), pending >> whole, total & np.uint64(7)


@jit_bare_inline
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


@jit_bare_inline
def encode_row(
    words: Any, place: int, row: int, block: Block, some: bool, nothing: Any, scratch: Scratch,
    symbols: Any, contexts: Any, first: int,
) -> None:  # fmt: skip
    """Fill symbols and contexts from `first` on, and the scratch's values and counts, of a row."""
    around, context = begin_row(block, row, nothing, scratch)
    word = load(words, place * LANES, ROW)
    exponent, fraction = split_floats(word, block.width, block.mantissa)
    is_residual = lane(scratch, IS_RESIDUAL) > 0
    if some:
        other, below = split_residuals(word, block.width)
        exponent = select(is_residual, other, exponent)
        fraction = select(is_residual, below, fraction)
    octave = exponent - around
    full = grid_bits(exponent, scratch)
    off = either(fraction << full < 0, fraction << full > 0)
    symbol = to_symbol(octave, logical_shift_right(fraction, block.width - 2))
    symbol = select(off, symbol + PLANE, symbol)
    full = select(off, symbol * 0 + block.mantissa, full)
    outside = either(octave > HIGHEST_OCTAVE, octave < LOWEST_OCTAVE)
    outside = either(outside, both(is_residual, exponent > LARGEST))
    symbol = select(outside, symbol * 0 + ESCAPE, symbol)
    if block.has_favourite:
        symbol = select(
            both(word == block.favourite, lane(scratch, IS_RESIDUAL) == 0),
            symbol * 0 + FAVOURITE,
            symbol,
        )
    minus = both(word << 1 == 0, lane(scratch, IS_RESIDUAL) == 0)
    symbol = select(minus, symbol * 0 + MINUS_ZERO, symbol)
    symbol = select(word == 0, symbol * 0 + ZERO, symbol)
    told = told_bits(octave, word)
    left = maximum(full - told, word * 0)
    value = logical_shift_right(logical_shift_right(fraction << told, 1), (block.width - 1) - left)
    sign = select(word < 0, word * 0 + 1, word * 0)
    store(scratch.values, 0, (value << 1) | sign)
    store(scratch.counts, 0, select(symbol > ZERO - 1, word * 0, left + 1))
    store(symbols, first, resize_to(symbol, symbols))
    store(contexts, first, resize_to(context, contexts))
    size = size_words(
        exponent,
        fraction,
        lane(scratch, BIAS),
        lane(scratch, LIMIT),
        scratch.size_bits,
        block.width,
    )
    itself = both(symbol > ZERO - 1, symbol < ESCAPE)
    itself32 = resize_to(select(itself, word * 0 + 1, word * 0), scratch.size_bits) > 0
    store(scratch.size_bits, row * LANES, select(itself32, size * 0, size))


@jit_bare
def to_symbols(
    words: Any, places: Any, stride: int, block: Block, predictors: Any, scratch: Scratch,
    counts: Any, symbols: Any, contexts: Any, out: Any,
) -> Any:  # fmt: skip
    """Turn strips of words and residuals into symbols and bits.

    Parameters
    ----------
    words : signed, strips of `stride` rows
    places : rows of all strips, where pieces of `block.n_rows` begin that are coded
    counts : (2 * CONTEXTS * N_SYMBOLS,) uint32, added to
    symbols, contexts : (n + 32,) uint8, filled row by row, lanes in use alone
    out : (n,) uint8, bits are written to

    Returns
    -------
    tuple : symbols, bytes written
    """
    first, at, pending, used = 0, 0, np.uint64(0), np.uint64(0)
    nothing = load_floats(scratch.state, 0, ROW) * NONE
    mask = np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(64 - block.width)
    symbol_of, context_of = pointer(symbols, 0), pointer(contexts, 0)
    value_of, count_of = pointer(scratch.values, 0), pointer(scratch.counts, 0)
    tally = pointer(counts, 0)
    for first_row in places:
        active, some = begin_strip(block, predictors, first_row // stride, scratch)
        for row in range(block.n_rows):
            place = first_row + row
            encode_row(words, place, row, block, some, nothing, scratch, symbols, contexts, first)
            for i in range(active):
                symbol = np.int64(symbol_of[first + i])
                tally[np.int64(context_of[first + i]) * N_SYMBOLS + symbol] += np.uint32(1)
                value, count = np.uint64(value_of[i]) & mask, np.uint64(count_of[i])
                if symbol == ESCAPE:
                    word = np.uint64(words[place * LANES + i]) & mask
                    residual = scratch.lanes[IS_RESIDUAL * LANES + i]
                    at, pending, used = put_escape(
                        out, (at, pending, used), word, residual, block.width, block.mantissa
                    )
                else:
                    value = value if count else np.uint64(0)
                    at, pending, used = put(out, at, pending, used, value, count)
            first += active
    out[at] = pending
    return first, at + np.int64(used > np.uint64(0))


@jit_bare
def push_symbols(
    symbols: Any, contexts: Any, n_rows: int, n_series: int, frequencies: Any, inverses: Any,
    states: Any, out: Any,
) -> int:  # fmt: skip
    """Encode all symbols, the last first, into `out` from its end on; return where it begins.

    Parameters
    ----------
    inverses : 1 / frequency, float64
    states : (32,) uint32, LOWEST each; they become what the decoder starts with
    out : (n,) uint16, more items than symbols
    """
    at, i = len(out), len(symbols)
    state_of, item_of, entries = pointer(states, 0), pointer(out, 0), pointer(frequencies, 0)
    symbol_of, context_of, inverse_of = (
        pointer(symbols, 0),
        pointer(contexts, 0),
        pointer(inverses, 0),
    )
    for strip in range(-(-n_series // LANES) - 1, -1, -1):
        active = min(LANES, n_series - strip * LANES)
        for _ in range(n_rows):
            for lane_ in range(active - 1, -1, -1):
                i -= 1
                place = np.int64(context_of[i]) * STRIDE + np.int64(symbol_of[i])
                entry, state = np.int64(entries[place]), np.int64(state_of[lane_])
                frequency = entry & 0xFFFF
                long = state >= frequency << (32 - PRECISION)
                item_of[at - 1] = np.uint16(state)
                at -= np.int64(long)
                state = state >> 16 if long else state
                # a fraction is at least 2^-12 off the next whole number, rounding 2^-19
                whole = np.int64(np.float64(state) * inverse_of[place] + 2.0**-14)
                grown = (whole << PRECISION) + state - whole * frequency + (entry >> 16)
                state_of[lane_] = np.uint32(grown)
    return at


@jit_bare_inline
def pull_row(active: int, tables: Any, stream: Any, at: int, states: Any, scratch: Scratch) -> int:
    """Decode a symbol for each lane in use; return the place in the stream."""
    state_of, context_of = pointer(states, 0), pointer(scratch.contexts, 0)
    symbol_of, item_of = pointer(scratch.symbols, 0), pointer(stream, 0)
    slots, entries = pointer(tables.slots, 0), pointer(tables.frequencies, 0)
    for i in range(active):
        state = np.int64(state_of[i])
        slot = state & (TOTAL - 1)
        context = np.int64(context_of[i])
        symbol = np.int64(slots[context * TOTAL + slot])
        entry = np.int64(entries[context * STRIDE + symbol])
        grown = (entry & 0xFFFF) * (state >> PRECISION) + slot - (entry >> 16)
        more = grown << 16 | np.int64(item_of[at])  # looked at in any case: no branch to foresee
        short = grown < LOWEST
        state_of[i] = np.uint32(more if short else grown)
        at += np.int64(short)
        symbol_of[i] = fit(symbol, symbol_of)
    return at


@jit_bare_inline
def take(data: Any, position: int, count: Any) -> Any:
    """Return `count` <= 56 bits from a bit position on."""
    word = load_le64(data, position >> 3) >> np.uint64(position & 7)
    return word & ((np.uint64(1) << np.uint64(count)) - np.uint64(1))


@jit_bare_inline
def take_escape(
    data: Any, position: int, is_residual: Any, limit: Any, width: int, mantissa: int
) -> Any:
    """Return a value in full, the position behind it, and whether its exponent is impossible."""
    head = take(data, position, 1 + ESCAPED_EXPONENT)
    position += 1 + ESCAPED_EXPONENT
    exponent = min(head >> np.uint64(1), limit)
    wrong = exponent != head >> np.uint64(1)
    count = exponent if is_residual else np.uint64(mantissa)
    upper = min(count, np.uint64(32))
    fraction = take(data, position, upper) << np.uint64(1) << (np.uint64(63) - upper)
    position += np.int64(upper)
    low = take(data, position, count - upper)
    fraction |= low << np.uint64(1) << (np.uint64(63) - count)
    position += np.int64(count - upper)
    word = join(head & np.uint64(1), exponent, fraction, is_residual, width, mantissa)
    return word, exponent, fraction, position, wrong


@jit_bare_inline
def read_values(
    active: int,
    row: int,
    block: Block,
    scratch: Scratch,
    data: Any,
    position: int,
    words: Any,
    base: int,
) -> Any:
    """Take the bits of a row's lanes; return position, whether there were escapes, and wrong ones.

    Escaped values are put in their place; the vector pass leaves these lanes alone.
    """
    escaped, wrong = False, False
    count_of, value_of = pointer(scratch.counts, 0), pointer(scratch.values, 0)
    symbol_of = pointer(scratch.symbols, 0)
    for i in range(active):
        count = np.int64(count_of[i])
        value_of[i] = fit(take(data, position, count), value_of)
        position += count
        if symbol_of[i] == ESCAPE:
            escaped = True
            residual = scratch.lanes[IS_RESIDUAL * LANES + i]
            limit = np.uint64(block.width - 1 if residual else block.of_type[0, LIMIT])
            word, _, _, position, bad = take_escape(
                data, position, residual, limit, block.width, block.mantissa
            )
            wrong |= bad
            words[base + row * LANES + i] = word
    return position, escaped, wrong


@jit_bare_inline
def find_counts(symbol: Any, around: Any, scratch: Scratch, mantissa: int) -> Any:
    """Return exponents, bits told, those bits, and bits in all of a row's fractions."""
    off = both(symbol > PLANE - 1, symbol < ZERO)
    octave, told, quarter = from_symbol(select(off, symbol - PLANE, symbol))
    exponent = around + octave
    full = select(off, symbol * 0 + mantissa, grid_bits(exponent, scratch))
    left = maximum(full - told, symbol * 0)
    store(scratch.counts, 0, select(symbol > ZERO - 1, symbol * 0, left + 1))
    return exponent, told, quarter, maximum(full, told)


@jit_bare_inline
def decode_row(
    words: Any, base: int, row: int, block: Block, active: int, some: bool, around: Any,
    scratch: Scratch, data: Any, position: int,
) -> Any:  # fmt: skip
    """Fill a row of words from its symbols and bits; return the position, -1 where it is wrong."""
    width, mantissa = block.width, block.mantissa
    symbol = load(scratch.symbols, 0, ROW)
    exponent, _, quarter, full = find_counts(symbol, around, scratch, mantissa)
    is_common = symbol < ZERO
    beyond = either(exponent < 0, exponent > lane(scratch, LIMIT))
    impossible = any_lane(both(is_common, beyond))
    is_residual = lane(scratch, IS_RESIDUAL) > 0
    impossible |= any_lane(both(both(is_common, is_residual), exponent > LARGEST))
    if impossible:
        return np.int64(-1)
    position, escaped, wrong = read_values(active, row, block, scratch, data, position, words, base)
    if wrong:
        return np.int64(-1)
    value = load(scratch.values, 0, ROW)
    negative, below = value & 1, logical_shift_right(value, 1)
    exponent = select(is_common, exponent, symbol * 0)
    full = select(is_common, full, symbol * 0 + 2)
    fraction = (quarter << (width - 2)) | (below << 1 << ((width - 1) - full))
    word = join_floats(negative, exponent, fraction, width, mantissa)
    if some:
        word = select(is_residual, join_residuals(negative, exponent, fraction, width), word)
    minus = symbol * 0 + 1 << (width - 1)
    special = select(symbol == MINUS_ZERO, minus, symbol * 0)
    special = select(symbol == FAVOURITE, symbol * 0 + block.favourite, special)
    word = select(is_common, word, special)
    if escaped:
        kept = load(words, base + row * LANES, ROW)
        word = select(symbol == ESCAPE, kept, word)
        exponent, fraction = split_floats(word, width, mantissa)
        if some:
            other, rest = split_residuals(word, width)
            exponent = select(is_residual, other, exponent)
            fraction = select(is_residual, rest, fraction)
    store(words, base + row * LANES, word)
    size = size_words(
        exponent, fraction, lane(scratch, BIAS), lane(scratch, LIMIT), scratch.size_bits, width
    )
    has_size = either(is_common, symbol == ESCAPE)
    has_size32 = resize_to(select(has_size, symbol * 0 + 1, symbol * 0), scratch.size_bits) > 0
    store(scratch.size_bits, row * LANES, select(has_size32, size, size * 0))
    return position


@jit_bare
def from_symbols(
    words: Any, block: Block, predictors: Any, scratch: Scratch, tables: Any, states: Any,
    stream: Any, n_stream: int, data: Any, n_bits: int,
) -> Any:  # fmt: skip
    """Fill all strips of signed words with words and residuals.

    Parameters
    ----------
    stream : (n_stream + 32,) uint16
    data : (n,) uint8 with ROOM to spare behind `n_bits` bits

    Returns
    -------
    tuple : places in stream and bits; -1 as the first where they ran out or a value is impossible
    """
    at, position = 0, 0
    nothing = load_floats(scratch.state, 0, ROW) * NONE
    for strip in range(-(-block.n_series // LANES)):
        active, some = begin_strip(block, predictors, strip, scratch)
        for i in range(active, LANES):
            scratch.symbols[i] = ZERO
        base = strip * block.n_rows * LANES
        for row in range(block.n_rows):
            around, context = begin_row(block, row, nothing, scratch)
            store(scratch.contexts, 0, context)
            at = pull_row(active, tables, stream, at, states, scratch)
            if at > n_stream or position > n_bits:
                return -1, 0
            position = decode_row(
                words, base, row, block, active, some, around, scratch, data, position
            )
            if position < 0:
                return -1, 0
    return at, position
