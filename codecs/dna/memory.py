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
    tables = 2 * 4**shape.order + (2 << shape.slot_bits) + (4 << shape.entry_bits)
    words = 2 * most_words(shape.steps)
    lanes = shape.lanes * ((SLOT + CODE) * shape.stride + words)
    return tables + lanes + 3 * items


PER_BLOCK_OF_DEVICE = 1 << 16  # logarithms, rows of tables; allocations are of 512 bytes
MOST_GROWTH = 12  # bytes of a head: a raw payload is so much longer than its block


def encoder_device_bytes(letters: int, is_dense: bool) -> int:
    """Return a bound on the device memory to encode one block, and to decode it.

    A copy in one piece, packed bases, their runs; what marks begin and end with, 8 bytes for each
    kind of which none takes less than 2; marks and payload; of dense blocks lanes, too.
    """
    encoder = 9 * letters + PER_BLOCK_OF_DEVICE + is_dense * (dense_bytes(letters) + 2 * letters)
    return max(encoder, decoder_device_bytes(letters + MOST_GROWTH, letters, is_dense))


def decoder_device_bytes(n_bytes: int, letters: int, is_dense: bool) -> int:
    """Return a bound on the device memory to decode one block of so many bytes.

    Payload, target in one piece, packed bases, 16 bytes for each run of 2 or more.
    """
    more = is_dense * dense_bytes(letters)
    return 9 * n_bytes + 2 * letters + PER_BLOCK_OF_DEVICE + more
