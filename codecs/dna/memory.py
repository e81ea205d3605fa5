"""The memory promise of the codec: a bound on what it allocates, by formula.

The suite over every codec measures it.
"""

from __future__ import annotations

from gangsaw.codecs.dna.dense.shape import most_words, shape_of

PER_BLOCK = 1 << 14  # Python objects, the head
PER_BUSY = 1 << 16  # small tables, the state of lanes
SLOT, CODE = 4, 1  # bytes of a base


def peak_bytes(items: int, n_blocks: int, busy: int, is_dense: bool) -> int:
    """Return a bound on what coding a chunk holds besides it, in bytes.

    Of each block its payload, twice where it moves into the frame; of one that is coded also the
    text in one piece, packed bases, and exceptions and cases of at most its length each; in dense
    mode also `dense_bytes`.
    """
    more = dense_bytes(items) if is_dense else 0
    return n_blocks * (2 * items + PER_BLOCK) + busy * (5 * items + PER_BUSY + more)


def dense_bytes(items: int) -> int:
    """Return a bound on what a dense block needs: tables, and for its lanes bases, slots, words."""
    shape = shape_of(max(1, items))
    tables = (2 << 2 * shape.order) + (2 << shape.slot_bits) + (4 << shape.entry_bits)
    words = 2 * most_words(shape.steps)
    lanes = shape.lanes * ((SLOT + CODE) * shape.stride + words)
    return tables + lanes + 3 * items
