"""Decoder of effort fast, words to bytes: lanes are interleaved to overlap latencies."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.bwt.fast.symbols import (
    CONTEXTS,
    EXACT,
    STEP,
    bits_below,
    get_least_number,
    length_context,
    rank_context,
    update_symbol_state,
)
from gangsaw.codecs.bwt.fast.tables import KINDS, StaticTables
from gangsaw.codecs.bwt.lanes.ranks import ONES, move_back
from gangsaw.codecs.core.arrays import Bytes, UInt16s, UInt64s
from gangsaw.codecs.core.entropy.rans_tables import (
    FREQUENCY,
    LOWEST,
    OFFSET,
    PRECISION,
    TOTAL,
    build_decoder_table,
)
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.words import store_le64

RAW = 16  # bits read from a state at once
SPARE = 8  # words after all lanes: a run consumes 5 at most, and is checked afterwards
# A lane between two runs is a row of uint64: its state; the next word and the end of words; the
# next byte and the end of bytes; the smoothed rank; the highest rank; the list. One array, as a
# kernel with a dozen addresses spills registers.
U = np.uint64
STATE, AT, STOP, OUT, END, SMOOTHED, LAST, LIST = (U(i) for i in range(8))
ROW_BITS = 6
ROW = 1 << ROW_BITS
SYMBOL_STATES_OF_ROW = U(8 - ROW_BITS)  # 256 bytes per lane, so a row's offset is shifted

Words = npt.NDArray[np.uint16]
Rows = npt.NDArray[np.uint64]


class Slots(NamedTuple):
    """Look-up tables of the rANS decoder for ranks and lengths.

    Attributes
    ----------
    slots : (n_tables * 4096,) uint32, see `build_decoder_table`
    firsts : (2 * CONTEXTS,) uint64, offset in `slots` of the table of each context, ranks first,
        then lengths
    """

    slots: npt.NDArray[np.uint32]
    firsts: npt.NDArray[np.uint64]


def slots_of(tables: StaticTables, frequencies: npt.NDArray[np.uint32]) -> Slots:
    """Build the look-up tables of the decoder from frequency tables."""
    rows, numbers = used_tables(tables, frequencies)
    slots = np.empty(len(rows) * TOTAL, np.uint32)
    build_decoder_table(rows, slots)
    return Slots(slots, (TOTAL * numbers).astype(np.uint64))


def used_tables(
    tables: StaticTables, frequencies: npt.NDArray[np.uint32]
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
    """Return the frequency tables in use, (k, WIDTH), ranks first, and each context's table."""
    used = tables.table_of.max(axis=1) + 1
    rows = np.concatenate([frequencies[kind, : used[kind]] for kind in range(KINDS)])
    return rows, (tables.table_of + np.array([[0], [used[0]]])).ravel()


def decode_fast_lanes(words: Words, slots: Slots, rows: Rows, out: npt.NDArray[np.uint8]) -> bool:
    """Decode all lanes to a string; return True if an encoder could have written each of them.

    Parameters
    ----------
    words : (n,) uint16, rANS words of the lanes, and SPARE more
    rows : (n_lanes, ROW) uint64, states of non-empty lanes before their first run; updated
    out : (n,) uint8, the transformed string
    """
    live = np.arange(len(rows), dtype=np.uint64) * U(ROW)
    symbol_states = np.zeros(len(rows) << 8, np.uint8)
    return bool(read_lanes(words, slots, rows.reshape(-1), live, symbol_states, out))


@jit(norefs=True)
def read_lanes(
    words: UInt16s, slots: Slots, rows: UInt64s, live: UInt64s, symbol_states: Bytes, out: Bytes
) -> bool:
    """Decode the runs of all lanes of a block into `out`; return False if the bytes are corrupt.

    words : entropy-coded words of all lanes
    slots : decoding tables
    rows : states of the lanes, ROW values each
    live : (n_lanes,) uint64, offset of each lane's state in `rows`
    symbol_states : (n_lanes * 256,) uint8, zeros: adaptive state of each lane and symbol
    """
    n = live.size
    while n:
        kept = 0
        for k in range(n):
            row = live[k]
            if not _read_run(words, slots, rows, row, symbol_states, out):
                return False
            live[kept] = row
            kept += 1 if rows[row + OUT] < rows[row + END] else 0
        n = kept
    for row in range(0, rows.size, ROW):
        place = U(row)
        if rows[place + AT] != rows[place + STOP] or rows[place + STATE] != U(LOWEST):
            return False
    return True


