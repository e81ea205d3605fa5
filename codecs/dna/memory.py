"""The memory promise of the codec: a bound on what it allocates, by formula.

The suite over every codec measures it.
"""

from __future__ import annotations

PER_BLOCK = 1 << 14  # Python objects, the head
PER_BUSY = 1 << 16
SPARE, FEW = (
    1 << 7,
    1 << 6,
)  # a payload has so many bytes for its head, and one of marks for so many


def likely_bytes(n: int) -> int:
    """Bytes that suffice for the payload of n bases that have few marks; its packed bases fit."""
    return -(-n // 4) + n // FEW + SPARE


def peak_bytes(items: int, n_blocks: int, busy: int) -> int:
    """Return a bound on what coding a chunk holds besides it, in bytes.

    Of each block the place that is reserved, and where it takes more, as other bytes than bases
    may, its payload twice: apart and in the frame. Of one that is coded also the text in one piece,
    packed bases, those in runs, and exceptions and cases of together at most 13 bytes for 8 letters
    (`split`).
    """
    packed = likely_bytes(items)
    coding = items + 2 * packed + items * 13 // 8 + PER_BUSY
    return n_blocks * (2 * items + packed + PER_BLOCK) + busy * coding
