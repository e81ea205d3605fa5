"""The memory promise of the toy codec."""

from __future__ import annotations

PER_BYTE = 16  # a line may be one byte, of which three are written: as payload, and in the frame
PER_BUSY = 32  # of blocks that are coded at once: objects of Python
FIXED = 1 << 16


def peak_bytes(n: int, busy: int) -> int:
    """Return a bound on the memory of coding n bytes, `busy` of them at once, without the chunk."""
    return PER_BYTE * n + PER_BUSY * busy + FIXED
