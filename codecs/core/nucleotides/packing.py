"""Packing of four codes per byte, the first in the high bits, as in stores, 2bit files, indexes."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.arrays import Bytes

PER_BYTE = 4
SIX, FOUR, TWO, ZERO = SHIFTS = np.array([6, 4, 2, 0], np.uint8)


def packed_size(n: int) -> int:
    """Return the bytes of n base codes, packed four per byte."""
    return -(-n // PER_BYTE)


def packed_codes(codes: Bytes) -> Bytes:
    """Pack (n,) base codes four per byte, (ceil(n / 4),) uint8; NOT_A_BASE and padding become 0."""
    whole = np.zeros(packed_size(codes.size) * PER_BYTE, np.uint8)
    whole[: codes.size] = codes & np.uint8(3)
    # column by column: NumPy's reduction over an axis of length four is slow
    first, second, third, last = whole.reshape(-1, PER_BYTE).T
    packed: Bytes = first << SIX | second << FOUR | third << TWO | last
    return packed


def unpacked_codes(packed: Bytes, n: int) -> Bytes:
    """Return the first n base codes of (ceil(n / 4),) uint8 with four codes per byte."""
    codes: Bytes = (packed[:, None] >> SHIFTS & np.uint8(3)).ravel()[:n]
    return codes


def build_unpacking_table(order: bytes) -> Bytes:
    """Return the four letters of each packed byte, (256, 4) uint8.

    order : letters of base codes 0 to 3
    """
    codes = unpacked_codes(np.arange(256, dtype=np.uint8), 4 * 256)
    return np.frombuffer(order, np.uint8)[codes].reshape(256, PER_BYTE)
