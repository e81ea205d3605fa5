"""Memory bound of the codec: formulas for the bytes that it allocates.

The test suite of all codecs measures them.
"""

from __future__ import annotations

PER_BLOCK = 4096  # heads, Python objects
# bytes of integers per busy thread; the bounds of the inner codecs include space for masks
PER_ITEM = 2


def peak_bytes(
    block_bytes: int, n_items: int, inner: int, floats: int, n_blocks: int, busy: int
) -> int:
    """Return an upper bound of the bytes to code a chunk, without the chunk itself.

    It includes the payloads of all blocks twice, alone and in the frame, each at most as long as
    raw. Each busy thread adds a contiguous block, its integers, and the memory of the inner codec
    or the codec of floats.

    Parameters
    ----------
    block_bytes, n_items : bytes and items of a block
    inner, floats : bounds of these codecs for a block
    """
    payloads = 2 * n_blocks * (block_bytes + PER_BLOCK)
    return payloads + busy * (block_bytes + PER_ITEM * n_items + max(inner, floats))
