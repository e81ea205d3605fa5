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


PER_BLOCK_OF_DEVICE = 1 << 14  # rows of tables; allocations are of 512 bytes


def encoder_device_bytes(letters: int) -> int:
    """Return a bound on the device memory to encode one block, and to decode it.

    A copy in one piece, packed bases, their runs; what marks begin and end with, 8 bytes for each
    kind of which none takes less than 2; marks and payload.
    """
    encoder = 7 * letters + PER_BLOCK_OF_DEVICE
    return max(encoder, decoder_device_bytes(letters, letters))


def decoder_device_bytes(n_bytes: int, letters: int) -> int:
    """Return a bound on the device memory to decode one block of so many bytes.

    Payload, target in one piece, packed bases, 12 bytes for each run of 2 or more.
    """
    return 7 * n_bytes + 2 * letters + PER_BLOCK_OF_DEVICE
