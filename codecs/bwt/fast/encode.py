"""Tokens to words: a rANS state a lane (J. Duda, 2013), all lanes side by side, backwards."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.bwt.fast.symbols import EXACT, WIDTH, bits_below
from gangsaw.codecs.bwt.fast.tables import KINDS, Tables
from gangsaw.codecs.bwt.fast.tokens import Tokens
from gangsaw.codecs.bwt.lanes.cut import Lanes
from gangsaw.codecs.core.numba.jit import jit, jit_norefs_inline
from gangsaw.codecs.core.numba.rans import LOWEST, PRECISION

RAW = 16  # bits that a state takes at once
U = np.uint64


def entries_of(tables: Tables, frequencies: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """Return (2, TOKENS) uint32: the frequency of each token, from bit 16 on its first slot."""
    both = frequencies | (np.cumsum(frequencies, axis=2, dtype=np.uint32) - frequencies) << 16
    rows = [both[kind][tables.table_of[kind]].ravel() for kind in range(KINDS)]
    return np.stack(rows).astype(np.uint32)


def encode_lanes(
    lanes: Lanes, tokens: Tokens, entries: npt.NDArray[np.uint32]
) -> list[npt.NDArray[np.uint8]]:
    """Return the bytes of each lane: its last state, then words in the order of reading."""
    ends = np.cumsum(tokens.words)
    words = np.empty(int(ends[-1]), np.uint16)
    begins = ends.copy()
    write_lanes(lanes, tokens, entries[0], entries[1], words, begins)
    both = zip(begins, ends, strict=True)
    return [words[a:b].astype("<u2", copy=False).view(np.uint8) for a, b in both]


@jit
def write_lanes(
    lanes: Any, tokens: Any, rank_entries: Any, length_entries: Any, words: Any, begins: Any
) -> None:
    """Write lanes so that each ends before words[begins[lane]]; set that to where it begins."""
    n_lanes = begins.size
    states = np.full(n_lanes, LOWEST, np.uint64)
    for back in range(1, np.diff(lanes.starts).max() + 1):
        for lane in range(n_lanes):
            run = lanes.starts[lane + 1] - back
            if run < lanes.starts[lane]:
                continue
            x, at = states[lane], begins[lane]
            token = U(tokens.lengths[run])
            symbol = token & U(WIDTH - 1)
            if symbol >= U(EXACT):
                x, at = _put_bits(x, at, lanes.lengths[run] - 1, bits_below(symbol), words)
            x, at = _put(x, at, length_entries[token], words)
            token = U(tokens.ranks[run])
            symbol = token & U(WIDTH - 1)
            if symbol >= U(EXACT):
                rank = np.int64(lanes.ranks[run]) - 1
                x, at = _put_raw(x, at, rank, bits_below(symbol), words)
            states[lane], begins[lane] = _put(x, at, rank_entries[token], words)
    for lane in range(n_lanes):
        if lanes.starts[lane] < lanes.starts[lane + 1]:
            begins[lane] -= 2
            words[begins[lane]] = states[lane] & U(0xFFFF)
            words[begins[lane] + 1] = states[lane] >> U(16)


@jit_norefs_inline
def _put(x: Any, at: Any, entry: Any, words: Any) -> Any:
    """Take a symbol into a state; return that and the place of the word written last."""
    frequency, first = U(entry) & U(0xFFFF), U(entry) >> U(16)
    is_full = x >= frequency << U(32 - PRECISION)
    words[at - 1] = x
    at -= 1 if is_full else 0
    x = x >> U(16) if is_full else x
    quotient = U(np.uint32(x) // np.uint32(frequency))
    return (quotient << U(PRECISION)) + (x - quotient * frequency) + first, at


@jit_norefs_inline
def _put_bits(x: Any, at: Any, value: Any, bits: Any, words: Any) -> Any:
    """Take the lowest bits of a number into a state: those above RAW are read last."""
    if bits > RAW:
        x, at = _put_raw(x, at, value >> RAW, bits - RAW, words)
        bits = RAW
    return _put_raw(x, at, value, bits, words)


@jit_norefs_inline
def _put_raw(x: Any, at: Any, value: Any, bits: Any, words: Any) -> Any:
    width = U(bits)
    if x >= U(1) << (U(32) - width):
        at -= 1
        words[at] = x
        x >>= U(16)
    return x << width | U(value) & ((U(1) << width) - U(1)), at
