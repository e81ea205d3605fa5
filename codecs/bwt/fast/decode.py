"""Words to bytes: all lanes side by side, a run of each in turn, so that their waits overlap."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.bwt.fast.symbols import (
    CONTEXTS,
    EXACT,
    STEP,
    after,
    bits_below,
    least_of,
    length_context,
    rank_context,
)
from gangsaw.codecs.bwt.fast.tables import KINDS, Tables
from gangsaw.codecs.bwt.lanes.ranks import LIST_WORDS, ONES, move_back
from gangsaw.codecs.core.numba.floats import store_le64
from gangsaw.codecs.core.numba.jit import jit_norefs, jit_norefs_inline
from gangsaw.codecs.core.numba.rans import (
    FREQUENCY,
    LOWEST,
    OFFSET,
    PRECISION,
    TOTAL,
    lay_out_slots,
)

RAW = 16
U = np.uint64
Places = npt.NDArray[np.int64]


class Slots(NamedTuple):
    """What a decoder looks up.

    Attributes
    ----------
    slots : (n_tables * 4096,) uint32, see `lay_out_slots`
    firsts : (2 * CONTEXTS,) uint64, of each context of ranks, then of lengths: where in `slots`
        those of its table begin
    """

    slots: npt.NDArray[np.uint32]
    firsts: npt.NDArray[np.uint64]


class LaneState(NamedTuple):
    """Lanes between two runs.

    Attributes
    ----------
    lists : (n_lanes * LIST_WORDS,) uint64
    lasts : (n_lanes,) int64, the highest rank of each
    states : (n_lanes,) uint64
    at, stops : (n_lanes,) int64, the next word of each and where they end
    out, ends : (n_lanes,) int64, the next byte of each and where they end
    smoothed : (n_lanes,) int64, ranks
    habits : (n_lanes * 256,) uint8
    """

    lists: npt.NDArray[np.uint64]
    lasts: Places
    states: npt.NDArray[np.uint64]
    at: Places
    stops: Places
    out: Places
    ends: Places
    smoothed: Places
    habits: npt.NDArray[np.uint8]


def slots_of(tables: Tables, frequencies: npt.NDArray[np.uint32]) -> Slots:
    """Return what a decoder looks up."""
    used = tables.table_of.max(axis=1) + 1
    rows = np.concatenate([frequencies[kind, : used[kind]] for kind in range(KINDS)])
    slots = np.empty(len(rows) * TOTAL, np.uint32)
    lay_out_slots(rows, slots)
    firsts = TOTAL * (tables.table_of + np.array([[0], [used[0]]]))
    return Slots(slots, firsts.astype(np.uint64).ravel())


@jit_norefs
def read_lanes(words: Any, slots: Any, lanes: Any, live: Any, out: Any) -> Any:
    """Write all lanes to a block; return whether each was as an encoder writes it.

    Parameters
    ----------
    words : (n,) uint16, at least 1
    live : (n_lanes,) int64, the lanes that are not empty
    out : (n,) uint8
    """
    wrong, n = False, live.size
    while n:
        kept = 0
        for k in range(n):
            lane = live[k]
            live[kept] = lane
            wrong |= _read_run(words, slots, lanes, U(lane), out)
            kept += 1 if lanes.out[lane] < lanes.ends[lane] else 0
        n = kept
    for lane in range(lanes.at.size):
        wrong |= lanes.at[lane] != lanes.stops[lane] or lanes.states[lane] != LOWEST
    return not wrong


@jit_norefs_inline
def _read_run(words: Any, slots: Any, lanes: Any, lane: Any, out: Any) -> Any:
    """Read and write a run of a lane; return whether something is wrong with it."""
    x, at, stop = lanes.states[lane], lanes.at[lane], lanes.stops[lane]
    first = lane * U(LIST_WORDS)
    symbol = lanes.lists[first] & U(255)
    own = lane << U(8) | symbol
    habits, smoothed = lanes.habits[own], lanes.smoothed[lane]
    token, x, at = _get(slots, rank_context(smoothed, habits), x, at, stop, words)
    rank = np.int64(token) + 1
    if token >= U(EXACT):
        value, x, at = _get_bits(token, x, at, stop, words)
        rank = value + 1
    lanes.smoothed[lane] = smoothed + ((np.int64(STEP[token]) - smoothed) >> 2)
    context = U(CONTEXTS) + length_context(habits, token)
    length_token, x, at = _get(slots, context, x, at, stop, words)
    length = np.int64(length_token) + 1
    if length_token >= U(EXACT):
        value, x, at = _get_bits(length_token, x, at, stop, words)
        length = value + 1
    lanes.habits[own] = after(habits, token, length_token)
    lanes.states[lane], lanes.at[lane] = x, at
    move_back(lanes.lists, first, U(rank) & U(255))
    begin, end = lanes.out[lane], lanes.ends[lane]
    lanes.out[lane] = begin + length
    _fill(out, begin, min(begin + length, end), end, symbol)
    return rank > lanes.lasts[lane] or length > end - begin


@jit_norefs_inline
def _get(slots: Any, context: Any, x: Any, at: Any, stop: Any, words: Any) -> Any:
    """Return the next symbol of a context, the state, the place."""
    entry = slots.slots[slots.firsts[context] + (x & U(TOTAL - 1))]
    frequency = U(entry >> np.uint32(FREQUENCY)) & U(TOTAL - 1)
    x = (frequency + U(1)) * (x >> U(PRECISION)) + U(entry >> np.uint32(OFFSET))
    x, at = _refill(x, at, stop, words)
    return U(entry) & U(255), x, at


@jit_norefs_inline
def _refill(x: Any, at: Any, stop: Any, words: Any) -> Any:
    """Take a word where the state is too low; the last one again where there are no more."""
    word = U(words[U(min(at, stop - 1))])
    is_low = x < U(LOWEST)
    return (x << U(16) | word if is_low else x), at + (1 if is_low else 0)


@jit_norefs_inline
def _get_bits(symbol: Any, x: Any, at: Any, stop: Any, words: Any) -> Any:
    """Return a number of a symbol, from the bits below it, the state, the place."""
    bits, value = bits_below(symbol), 0
    if bits > RAW:
        low = x & U(0xFFFF)
        x, at = _refill(x >> U(RAW), at, stop, words)
        value, bits = (
            np.int64(x & ((U(1) << U(bits - RAW)) - U(1))) << RAW | np.int64(low),
            bits - RAW,
        )
    else:
        value = np.int64(x & ((U(1) << U(bits)) - U(1)))
    x, at = _refill(x >> U(bits), at, stop, words)
    return least_of(symbol) | value, x, at


@jit_norefs_inline
def _fill(out: Any, begin: Any, stop: Any, end: Any, symbol: Any) -> None:
    """Write a symbol to out[begin:stop]; up to `end` what follows is written later."""
    if begin + 8 <= end:
        pattern = symbol * ONES
        store_le64(out, begin, pattern)
        begin += 8
        while begin < stop:
            if begin + 8 > end:
                break
            store_le64(out, begin, pattern)
            begin += 8
    for i in range(begin, stop):
        out[i] = symbol
