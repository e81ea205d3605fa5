"""rANS coder of `dense` symbols to a stream, and back, with one state per lane."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes, Float64s, UInt16s, UInt32s
from gangsaw.codecs.core.entropy.rans_tables import (
    FREQUENCY,
    LOWEST,
    OFFSET,
    PRECISION,
    STRIDE,
    TOTAL,
)
from gangsaw.codecs.core.numba.bits import fit, pointer
from gangsaw.codecs.core.numba.jit import HAS_AVX512, jit
from gangsaw.codecs.core.numba.vectors.gather import (
    count_lanes,
    gather,
    keep_items,
    quotients,
    spread_items,
)
from gangsaw.codecs.core.numba.vectors.integers import load, maximum, resize_to, select, store
from gangsaw.codecs.core.numba.vectors.logic import both, logical_shift_right
from gangsaw.codecs.visibility.dense.block import DenseBlock, StripScratch
from gangsaw.codecs.visibility.dense.model.scale import ROW
from gangsaw.codecs.visibility.dense.model.symbols import ZERO
from gangsaw.codecs.visibility.lanes.table import LANES

LANE_NUMBERS = np.arange(LANES, dtype=np.uint32)


class Symbols(NamedTuple):
    """Symbols of all values of a block, with their contexts and counts.

    Attributes
    ----------
    symbols, contexts : (n + 32,) uint8, row by row, only lanes in use
    counts : (2 * CONTEXTS * n_symbols,) uint32, count of each symbol in each context
    """

    symbols: Bytes
    contexts: Bytes
    counts: UInt32s


class SymbolCoder(NamedTuple):
    """Tables and states of the rANS encoder of symbols, with one state per lane.

    Attributes
    ----------
    frequencies : tables of `rans_tables.build_encoder_table`
    inverses : float64, 1 / frequency
    states : (32,) uint32, LOWEST each at first; the final states are the decoder's initial ones
    """

    frequencies: UInt32s
    inverses: Float64s
    states: UInt32s


class SymbolStream(NamedTuple):
    """Tables, states and stream of the rANS decoder of symbols.

    Attributes
    ----------
    slots : tables of all contexts (`rans_tables.build_decoder_table`)
    states : (32,) uint32, states of the lanes
    items : (n_items + 32,) uint16, the words of the stream
    """

    slots: npt.NDArray[np.uint32]
    states: npt.NDArray[np.uint32]
    items: npt.NDArray[np.uint16]
    n_items: int


@jit(inline=True, part=True, norefs=True)
def pull_in_turn(active: int, stream: SymbolStream, at: int, scratch: StripScratch) -> int:
    """Decode a symbol for each lane in use; return the next position in the stream."""
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
        more = grown << 16 | np.int64(item_of[at])  # always read, so there is no branch to predict
        short = grown < LOWEST
        state_of[i] = np.uint32(more if short else grown)
        at += int(short)
        symbol_of[i] = fit(entry & (STRIDE - 1), symbol_of)
    return at


@jit(inline=True, part=True, norefs=True)
def pull_at_once(active: int, stream: SymbolStream, at: int, scratch: StripScratch) -> int:
    """Decode a row of symbols like `pull_in_turn`, but with a gather.

    It is for CPUs that distribute items over lanes by a mask.
    """
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


@jit(inline=True, part=True, norefs=True)
def push_in_turn(
    active: int, coded: Symbols, first: int, coder: SymbolCoder, out: UInt16s, at: int
) -> int:
    """Encode a row of symbols, last lane first; return the new start of the stream in `out`."""
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
        # An exact quotient is either whole or at least 2^-12 below the next whole number; the
        # rounding error is 2^-19.
        whole = np.int64(np.float64(state) * inverse_of[place] + 2.0**-14)
        grown = (whole << PRECISION) + state - whole * frequency + (entry >> 16)
        state_of[i] = np.uint32(grown)
    return at


@jit(inline=True, part=True, norefs=True)
def push_at_once(
    active: int, coded: Symbols, first: int, coder: SymbolCoder, out: UInt16s, at: int
) -> int:
    """Encode a row of symbols like `push_in_turn`, but all lanes at once."""
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


@jit(norefs=True)
def push_symbols(
    coded: Symbols, n_symbols: int, block: DenseBlock, coder: SymbolCoder, out: UInt16s
) -> int:
    """Encode all symbols, last first, from the end of `out`; return the stream's start offset.

    Parameters
    ----------
    n_symbols : symbols of all lanes in use
    out : (n,) uint16, more items than symbols
    """
    at, first = len(out), n_symbols
    for strip in range(-(-block.n_series // LANES) - 1, -1, -1):
        active = min(LANES, block.n_series - strip * LANES)
        for _ in range(block.n_rows):
            first -= active
            at = push_row(active, coded, first, coder, out, at)
    return at
