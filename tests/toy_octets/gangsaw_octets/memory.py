"""The memory promise of the codec."""

from __future__ import annotations

PER_BYTE = 64  # places of runs, 8 bytes each, several times
PER_BLOCK = 1 << 11
FIXED = 1 << 16


def peak_bytes(n_bytes: int, n_blocks: int) -> int:
    """Return a bound on the memory of coding a chunk of so many bytes, without the chunk."""
    return PER_BYTE * n_bytes + PER_BLOCK * n_blocks + FIXED
