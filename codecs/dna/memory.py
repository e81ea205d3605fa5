"""The memory promise of the codec: a bound on what it allocates, by formula.

The suite over every codec measures it.
"""

from __future__ import annotations

PER_BLOCK = 1 << 14  # Python objects, the head
PER_BUSY = 1 << 16


def peak_bytes(items: int, n_blocks: int, busy: int) -> int:
    """Return a bound on what coding a chunk holds besides it, in bytes.

    Of each block its payload, twice where it moves into the frame; of one that is coded also the
    text in one piece, packed bases, and exceptions and cases of at most its length each.
    """
    return n_blocks * (2 * items + PER_BLOCK) + busy * (5 * items + PER_BUSY)
