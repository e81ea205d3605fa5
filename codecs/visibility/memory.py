"""The memory promise of the codec: a bound on what it allocates, by formula.

The suite over every codec measures it.
"""

from __future__ import annotations

PER_BLOCK = 2048  # kind, index, Python objects
PER_THREAD = 1 << 18  # tables and rows of a kernel
# of two components: symbols, contexts, sizes, bits and stream of `dense` at their longest; or the
# places of numbers that have no neighbour in memory
PER_NUMBER = 48


def peak_bytes(block_bytes: int, block_numbers: int, n_blocks: int, busy: int) -> int:
    """Return a bound on what coding a chunk holds beside it, in bytes.

    It holds the coded blocks twice, as blocks and as frame, each at most as long as raw, and for
    each busy thread words, residuals, what is being written, and places of numbers.
    """
    scratch = 4 * block_bytes + PER_NUMBER * block_numbers + PER_THREAD
    return 2 * n_blocks * (block_bytes + PER_BLOCK) + busy * scratch
