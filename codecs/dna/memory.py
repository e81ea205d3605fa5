"""The memory promise of the codec: a bound on what it allocates, by formula.

The suite over every codec measures it.
"""

from __future__ import annotations

from gangsaw.codecs.dna.dense.shape import most_words, shape_of

PER_BLOCK = 1 << 14  # Python objects, the head
PER_BUSY = 1 << 16  # small tables, the state of lanes
SLOT, CODE = 4, 1  # bytes of a base
SPARE = 1 << 7  # bytes of a payload for its head
FEW = 1 << 6  # letters for which it has a byte of marks


def likely_bytes(n: int) -> int:
    """Bytes that suffice for the payload of n bases that have few marks; its packed bases fit."""
    return -(-n // 4) + n // FEW + SPARE


def peak_bytes(items: int, n_blocks: int, busy: int, is_dense: bool) -> int:
    """Return a bound on what coding a chunk holds besides it, in bytes.

    Of each block the place that is reserved, and where it takes more, as other bytes than bases
    may, its payload twice: apart and in the frame. Of one that is coded also the text in one piece,
    packed bases, those in runs, and exceptions and cases of together at most 13 bytes for 8 letters
    (`split`); in dense mode also `dense_bytes`.
    """
    packed = likely_bytes(items)
    coding = items + 2 * packed + items * 13 // 8 + PER_BUSY
    if is_dense:
        coding += dense_bytes(items)
    return n_blocks * (2 * items + packed + PER_BLOCK) + busy * coding


def dense_bytes(items: int) -> int:
    """Return a bound on what a dense block needs: tables, and for its lanes bases, slots, words."""
    shape = shape_of(max(1, items))
    tables = 2 * 4**shape.order + (2 << shape.slot_bits) + (4 << shape.entry_bits)
    words = 2 * most_words(shape.steps)
    lanes = shape.lanes * ((SLOT + CODE) * shape.stride + words)
    return tables + lanes + 3 * items
