"""Encoder of effort fast, tokens to words: one rANS state per lane (J. Duda, 2013), backwards."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.bwt.fast.symbols import EXACT, WIDTH, bits_below
from gangsaw.codecs.bwt.fast.tables import KINDS, StaticTables
from gangsaw.codecs.bwt.fast.tokens import RunTokens
from gangsaw.codecs.bwt.lanes.cut import RunLanes
from gangsaw.codecs.core.arrays import Int64, Int64s, UInt16s, UInt32s
from gangsaw.codecs.core.entropy.rans_tables import LOWEST, PRECISION, TOTAL
from gangsaw.codecs.core.numba.jit import jit

RAW = 16  # bits coded into a state at once
STATE_WORDS = 2
RUN_WORDS = 5  # most words of a run: two symbols, bits of a rank, twice bits of a length
U = np.uint64
# For a state x < f * 2^20, x // f is exactly x * RECIPROCAL[f] >> SHIFT: the product is below 2^64,
# and rounding up adds x / 2^44 to the quotient, which is less than 1 / f.
SHIFT = 44
RECIPROCAL = (1 << SHIFT) // np.maximum(1, np.arange(TOTAL + 1, dtype=np.uint64)) + U(1)


def build_token_entries(
    tables: StaticTables, frequencies: npt.NDArray[np.uint32]
) -> npt.NDArray[np.uint32]:
    """Build the encoder's table, (2, TOKENS) uint32: frequency and, from bit 16 on, first slot.

    A token is a context with a symbol.
    """
    both = frequencies | (np.cumsum(frequencies, axis=2, dtype=np.uint32) - frequencies) << 16
    rows = [both[kind][tables.table_of[kind]].ravel() for kind in range(KINDS)]
    return np.stack(rows).astype(np.uint32)


def encode_fast_lanes(
    lanes: RunLanes, tokens: RunTokens, entries: npt.NDArray[np.uint32], most: int
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]] | None:
    """Encode the tokens of all lanes with rANS; None if there are more than `most` bytes.

    The result is the concatenated lanes and the bytes of each. A lane is its final state, then
    words in reading order; an empty lane has no bytes.
    """
    words = np.empty(most // 2 + RUN_WORDS + STATE_WORDS, np.uint16)
    begins = np.empty(lanes.sizes.size + 1, np.int64)
    if not write_lanes(lanes, tokens, entries[0], entries[1], words, begins):
        return None
    body = words[begins[0] :].astype("<u2", copy=False).view(np.uint8)
    return (body, 2 * np.diff(begins)) if body.size <= most else None


@jit
def write_lanes(
    lanes: RunLanes,
    tokens: RunTokens,
    rank_entries: UInt32s,
    length_entries: UInt32s,
    words: UInt16s,
    begins: Int64s,
) -> bool:
    """Encode all lanes with rANS up to the end of `words`; fill their start offsets and the end.

    Return False if `words` is too short.
    """
    at = words.size
    begins[-1] = at
    for lane in range(begins.size - 2, -1, -1):
        x, first = U(LOWEST), lanes.starts[lane]
        for run in range(lanes.starts[lane + 1] - 1, first - 1, -1):
            if at < RUN_WORDS + STATE_WORDS:
                return False
            token = U(tokens.lengths[run])
            symbol = token & U(WIDTH - 1)
            if symbol >= U(EXACT):
                length = np.int64(lanes.lengths[run]) - 1
                x, at = _put_bits(x, at, length, bits_below(symbol), words)
            x, at = _put(x, at, length_entries[token], words)
            token = U(tokens.ranks[run])
            symbol = token & U(WIDTH - 1)
            if symbol >= U(EXACT):
                rank = np.int64(lanes.ranks[run]) - 1
                x, at = _put_raw(x, at, rank, bits_below(symbol), words)
            x, at = _put(x, at, rank_entries[token], words)
        if lanes.starts[lane + 1] > first:
            at -= STATE_WORDS
            words[at], words[at + 1] = x & U(0xFFFF), x >> U(16)
        begins[lane] = at
    return True


@jit(inline=True, part=True, norefs=True)
def _put(x: np.uint64, at: int, entry: np.uint32, words: UInt16s) -> tuple[np.uint64, int]:
    """Encode a symbol into the rANS state x; return the state and the offset of the last word."""
    frequency, first = U(entry) & U(0xFFFF), U(entry >> np.uint32(16))
    is_full = x >= frequency << U(32 - PRECISION)
    words[U(at - 1)] = x
    at -= 1 if is_full else 0
    x = x >> U(16) if is_full else x
    quotient = x * RECIPROCAL[frequency] >> U(SHIFT)
    return quotient * (U(TOTAL) - frequency) + x + first, at


@jit(inline=True, part=True, norefs=True)
def _put_bits(
    x: np.uint64, at: int, value: Int64, bits: Int64, words: UInt16s
) -> tuple[np.uint64, int]:
    """Encode the lowest bits of a number into the rANS state x; bits above RAW are read last.

    Return the state and the offset of the last word.
    """
    if bits > RAW:
        x, at = _put_raw(x, at, value >> RAW, bits - RAW, words)
        bits = RAW
    return _put_raw(x, at, value, bits, words)


@jit(inline=True, part=True, norefs=True)
def _put_raw(
    x: np.uint64, at: int, value: Int64, bits: Int64, words: UInt16s
) -> tuple[np.uint64, int]:
    width = U(bits)
    is_full = x >= U(1) << (U(32) - width)
    words[U(at - 1)] = x
    at -= 1 if is_full else 0
    x = x >> U(16) if is_full else x
    return x << width | U(value) & ((U(1) << width) - U(1)), at
