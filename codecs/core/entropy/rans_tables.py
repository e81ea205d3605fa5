"""Range asymmetric numeral systems (Duda, 2013): static tables, 32 states over one stream.

Encoders and decoders of codecs step the states in their own loops. This module has
the tables, in memory and as stored. The SPEC.md of a codec defines the bits.
"""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.arrays import Bytes, Int64, UInt32s
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.words import load_le64, store_le64

PRECISION = 12  # bits; the frequencies of a table sum to 2^12
TOTAL = 1 << PRECISION
LOWEST = 1 << 16  # a state is in [2^16, 2^32): it reads and writes 16 bits at a time
STATES = 32
STRIDE = 256  # frequencies in a table: a power of two, with space for every symbol
FREQUENCY, OFFSET = 8, 20  # first bits of both in a decoder's table entry, above the symbol


@jit
def normalise(counts: UInt32s) -> None:
    """Scale symbol counts in place to frequencies that sum to TOTAL in each row; none becomes 0.

    The array is (n_tables, n_symbols) uint32. The rounding error is added to the largest count; a
    row of zeros stays.
    """
    for t in range(len(counts)):
        row = counts[t]
        total = row.sum()
        if total == 0:
            continue
        left, largest = TOTAL, 0
        for s in range(row.size):
            if row[s]:
                row[s] = max(1, row[s] * TOTAL // total)
                left -= row[s]
                if row[s] > row[largest]:
                    largest = s
        while left < 0:  # many rare symbols: take from the largest, one at a time
            row[largest] -= 1
            left += 1
            for s in range(row.size):
                if row[s] > row[largest]:
                    largest = s
        row[largest] += left


@jit
def write_tables(counts: UInt32s, n_symbols: int, out: Bytes) -> int:
    """Write frequency tables to zeroed (n,) uint8 with 8 bytes to spare; return the bytes used.

    Only the first n_symbols columns of counts, (n_tables, n), are written. A table has 1 bit: used
    or not. A used table has 1 bit per symbol: present or not, and for each present symbol PRECISION
    bits: its frequency - 1. The least significant bit is first.
    """
    at, pending, used = 0, np.uint64(0), 0
    for t in range(len(counts)):
        row = counts[t]
        some = row.sum() > 0
        pending |= np.uint64(some) << np.uint64(used)
        used += 1
        for s in range(n_symbols if some else 0):
            if row[s]:
                pending |= np.uint64(2 * (row[s] - 1) + 1) << np.uint64(used)
                used += 1 + PRECISION
            else:
                used += 1
            store_le64(out, at, pending)
            at += used >> 3
            pending >>= np.uint64(used & 56)
            used &= 7
    store_le64(out, at, pending)
    return int(at + (used + 7) // 8)


@jit
def read_tables(data: Bytes, stop: int, counts: UInt32s) -> int:
    """Read the frequencies of `write_tables` into `counts`; return the bytes read, -1 if invalid.

    Parameters
    ----------
    data : (n,) uint8, with 8 bytes to spare after `stop`
    stop : end of the valid bytes
    counts : (n_tables, n_symbols) uint32, filled
    """
    position = 0
    for t in range(len(counts)):
        row = counts[t]
        row[:] = 0
        used = load_le64(data, position >> 3) >> np.uint64(position & 7) & np.uint64(1)
        position += 1
        total = 0
        for s in range(row.size if used else 0):
            if position >> 3 > stop:
                return -1
            word = load_le64(data, position >> 3) >> np.uint64(position & 7)
            position += 1
            if word & np.uint64(1):
                row[s] = (word >> np.uint64(1) & np.uint64(TOTAL - 1)) + np.uint64(1)
                position += PRECISION
                total += row[s]
        if used and total != TOTAL:
            return -1
    size = (position + 7) // 8
    return size if size <= stop else -1


@jit
def build_encoder_table(counts: UInt32s, frequencies: UInt32s) -> None:
    """Fill `frequencies`, the encoder's table, from (n_tables, n_symbols) frequencies `counts`.

    frequencies : (n_tables * STRIDE,) uint32, filled with frequency | first slot << 16 of each
        symbol
    """
    for t in range(len(counts)):
        first = 0
        for s in range(counts.shape[1]):
            frequencies[t * STRIDE + s] = counts[t, s] | first << 16
            first += counts[t, s]


@jit
def build_decoder_table(counts: UInt32s, slots: UInt32s) -> None:
    """Fill `slots`, the decoder's table, from frequencies `counts` that sum to TOTAL or 0.

    An unused table decodes to endless symbols 0, so that invalid bytes stay in bounds.

    Parameters
    ----------
    slots : (n_tables * TOTAL,) uint32 of each slot: symbol, from bit 8 on its frequency - 1, from
        bit 20 on the slot's number among those of the symbol. One word has all of them: with
        separate tables, a decoder would wait for two look-ups in sequence.
    """
    for t in range(len(counts)):
        first = t * TOTAL
        for s in range(counts.shape[1]):
            first = fill_symbol(slots, first, s, counts[t, s])
        if first == t * TOTAL:
            fill_symbol(slots, first, 0, TOTAL)


@jit(inline=True)
def fill_symbol(slots: UInt32s, first: int, symbol: int, n: Int64) -> int:
    """Write the decoder's n slots of a symbol from slots[first] on; return the index after them."""
    entry = np.uint32(symbol) | np.uint32(n - 1) << np.uint32(FREQUENCY)
    for i in range(int(n)):
        slots[first + i] = entry | np.uint32(i) << np.uint32(OFFSET)
    return first + int(n)
