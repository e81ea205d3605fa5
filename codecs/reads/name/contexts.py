"""Contexts of bytes in streams: earlier bytes, as far as the mode of each stream uses them.

Encoder and decoder have the same history: SPEC.md, Names.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes, Int64, Int64s, UInt16s, UInt32s
from gangsaw.codecs.core.entropy.rans_lanes import RAW as RAW_BITS
from gangsaw.codecs.core.entropy.rans_lanes import Tokens
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.reads.name.streams import (
    BEFORE,
    FIRST_LINES,
    N_MODES,
    N_STREAMS,
    PER_COLUMN,
    RAW,
    REST,
)

SYMBOLS = 256
LENGTHS = 9  # number of bit lengths of a byte
SOURCES = 3  # contexts that a mode may use: modes from BEFORE on, two each


def _classes() -> npt.NDArray[np.int64]:
    """Return the index of a stream's table for each mode and context byte, (N_MODES, 256)."""
    out = np.zeros((N_MODES, SYMBOLS), np.int64)
    lengths = np.array([value.bit_length() for value in range(SYMBOLS)])
    out[BEFORE::2] = lengths
    out[BEFORE + 1 :: 2] = np.arange(SYMBOLS)
    return out


CLASSES = _classes().ravel()
TABLES_OF = np.array([0, 0, 1] + [LENGTHS, SYMBOLS] * SOURCES)  # tables of a stream, by its mode


OPERATION, BYTE, FIRST_BYTE, HAS_FIRST = range(4)  # indices of `History.line`


class History(NamedTuple):
    """Earlier bytes of a window of names, from which contexts are taken.

    Attributes
    ----------
    streams : (N_STREAMS,) uint8, the last byte of each stream
    line : (4,) uint8, for the current line: its last operation, last byte that is no operation,
        first such byte, and 1 if there was one
    """

    streams: npt.NDArray[np.uint8]
    line: npt.NDArray[np.uint8]


def no_memory() -> History:
    """Return the history at the start of a window."""
    return History(np.zeros(N_STREAMS, np.uint8), np.zeros(HAS_FIRST + 1, np.uint8))


@jit(inline=True, part=True, norefs=True)
def is_operation(stream: Int64) -> bool:
    """Return True if a stream contains the operations of a column."""
    return bool(stream % PER_COLUMN == 0 and stream < FIRST_LINES)


@jit(inline=True, part=True, norefs=True)
def remember(memory: History, stream: Int64, symbol: Int64) -> None:
    """Update the history with a byte of a stream."""
    memory.streams[stream] = symbol
    line = memory.line
    if not is_operation(stream):
        line[BYTE] = symbol
        if line[HAS_FIRST] == 0:
            line[FIRST_BYTE], line[HAS_FIRST] = symbol, 1
    elif symbol <= REST:  # END or REST: another line begins
        line[:] = 0
    else:
        line[OPERATION] = symbol


@jit(inline=True, part=True, norefs=True)
def _forget(memory: History) -> None:
    """Reset the history at the start of a window."""
    memory.streams[:] = 0
    memory.line[:] = 0


@jit(inline=True, part=True, norefs=True)
def context(memory: History, stream: Int64, mode: Int64) -> int:
    """Return the context byte of a stream's next byte in this mode."""
    if mode < BEFORE:
        return 0
    if mode < BEFORE + 2:
        return int(memory.streams[stream])
    if mode < BEFORE + 4:
        return int(memory.line[OPERATION if is_operation(stream) else BYTE])
    return int(memory.line[FIRST_BYTE])


@jit(norefs=True)
def note_contexts(
    tokens: Tokens,
    begin: int,
    ends: Int64s,
    most: int,
    memory: History,
    next_index: Int64s,
    out: UInt32s,
) -> None:
    """Record up to `most` bytes of some windows, each with its context byte of every kind.

    Parameters
    ----------
    begin : first token of the windows
    ends : (n_windows,) int64, end of each window's tokens
    next_index : (N_STREAMS,) int64, next index in `out` of each stream; updated
    out : (n,) uint32, filled with notes: a byte, then from bit 8 on a context byte of each kind
    """
    i, n = begin, 0
    for window in range(ends.size):
        _forget(memory)
        while i < ends[window] and n < most:
            stream = np.int64(tokens.tables[i])
            if stream < RAW_BITS:
                note = np.uint32(tokens.symbols[i])
                for source in range(SOURCES):
                    seen = np.uint32(context(memory, stream, BEFORE + 2 * source))
                    note |= seen << np.uint32(8 + 8 * source)
                out[next_index[stream]] = note
                next_index[stream] += 1
                remember(memory, stream, tokens.symbols[i])
                n += 1
            i += 1


@jit(norefs=True)
def assign_tables(
    tokens: Tokens, ends: Int64s, memory: History, modes: Bytes, base: Int64s
) -> None:
    """Replace the stream number of each token by its table, or its byte by raw bits, in place.

    modes : (N_STREAMS,) table mode of each stream
    base : (N_STREAMS,) first table of each stream
    """
    i = 0
    for window in range(ends.size):
        _forget(memory)
        while i < ends[window]:
            stream = np.int64(tokens.tables[i])
            if stream < RAW_BITS:
                mode = np.int64(modes[stream])
                seen = context(memory, stream, mode)
                table = base[stream] + CLASSES[mode * SYMBOLS + seen]
                tokens.tables[i] = RAW_BITS + 8 if mode == RAW else table
                remember(memory, stream, tokens.symbols[i])
            i += 1


@jit(norefs=True)
def count_streams(streams: UInt16s, totals: Int64s) -> None:
    """Add the number of tokens of each stream to `totals`, (N_STREAMS,) int64."""
    for i in range(streams.size):
        if streams[i] < RAW_BITS:
            totals[streams[i]] += 1
