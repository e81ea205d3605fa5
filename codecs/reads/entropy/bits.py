"""Bits of heads, least significant first, and Elias's gamma code (P. Elias, 1975) of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core import fields
from gangsaw.codecs.core.numba.floats import load_le64, store_le64
from gangsaw.codecs.core.numba.jit import jit_inline, jit_inline_part

SPARE = 16  # bytes that must follow what is read or written
MOST = 48  # bits that are read or written at once


@jit_inline_part
def put_bits(out: Any, at: int, value: Any, n: Any) -> int:
    """Write n <= MOST bits to zeroed (m,) uint8 at bit `at`; return the bit behind them."""
    word = load_le64(out, at >> 3) | np.uint64(value) << np.uint64(at & 7)
    store_le64(out, at >> 3, word)
    return at + int(n)


@jit_inline_part
def get_bits(data: Any, at: int, n: Any) -> Any:
    """Read n <= MOST bits from (m,) uint8 at bit `at`, which is within it less SPARE bytes."""
    word = load_le64(data, at >> 3) >> np.uint64(at & 7)
    return np.int64(word & ((np.uint64(1) << np.uint64(n)) - np.uint64(1)))


@jit_inline
def bit_length(value: Any) -> int:
    """Bits of a number >= 0."""
    n = 0
    while value >> n:
        n += 1
    return n


@jit_inline_part
def put_gamma(out: Any, at: int, value: Any) -> int:
    """Write a number from 1 to 2^40: n zeros, then its n + 1 bits, the highest one first."""
    n = bit_length(value) - 1
    at = put_bits(out, at + n, 1, 1)
    return put_bits(out, at, value - (1 << n), n)


@jit_inline_part
def get_gamma(data: Any, at: int, stop: int) -> tuple[int, int]:
    """Read such a number; return it, and the bit behind it: beyond `stop` where it is none."""
    n = 0
    while n < 41 and at + n < stop and get_bits(data, at + n, 1) == 0:
        n += 1
    end = at + 2 * n + 1
    if n > 40 or end > stop:
        return 1, stop + 1
    return get_bits(data, at + n + 1, n) | 1 << n, end


def gamma_fields(values: fields.Ints) -> tuple[fields.Ints, fields.Ints]:
    """Return what `put_gamma` writes of numbers from 1 on, and how many bits of each."""
    n = np.frexp(values.astype(np.float64))[1].astype(np.int64) - 1
    leading = np.int64(1) << n
    return leading | values - leading << n + 1, 2 * n + 1
