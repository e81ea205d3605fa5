"""Symbols of integers, counted by column and by the symbol to the left. Compiled."""

from __future__ import annotations

from gangsaw.codecs.core.arrays import NumpyArray, UInt32s
from gangsaw.codecs.core.numba.jit import jit

PLAIN = 16  # integers below are their own symbols
MANTISSA = 2  # bits after the leading one that belong to a symbol
LEAST_BITS = 5  # least bits of an integer that is not plain
SAME = PLAIN + (28 << MANTISSA)  # symbol of an integer that is not plain and equals the one above
SYMBOLS = SAME + 1
CONTEXTS = 16  # symbols to the left; the last context includes all larger ones


@jit(inline=True, part=True, norefs=True)
def symbol_of(value: int, above: int) -> tuple[int, int]:
    """Return the symbol of an integer, and the number of raw bits after it.

    above : integer of the same column in the row before
    """
    if value < PLAIN:
        return value, 0
    if value == above:
        return SAME, 0
    bits = LEAST_BITS
    while value >> bits:
        bits += 1
    more = bits - MANTISSA - 1
    return PLAIN + (bits - LEAST_BITS << MANTISSA) + (value >> more & 3), more


@jit(inline=True, part=True, norefs=True)
def context_of(symbol: int) -> int:
    """Return the context of the integer to the right of one with this symbol."""
    return min(symbol, CONTEXTS - 1)


@jit
def count_symbols(rows: NumpyArray, counts: UInt32s) -> None:
    """Count the symbols of rows by column and context.

    Parameters
    ----------
    rows : (n, m) uint32
    counts : (m, CONTEXTS, SYMBOLS) uint32, zeros, filled
    """
    for i in range(rows.shape[0]):
        left = 0
        for j in range(rows.shape[1]):
            above = int(rows[i - 1, j]) if i else 0
            symbol, _ = symbol_of(int(rows[i, j]), above)
            counts[j, left, symbol] += 1
            left = context_of(symbol)
