"""Memory bound of the codec: formulas for the bytes that it allocates.

The test suite of all codecs measures them.
"""

from __future__ import annotations

from gangsaw.codecs.core.entropy.rans_tables import STRIDE, TOTAL
from gangsaw.codecs.integers.symbols import CONTEXTS, SYMBOLS

PER_BLOCK = 1 << 9  # Python objects, the head
PER_BUSY = 1 << 14
PER_TABLE = 4 * (TOTAL + STRIDE + 3 * SYMBOLS)  # slots; counts, frequencies, stored tables


def peak_bytes(rows: int, columns: int, n_blocks: int, busy: int) -> int:
    """Return an upper bound of the bytes to code a chunk, without the chunk itself.

    It includes the payloads of all blocks twice, alone and in the frame, each at most as long as
    raw. Each busy thread adds a contiguous block, words and raw bits, a copy of these when they are
    joined, and tables.
    """
    items = rows * columns
    payloads = 2 * n_blocks * (4 * items + PER_BLOCK)
    return payloads + busy * (16 * items + columns * CONTEXTS * PER_TABLE + PER_BUSY)
