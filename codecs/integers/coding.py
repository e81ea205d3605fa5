"""Kernels for rows of integers: one rANS state (J. Duda, 2013), and raw bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.arrays import Bytes, Int64s, NumpyArray, UInt16s, UInt32s
from gangsaw.codecs.core.entropy.rans_tables import (
    FREQUENCY,
    LOWEST,
    OFFSET,
    PRECISION,
    STRIDE,
    TOTAL,
)
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.words import load_le64, store_le64
from gangsaw.codecs.integers.symbols import (
    CONTEXTS,
    MANTISSA,
    PLAIN,
    SAME,
    context_of,
    symbol_of,
)

SPARE = 8  # bytes after raw bits


@jit
def encode_symbols(rows: NumpyArray, entries: UInt32s, words: UInt16s) -> Any:
    """Encode the symbols of rows, last first, to the end of `words`; return start and state.

    The start is an offset in `words`; the state is the decoder's initial one.

    Parameters
    ----------
    rows : (n, m) uint32
    entries : (m * CONTEXTS * STRIDE,) uint32, output of `rans_tables.build_encoder_table`
    words : (n * m,) uint16, filled from the end
    """
    x, at, m = np.int64(LOWEST), words.size, rows.shape[1]
    for i in range(rows.shape[0] - 1, -1, -1):
        for j in range(m - 1, -1, -1):
            above = int(rows[i - 1, j]) if i else 0
            symbol, _ = symbol_of(int(rows[i, j]), above)
            left = 0
            if j:
                over = int(rows[i - 1, j - 1]) if i else 0
                left = context_of(symbol_of(int(rows[i, j - 1]), over)[0])
            entry = np.int64(entries[(j * CONTEXTS + left) * STRIDE + symbol])
            frequency, first = entry & 0xFFFF, entry >> 16
            if x >= frequency << 32 - PRECISION:
                at -= 1
                words[at] = x & 0xFFFF
                x >>= 16
            x = (x // frequency << PRECISION) + x % frequency + first
    return at, x


@jit
def put_raw_bits(rows: NumpyArray, raw: Bytes) -> int:
    """Write the raw bits after each symbol to zeroed bytes; return the number of bits.

    The least significant bit comes first.

    raw : (4 n m + SPARE,) uint8
    """
    at = 0
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            value = int(rows[i, j])
            _, more = symbol_of(value, int(rows[i - 1, j]) if i else 0)
            if more:
                low = np.uint64(value & (1 << more) - 1)
                word = load_le64(raw, at >> 3) | low << np.uint64(at & 7)
                store_le64(raw, at >> 3, word)
                at += more
    return at


@jit
def decode_rows(
    out: NumpyArray, slots: UInt32s, tables: Int64s, state: int, words: UInt16s, raw: Bytes
) -> Any:
    """Decode rows to out, (n, m) uint32; return words read, raw bits read, and the last state.

    All reads stay in bounds, even for invalid data.

    Parameters
    ----------
    slots : (k * 4096,) uint32, output of `rans_tables.build_decoder_table`
    tables : (m, CONTEXTS) int64, offset of the slots of each table
    words : (w + 1,) uint16, the last one spare
    raw : (r + SPARE,) uint8
    """
    at, bit = 0, 0
    x: Any = np.int64(state)
    last_word, last_byte = words.size - 1, raw.size - SPARE
    for i in range(out.shape[0]):
        left = 0
        for j in range(out.shape[1]):
            entry = np.int64(slots[tables[j, left] + (x & TOTAL - 1)])
            x = ((entry >> FREQUENCY & TOTAL - 1) + 1) * (x >> PRECISION) + (entry >> OFFSET)
            if x < LOWEST:
                x = x << 16 | np.int64(words[min(at, last_word)])
                at += 1
            symbol: Any = entry & 255
            value: Any = symbol
            if symbol == SAME:
                value = np.int64(out[i - 1, j]) if i else 0
            elif symbol >= PLAIN:
                more = (symbol - PLAIN >> MANTISSA) + 2
                word = load_le64(raw, min(bit >> 3, last_byte)) >> np.uint64(bit & 7)
                low = np.int64(word & np.uint64((1 << more) - 1))
                value = 4 + (symbol - PLAIN & 3) << more | low
                bit += more
            out[i, j] = value
            left = context_of(symbol)
    return at, bit, x