@jit(inline=True, part=True, norefs=True)
def _read_run(
    words: UInt16s, slots: Slots, rows: UInt64s, row: np.uint64, symbol_states: Bytes, out: Bytes
) -> bool:
    """Decode a run of a lane and write its bytes; return True if it is valid."""
    x, at, smoothed = rows[row + STATE], rows[row + AT], rows[row + SMOOTHED]
    symbol = rows[row + LIST] & U(255)
    own = (row << SYMBOL_STATES_OF_ROW) + symbol
    symbol_state = symbol_states[own]
    rank_symbol, x, at = _get(slots, rank_context(smoothed, symbol_state), x, at, words)
    rank = rank_symbol
    if rank_symbol >= U(EXACT):
        rank, x, at = _get_bits(rank_symbol, x, at, words)
    step = np.int64(STEP[rank_symbol]) - np.int64(smoothed)
    rows[row + SMOOTHED] = smoothed + U(step >> 2)
    context = U(CONTEXTS) + length_context(symbol_state, rank_symbol)
    length_symbol, x, at = _get(slots, context, x, at, words)
    length = length_symbol
    if length_symbol >= U(EXACT):
        length, x, at = _get_bits(length_symbol, x, at, words)
    symbol_states[own] = update_symbol_state(symbol_state, rank_symbol, length_symbol)
    rows[row + STATE], rows[row + AT] = x, at
    begin, end = rows[row + OUT], rows[row + END]
    if (rank >= rows[row + LAST]) | (length >= end - begin) | (at > rows[row + STOP]):
        return False
    move_back(rows, row + LIST, rank + U(1))
    rows[row + OUT] = begin + length + U(1)
    _fill(out, begin, begin + length + U(1), end, symbol)
    return True


@jit(inline=True, part=True, norefs=True)
def _get(
    slots: Slots, context: np.uint64, x: np.uint64, at: np.uint64, words: UInt16s
) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Decode a symbol of a context with rANS; return it, the new state and the word offset."""
    entry = slots.slots[slots.firsts[context] + (x & U(TOTAL - 1))]
    frequency = U(entry >> np.uint32(FREQUENCY)) & U(TOTAL - 1)
    x = (frequency + U(1)) * (x >> U(PRECISION)) + U(entry >> np.uint32(OFFSET))
    x, at = _refill(x, at, words)
    return U(entry) & U(255), x, at


@jit(inline=True, part=True, norefs=True)
def _refill(x: np.uint64, at: np.uint64, words: UInt16s) -> tuple[np.uint64, np.uint64]:
    """Append a word to the rANS state x if it is too low; return the state and the word offset."""
    word = U(words[at])
    is_low = x < U(LOWEST)
    return (x << U(16) | word if is_low else x), at + (U(1) if is_low else U(0))


@jit(inline=True, part=True, norefs=True)
def _get_bits(
    symbol: np.uint64, x: np.uint64, at: np.uint64, words: UInt16s
) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Decode the extra bits of a symbol >= EXACT; return its number, the state, the word offset."""
    bits, low, shift = U(bits_below(symbol)), U(0), U(0)
    if bits > U(RAW):
        low, shift, bits = x & U(0xFFFF), U(RAW), bits - U(RAW)
        x, at = _refill(x >> U(RAW), at, words)
    value = (x & ((U(1) << bits) - U(1))) << shift | low
    x, at = _refill(x >> bits, at, words)
    return U(get_least_number(symbol)) | value, x, at


@jit(inline=True, part=True, norefs=True)
def _fill(out: Bytes, begin: np.uint64, stop: np.uint64, end: np.uint64, symbol: np.uint64) -> None:
    """Write a symbol to out[begin:stop] in 8-byte words, which may overwrite up to out[end]."""
    pattern = symbol * ONES
    if begin + U(16) <= end:
        store_le64(out, np.int64(begin), pattern)
        store_le64(out, np.int64(begin + U(8)), pattern)
        begin += U(16)
    while begin < stop and begin + U(8) <= end:
        store_le64(out, np.int64(begin), pattern)
        begin += U(8)
    while begin < stop:
        out[begin] = symbol
        begin += U(1)
