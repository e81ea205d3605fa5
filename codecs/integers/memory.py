"""The memory promise of the codec: a bound on what it allocates, by formula.

The suite over every codec measures it.
"""

from __future__ import annotations

from gangsaw.codecs.core.numba.rans import STRIDE, TOTAL
from gangsaw.codecs.integers.symbols import CONTEXTS, SYMBOLS

PER_BLOCK = 1 << 9  # Python objects, the head
PER_BUSY = 1 << 14
PER_TABLE = 4 * (TOTAL + STRIDE + 3 * SYMBOLS)  # what is looked up; counts, frequencies, as stored


def peak_bytes(rows: int, columns: int, n_blocks: int, busy: int) -> int:
    """Return a bound on what coding a chunk holds besides it, in bytes.

    It holds the payloads of all blocks twice, alone and in the frame, each at most as long as raw;
    and in each busy thread a block in one piece, words and raw bits, again as they are joined, and
    tables.
    """
    items = rows * columns
    payloads = 2 * n_blocks * (4 * items + PER_BLOCK)
    return payloads + busy * (16 * items + columns * CONTEXTS * PER_TABLE + PER_BUSY)
