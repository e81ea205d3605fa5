"""The two passes over a block of the `dense` coder: values to symbols and bits, and back."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gangsaw.codecs.core.floats import load_le64, store_le64
from gangsaw.codecs.core.jit import jit_bare, jit_bare_inline
from gangsaw.codecs.core.rans import LOWEST, PRECISION, STRIDE, TOTAL
from gangsaw.codecs.visibility.dense_predict import LANES
from gangsaw.codecs.visibility.dense_scale import (
    CONTEXTS,
    RATES,
    SLOW,
    add_neighbours,
    find_contexts,
    follow,
)
from gangsaw.codecs.visibility.dense_symbols import (
    ESCAPE,
    FAVOURITE,
    MINUS_ZERO,
    OCTAVE,
    PLANE,
    TOLD,
    TOP,
    ZERO,
    symbol_of,
)
from gangsaw.codecs.visibility.dense_values import (
    ESCAPED_EXPONENT,
    FLOATS,
    LARGEST,
    RESIDUALS,
    join,
    size_bits,
    split,
)

MOST_BITS = 1 + ESCAPED_EXPONENT + 64  # that one value puts beside its symbol
ROOM = LANES * 16  # bytes to spare behind the bits: a row of such values


class Block(NamedTuple):
    """What kernels know of a block.

    Attributes
    ----------
    n_rows, n_times : of a strip
    n_series : lanes in use over all strips
    width, mantissa : bits of a word, of its mantissa
    means : kind of means (dense_scale)
    has_favourite : whether `favourite` is a word with a symbol of its own
    start : (2,) exponents, of either type, where no neighbour says one
    bits_of : (4, 2048) bits of the fraction by 2 * type + (off the grid) and exponent
    """

    n_rows: int
    n_times: int
    n_series: int
    width: int
    mantissa: int
    means: int
    has_favourite: bool
    favourite: Any
    start: Any
    bits_of: Any


class Scratch(NamedTuple):
    """What one call works with: sizes of a strip, and one row of everything else."""

    size_words: Any
    sizes: Any
    state: Any
    scale: Any
    start: Any
    exponents: Any
    contexts: Any
    types: Any
    bias: Any
    symbols: Any


def make_scratch(n_rows: int) -> Scratch:
    """Allocate what a strip of so many rows needs."""
    words = np.zeros(n_rows * LANES, np.uint32)
    row = np.zeros(LANES, np.int32)
    return Scratch(
        words,
        words.view(np.float32),
        np.zeros(LANES, np.float32),
        np.zeros((3, LANES), np.float32),
        row.copy(),
        row.copy(),
        row.copy(),
        row.copy() - 1,
        row.copy(),
        row.copy(),
    )


@jit_bare_inline
def begin_strip(block: Block, predictors: Any, strip: int, scratch: Scratch) -> int:
    """Set types, biases and starts of a strip's lanes; return how many are in use."""
    bias = (1 << (block.width - 2 - block.mantissa)) - 1
    for lane in range(LANES):
        kind = RESIDUALS if predictors[strip * LANES + lane] else FLOATS
        if kind != scratch.types[lane]:  # a running mean of the other type says nothing
            scratch.state[lane] = np.float32(0)
        scratch.types[lane] = kind
        scratch.bias[lane] = 0 if kind else bias
        scratch.start[lane] = block.start[kind]
    for i in range(block.n_rows * LANES):
        scratch.size_words[i] = np.uint32(0)
    return min(LANES, block.n_series - strip * LANES)


@jit_bare_inline
def begin_row(block: Block, row: int, scratch: Scratch) -> None:
    """Find exponents and contexts of a row's lanes from the rows before."""
    if block.means >= SLOW:
        near = follow(scratch.sizes, row, RATES[block.means], scratch.state, scratch.scale)
    else:
        near = add_neighbours(scratch.sizes, row, block.n_times, block.means, scratch.scale)
    find_contexts(scratch.scale, near, scratch.start, scratch.exponents, scratch.contexts)
    for lane in range(LANES):
        scratch.exponents[lane] += scratch.bias[lane]
        scratch.contexts[lane] += CONTEXTS * scratch.types[lane]


@jit_bare_inline
def put(out: Any, at: int, pending: Any, used: Any, value: Any, count: Any) -> Any:
    """Append `count` <= 56 bits of a value, least significant first; return the writer's state."""
    pending |= value << used
    store_le64(out, at, pending)
    total = used + count
    return at + np.int64(total >> np.uint64(3)), pending >> (total & np.uint64(120)), total & np.uint64(7)


