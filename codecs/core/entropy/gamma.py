"""Bit fields of headers, least significant bit first, and Elias gamma codes (P. Elias, 1975)."""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.arrays import Bytes, Int64
from gangsaw.codecs.core.entropy import bit_fields
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.words import load_le64, store_le64

SPARE = 16  # bytes that must follow the bytes that are read or written
MOST = 48  # most bits per read or write


@jit(inline=True, part=True)
def put_bits(out: Bytes, at: int, value: Int64, n: Int64) -> int:
    """Write the n <= MOST bits of a value to zeroed bytes at bit `at`; return the next bit."""
    word = load_le64(out, at >> 3) | np.uint64(value) << np.uint64(at & 7)
    store_le64(out, at >> 3, word)
    return at + int(n)


@jit(inline=True, part=True)
def get_bits(data: Bytes, at: int, n: Int64) -> Any:
    """Read n <= MOST bits at bit offset `at` of (m,) uint8, at least SPARE bytes before the end."""
    word = load_le64(data, at >> 3) >> np.uint64(at & 7)
    return np.int64(word & ((np.uint64(1) << np.uint64(n)) - np.uint64(1)))


@jit(inline=True)
def bit_length(value: Int64) -> int:
    """Return the bit length of a number >= 0."""
    n = 0
    while value >> n:
        n += 1
    return n


@jit(inline=True, part=True)
def put_gamma(out: Bytes, at: int, value: Int64) -> int:
    """Write the Elias gamma code of a number from 1 to 2^40; return the bit offset after it.

    The code is n zeros, then the n + 1 bits of the number, the highest one first.
    """
    n = bit_length(value) - 1
    at = put_bits(out, at + n, 1, 1)
    return put_bits(out, at, value - (1 << n), n)


@jit(inline=True, part=True)
def get_gamma(data: Bytes, at: int, stop: int) -> tuple[int, int]:
    """Read a number of `put_gamma` at bit offset `at`; return it and the offset after it.

    If the number is invalid or ends after `stop`, that offset is beyond `stop`.
    """
    n = 0
    while n < 41 and at + n < stop and get_bits(data, at + n, 1) == 0:
        n += 1
    end = at + 2 * n + 1
    if n > 40 or end > stop:
        return 1, stop + 1
    return get_bits(data, at + n + 1, n) | 1 << n, end


def gamma_fields(values: bit_fields.Ints) -> tuple[bit_fields.Ints, bit_fields.Ints]:
    """Return bit fields for `packed` that equal the codes of `put_gamma`: values and widths.

    values : (n,) int64, numbers >= 1
    """
    n = np.frexp(values.astype(np.float64))[1].astype(np.int64) - 1
    leading = np.int64(1) << n
    return leading | values - leading << n + 1, 2 * n + 1
