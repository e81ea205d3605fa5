"""Range asymmetric numeral systems (Duda, 2013): static tables, 32 states over one stream.

Encoder and decoder of a codec step the states themselves (`step_back`, in their loops); here are
the tables, as they are used and as they are stored. SPEC.md of the codec gives the bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.numba.floats import load_le64, store_le64
from gangsaw.codecs.core.numba.jit import jit, jit_inline

PRECISION = 12  # bits; the frequencies of a table sum to 2^12
TOTAL = 1 << PRECISION
LOWEST = 1 << 16  # a state lies in [2^16, 2^32): it takes and gives 16 bits at a time
STATES = 32
STRIDE = 256  # places of a table's frequencies: a power of two that holds every symbol
FREQUENCY, OFFSET = 8, 20  # bits where these begin of what a decoder looks up, above the symbol


@jit
def normalise(counts: Any) -> None:
    """Scale each row of (n_tables, n_symbols) uint32 to TOTAL; what occurs keeps 1 at least.

    What rounding leaves goes to, or comes from, the largest; a row of zeros stays.
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
def write_tables(counts: Any, n_symbols: int, out: Any) -> int:
    """Write normalised tables to zeroed (n,) uint8 with 8 bytes to spare; return the bytes used.

    Of the symbols of (n_tables, n) counts these are the first.

    Per table 1 bit: is it used; if so per symbol 1 bit: does it occur; if so PRECISION bits, its
    frequency - 1. Least significant bit first.
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
def read_tables(data: Any, stop: int, counts: Any) -> int:
    """Fill counts (n_tables, n_symbols) from padded bytes; return the bytes read, -1 if wrong.

    Parameters
    ----------
    data : (n,) uint8, with 8 bytes to spare behind `stop`
    stop : bytes that belong to it
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
def lay_out(counts: Any, frequencies: Any) -> None:
    """Fill what an encoder looks up from (n_tables, n_symbols) frequencies.

    frequencies : (n_tables * STRIDE,) uint32, frequency | first slot << 16 of each symbol
    """
    for t in range(len(counts)):
        first = 0
        for s in range(counts.shape[1]):
            frequencies[t * STRIDE + s] = counts[t, s] | first << 16
            first += counts[t, s]


@jit
def lay_out_slots(counts: Any, slots: Any) -> None:
    """Fill what a decoder looks up from (n_tables, n_symbols) frequencies that sum to TOTAL or 0.

    A table that is not used decodes to symbol 0 without end, so that false bytes stay in bounds.

    Parameters
    ----------
    slots : (n_tables * TOTAL,) uint32 of each slot: symbol, from bit 8 on its frequency - 1, from
        bit 20 on the slot's number among those of the symbol. All in one: a decoder would wait for
        two look-ups, one after the other, if the symbol alone led to its frequency.
    """
    for t in range(len(counts)):
        first = t * TOTAL
        for s in range(counts.shape[1]):
            first = _fill(slots, first, s, counts[t, s])
        if first == t * TOTAL:
            _fill(slots, first, 0, TOTAL)


@jit_inline
def _fill(slots: Any, first: int, symbol: int, n: Any) -> int:
    """Lay out the slots of a symbol; return the place behind them."""
    entry = np.uint32(symbol) | np.uint32(n - 1) << np.uint32(FREQUENCY)
    for i in range(int(n)):
        slots[first + i] = entry | np.uint32(i) << np.uint32(OFFSET)
    return first + int(n)
