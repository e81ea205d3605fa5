"""The memory promise of the toy codec."""

from __future__ import annotations

PER_BYTE = 256  # a line may be one byte: an object of Python for it, and three bytes before it
FIXED = 1 << 16


def peak_bytes(n: int) -> int:
    """Return a bound on the memory of coding a chunk of n bytes, without the chunk."""
    return PER_BYTE * n + FIXED
