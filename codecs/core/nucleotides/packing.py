"""Four codes a byte, the first in its high bits: what stores, 2bit files and indexes have."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.nucleotides.codes import Octets

PER_BYTE = 4
SIX, FOUR, TWO, ZERO = SHIFTS = np.array([6, 4, 2, 0], np.uint8)


def packed_size(n: int) -> int:
    """Bytes of n codes."""
    return -(-n // PER_BYTE)


def packed_codes(codes: Octets) -> Octets:
    """Return (ceil(n / 4),) bytes of codes; NOT_A_BASE is 0, as is what the last byte lacks."""
    whole = np.zeros(packed_size(codes.size) * PER_BYTE, np.uint8)
    whole[: codes.size] = codes & np.uint8(3)
    # column by column: NumPy's reduction over an axis of four takes its time
    first, second, third, last = whole.reshape(-1, PER_BYTE).T
    packed: Octets = first << SIX | second << FOUR | third << TWO | last
    return packed


def unpacked_codes(packed: Octets, n: int) -> Octets:
    """Return the n codes of (ceil(n / 4),) bytes."""
    codes: Octets = (packed[:, None] >> SHIFTS & np.uint8(3)).ravel()[:n]
    return codes


def letters_of_bytes(order: bytes) -> Octets:
    """Return (256, 4), the four letters of each byte, where these are those of codes 0 to 3."""
    codes = unpacked_codes(np.arange(256, dtype=np.uint8), 4 * 256)
    return np.frombuffer(order, np.uint8)[codes].reshape(256, PER_BYTE)
