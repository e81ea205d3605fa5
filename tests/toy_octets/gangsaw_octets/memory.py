"""The memory promise of the codec."""

from __future__ import annotations

PER_BYTE = 6  # two bytes for each, as payload and in the frame; the chunk in C order
PER_BUSY = 64  # of blocks that are coded at once: places of runs, 8 bytes each, several times
PER_BLOCK = 1 << 11
FIXED = 1 << 16


def peak_bytes(n_bytes: int, n_blocks: int, busy: int) -> int:
    """Return a bound on the memory of coding a chunk, `busy` bytes at once, without the chunk."""
    return PER_BYTE * n_bytes + PER_BLOCK * n_blocks + PER_BUSY * busy + FIXED
