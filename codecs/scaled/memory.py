"""The memory promise of the codec: a bound on what it allocates, by formula.

The suite over every codec measures it.
"""

from __future__ import annotations

PER_BLOCK = 4096  # heads, Python objects
PER_ITEM = 2  # of a busy thread: integers; what the codecs inside promise leaves room for masks


def peak_bytes(
    block_bytes: int, n_items: int, inner: int, floats: int, n_blocks: int, busy: int
) -> int:
    """Return a bound on what coding a chunk holds besides it, in bytes.

    It holds the payloads of all blocks twice, alone and in the frame, each at most as long as raw;
    and in each busy thread a block in one piece, its integers, and what the inner codec or that of
    floats needs.

    Parameters
    ----------
    block_bytes, n_items : of a block
    inner, floats : what these codecs hold of a block
    """
    payloads = 2 * n_blocks * (block_bytes + PER_BLOCK)
    return payloads + busy * (block_bytes + PER_ITEM * n_items + max(inner, floats))
