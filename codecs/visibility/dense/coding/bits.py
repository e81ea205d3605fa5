"""Bit output and input of `dense` blocks: bits that follow symbols, and escaped values in full."""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.arrays import Bytes
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.words import load_le64, store_le64
from gangsaw.codecs.visibility.dense.block import ESCAPED_EXPONENT
from gangsaw.codecs.visibility.dense.model.values import join, split


@jit(inline=True, part=True, norefs=True)
def write_bits(
    out: Bytes, at: int, pending: np.uint64, used: np.uint64, value: np.uint64, count: np.uint64
) -> Any:
    """Append `count` <= 56 bits of a value, least significant first; return the writer state."""
    pending |= value << used
    store_le64(out, at, pending)
    total = used + count
    whole = total & np.uint64(120)
    return at + np.int64(total >> np.uint64(3)), pending >> whole, total & np.uint64(7)


@jit(inline=True, part=True, norefs=True)
def finish(out: Bytes, writer: tuple[int, np.uint64, np.uint64]) -> Any:
    """Write the pending bits of a writer; return the total number of bytes written."""
    at, pending, used = writer
    out[at] = pending
    return at + np.int64(used > np.uint64(0))


@jit(inline=True, part=True, norefs=True)
def escaped_bits(exponent: np.uint64, is_residual: int, mantissa: int) -> Any:
    """Return the fraction bits of an escaped value, uint64 like its exponent."""
    return exponent if is_residual else np.uint64(mantissa)


@jit(inline=True, part=True, norefs=True)
def put_escape(
    out: Bytes,
    writer: tuple[int, np.uint64, np.uint64],
    word: np.uint64,
    is_residual: int,
    width: int,
    mantissa: int,
) -> Any:
    """Append an escaped value in full: sign, exponent, then the fraction in two parts."""
    at, pending, used = writer
    sign, exponent, fraction = split(word, is_residual, width, mantissa)
    head = sign | exponent << np.uint64(1)
    at, pending, used = write_bits(out, at, pending, used, head, np.uint64(1 + ESCAPED_EXPONENT))
    count = escaped_bits(exponent, is_residual, mantissa)
    upper = min(count, np.uint64(32))
    value = fraction >> np.uint64(1) >> (np.uint64(63) - upper)
    at, pending, used = write_bits(out, at, pending, used, value, upper)
    rest = count - upper
    value = fraction << upper >> np.uint64(1) >> (np.uint64(63) - rest)
    return write_bits(out, at, pending, used, value, rest)


@jit(inline=True, part=True, norefs=True)
def read_bits(data: Bytes, position: int, count: int | np.int64 | np.uint64) -> Any:
    """Return `count` <= 56 bits that begin at a bit position."""
    word = load_le64(data, position >> 3) >> np.uint64(position & 7)
    return word & ((np.uint64(1) << np.uint64(count)) - np.uint64(1))


@jit(inline=True, part=True, norefs=True)
def take_escape(
    data: Bytes, position: int, is_residual: int, limit: int | np.uint64, width: int, mantissa: int
) -> Any:
    """Decode an escaped value.

    Return its word, exponent and fraction, the end position, and True if the exponent is invalid.
    """
    head = read_bits(data, position, 1 + ESCAPED_EXPONENT)
    position += 1 + ESCAPED_EXPONENT
    exponent = min(head >> np.uint64(1), limit)
    wrong = exponent != head >> np.uint64(1)
    count = escaped_bits(exponent, is_residual, mantissa)
    upper = min(count, np.uint64(32))
    fraction = read_bits(data, position, upper) << np.uint64(1) << (np.uint64(63) - upper)
    position += int(upper)
    low = read_bits(data, position, count - upper)
    fraction |= low << np.uint64(1) << (np.uint64(63) - count)
    position += int(count - upper)
    word = join(head & np.uint64(1), exponent, fraction, is_residual, width, mantissa)
    return word, exponent, fraction, position, wrong