@jit_bare
def to_symbols(
    words: Any, strip: int, block: Block, predictors: Any, scratch: Scratch, counts: Any,
    symbols: Any, contexts: Any, first: int, out: Any, writer: Any,
) -> Any:  # fmt: skip
    """Turn one strip of words and residuals (n_rows * 32,) into symbols and bits.

    Parameters
    ----------
    counts : (2 * CONTEXTS, N_SYMBOLS) uint32, added to
    symbols, contexts : (n,) uint8, filled from `first` on, row by row, lanes in use alone
    out : (n,) uint8, bits are appended to
    writer : bytes written, bits pending, their number

    Returns
    -------
    tuple : place behind the last symbol, and the writer
    """
    at, pending, used = writer
    active = begin_strip(block, predictors, strip, scratch)
    most = (1 << (block.width - 1 - block.mantissa)) - 1
    for row in range(block.n_rows):
        begin_row(block, row, scratch)
        for lane in range(active):
            word = np.uint64(words[row * LANES + lane])
            kind = scratch.types[lane]
            sign, exponent, fraction = split(word, kind, block.width, block.mantissa)
            context = scratch.contexts[lane]
            symbol, off = ESCAPE, 0
            if exponent <= 0 and fraction == np.uint64(0) and (kind == FLOATS or exponent < 0):
                symbol = MINUS_ZERO if sign else ZERO
            elif block.has_favourite and kind == FLOATS and word == block.favourite:
                symbol = FAVOURITE
            elif kind == FLOATS or exponent <= LARGEST:
                symbol = symbol_of(
                    exponent - scratch.exponents[lane], np.int64(fraction >> np.uint64(62))
                )
                count = np.uint64(block.bits_of[2 * kind, exponent])
                off = fraction << count >> np.uint64(0) != np.uint64(0) if count < 64 else False
                symbol += PLANE if off and symbol != ESCAPE else 0
            symbols[first] = symbol
            contexts[first] = context
            counts[context, symbol] += 1
            first += 1
            size = np.uint32(0)
            if symbol < ZERO or symbol == ESCAPE:
                size = size_bits(
                    exponent, fraction, scratch.bias[lane], most if kind == FLOATS else 0
                )
                full = np.int64(block.mantissa) if kind == FLOATS else exponent
                told = np.int64(0)
                if symbol == ESCAPE:
                    head = sign | np.uint64(exponent) << np.uint64(1)
                    at, pending, used = put(
                        out, at, pending, used, head, np.uint64(1 + ESCAPED_EXPONENT)
                    )
                    upper = min(full, 32)
                    value = fraction >> np.uint64(1) >> np.uint64(63 - upper)
                    at, pending, used = put(out, at, pending, used, value, np.uint64(upper))
                    rest = full - upper
                    value = fraction << np.uint64(upper) >> np.uint64(1) >> np.uint64(63 - rest)
                    at, pending, used = put(out, at, pending, used, value, np.uint64(rest))
                else:
                    full = np.int64(block.bits_of[2 * kind + off, exponent])
                    told = TOLD[symbol]
                    left = max(full - told, 0)
                    value = fraction << np.uint64(told) >> np.uint64(1) >> np.uint64(63 - left)
                    at, pending, used = put(
                        out, at, pending, used, sign | value << np.uint64(1), np.uint64(1 + left)
                    )
            scratch.size_words[row * LANES + lane] = size
    return first, (at, pending, used)


@jit_bare
def push_symbols(
    symbols: Any, contexts: Any, block: Block, frequencies: Any, states: Any, out: Any
) -> int:
    """Encode all symbols, the last first, into `out` from its end on; return where it begins.

    Parameters
    ----------
    states : (32,) uint32, LOWEST each; they become what the decoder starts with
    out : (n,) uint16, an item for each symbol at least
    """
    at, i = len(out), len(symbols)
    n_strips = -(-block.n_series // LANES)
    for strip in range(n_strips - 1, -1, -1):
        active = min(LANES, block.n_series - strip * LANES)
        for _ in range(block.n_rows):
            for lane in range(active - 1, -1, -1):
                i -= 1
                entry = frequencies[np.int64(contexts[i]) * STRIDE + symbols[i]]
                frequency, start = np.uint32(entry & np.uint32(0xFFFF)), entry >> np.uint32(16)
                state = states[lane]
                if np.uint64(state) >= np.uint64(frequency) << np.uint64(32 - PRECISION):
                    at -= 1
                    out[at] = np.uint16(state & np.uint32(0xFFFF))
                    state = np.uint32(state >> np.uint32(16))
                whole = np.uint32(state // frequency)
                states[lane] = np.uint32(
                    (whole << np.uint32(PRECISION)) + (state - whole * frequency) + start
                )
    return at


@jit_bare_inline
def pull_row(active: int, tables: Any, stream: Any, at: int, states: Any, scratch: Scratch) -> int:
    """Decode a symbol for each lane in use; return the place in the stream."""
    for lane in range(active):
        state = states[lane]
        slot = np.int64(state) & (TOTAL - 1)
        context = np.int64(scratch.contexts[lane])
        symbol = tables.slots[context * TOTAL + slot]
        entry = np.int64(tables.frequencies[context * STRIDE + symbol])
        grown = (entry & 0xFFFF) * (np.int64(state) >> PRECISION) + slot - (entry >> 16)
        short = grown < LOWEST
        states[lane] = np.uint32(grown << 16 | np.int64(stream[at]) if short else grown)
        at += short
        scratch.symbols[lane] = symbol
    return at


@jit_bare_inline
def take(data: Any, position: int, count: int) -> Any:
    """Return `count` <= 56 bits from a bit position on."""
    word = load_le64(data, position >> 3) >> np.uint64(position & 7)
    return word & ((np.uint64(1) << np.uint64(count)) - np.uint64(1))


@jit_bare
def from_symbols(
    words: Any, base: int, strip: int, block: Block, predictors: Any, scratch: Scratch, tables: Any,
    states: Any, stream: Any, at: int, n_stream: int, data: Any, position: int, n_bits: int,
) -> Any:  # fmt: skip
    """Fill one strip of words, from `base` on, with words and residuals.

    Parameters
    ----------
    stream : (n_stream + 32,) uint16
    data : (n,) uint8 with ROOM to spare behind `n_bits` bits

    Returns
    -------
    tuple : places in stream and bits; -1 as the first where they ran out or a value is impossible
    """
    active = begin_strip(block, predictors, strip, scratch)
    most = (1 << (block.width - 1 - block.mantissa)) - 1
    wrong = False
    for row in range(block.n_rows):
        begin_row(block, row, scratch)
        at = pull_row(active, tables, stream, at, states, scratch)
        if at > n_stream or position > n_bits or wrong:
            return np.int64(-1), np.int64(0)
        for lane in range(active):
            symbol, kind = scratch.symbols[lane], scratch.types[lane]
            place = row * LANES + lane
            if symbol < ZERO:
                off = symbol >= PLANE
                exponent = np.int64(scratch.exponents[lane] + OCTAVE[symbol])
                limit = LARGEST if kind else most
                wrong |= exponent < 0 or exponent > limit
                exponent = min(max(exponent, 0), limit)
                full, told = np.int64(block.bits_of[2 * kind + off, exponent]), TOLD[symbol]
                left = max(full - told, 0)
                value = take(data, position, 1 + left)
                position += 1 + left
                sign = value & np.uint64(1)
                fraction = np.uint64(TOP[symbol]) << np.uint64(1) << np.uint64(63 - told)
                low = value >> np.uint64(1) << np.uint64(1) << np.uint64(63 - max(full, told))
                fraction |= low
                bits = size_bits(exponent, fraction, scratch.bias[lane], 0 if kind else most)
                word = join(sign, exponent, fraction, kind, block.width, block.mantissa)
            elif symbol == ESCAPE:
                head = take(data, position, 1 + ESCAPED_EXPONENT)
                position += 1 + ESCAPED_EXPONENT
                exponent = np.int64(head >> np.uint64(1))
                limit = block.width - 1 if kind else most
                wrong |= exponent > limit
                exponent = min(exponent, limit)
                full = exponent if kind else np.int64(block.mantissa)
                upper = min(full, 32)
                fraction = take(data, position, upper) << np.uint64(1) << np.uint64(63 - upper)
                position += upper
                rest = full - upper
                fraction |= take(data, position, rest) << np.uint64(1) << np.uint64(63 - full)
                position += rest
                sign = head & np.uint64(1)
                bits = size_bits(exponent, fraction, scratch.bias[lane], 0 if kind else most)
                word = join(sign, exponent, fraction, kind, block.width, block.mantissa)
            else:
                bits = np.uint32(0)
                word = block.favourite if symbol == FAVOURITE else np.uint64(0)
                if symbol == MINUS_ZERO:
                    word = np.uint64(1) << np.uint64(block.width - 1)
            words[base + place] = word
            scratch.size_words[place] = bits
        for lane in range(active, LANES):
            words[base + row * LANES + lane] = 0
    return np.int64(at), np.int64(position)
