"""The memory promise of the codec: a bound on what it allocates, by formula.

The suite over every codec measures it.
"""

from __future__ import annotations

from gangsaw.codecs.core.memory.aligned import paged_bytes
from gangsaw.codecs.core.nucleotides.uracil import PIECE
from gangsaw.codecs.dna.dense.model.shape import Shape, most_words, shape_of

PER_BLOCK = 1 << 10  # Python objects, the head
# small tables, the state of lanes, what NumPy makes of marks and of pieces of RNA
PER_BUSY = (5 << 14) + 4 * PIECE
SLOT, CODE = 4, 1  # bytes of a base
SPARE = 1 << 7  # bytes of a payload for its head
FEW = 1 << 6  # letters for which it has a byte of marks


def likely_bytes(n: int) -> int:
    """Bytes that suffice for the payload of n bases that have few marks; its packed bases fit."""
    return -(-n // 4) + n // FEW + SPARE


def peak_bytes(items: int, n_blocks: int, busy: int, is_dense: bool) -> int:
    """Return a bound on what coding a chunk holds besides it, in bytes.

    Of each block the place that is reserved, and where it takes more, as other bytes than bases
    may, its payload apart; and then the frame of these, or what blocks that are coded take: the
    text in one piece, and of RNA a second one, packed bases, those in runs, and exceptions and
    cases of together at most 13 bytes for 8 letters (`split`); in dense mode also bases and
    `_modelled_bytes`.
    """
    packed = likely_bytes(items)
    coding = 2 * items + 2 * packed + items * 13 // 8 + PER_BUSY
    if is_dense:
        coding += items + _modelled_bytes(shape_of(max(1, items)))
    payloads = n_blocks * (items + PER_BLOCK)
    return payloads + n_blocks * packed + max(payloads, busy * coding)


def _modelled_bytes(shape: Shape) -> int:
    """Bytes for the lanes of a block on a host: the tables are gone before words are written."""
    records = paged_bytes(2 * shape.record << shape.entry_bits)
    tables = paged_bytes(2 << 2 * shape.order) + records
    return _lanes_bytes(shape) + max(tables, 2 * _words_bytes(shape))


def dense_bytes(items: int) -> int:
    """Return a bound on what a dense block needs at once on a device: tables, lanes, words."""
    shape = shape_of(max(1, items))
    return _tables_bytes(shape) + _lanes_bytes(shape) + _words_bytes(shape) + 3 * items


def _tables_bytes(shape: Shape) -> int:
    return (2 << 2 * shape.order) + (2 << shape.slot_bits) + (4 << shape.entry_bits)


def _lanes_bytes(shape: Shape) -> int:
    return shape.lanes * (SLOT + CODE) * shape.stride


def _words_bytes(shape: Shape) -> int:
    return 2 * shape.lanes * most_words(shape.steps)


PER_BLOCK_OF_DEVICE = 1 << 16  # logarithms, rows of tables; allocations are of 512 bytes
MOST_GROWTH = 12  # bytes of a head: a raw payload is so much longer than its block


def encoder_device_bytes(letters: int, is_dense: bool) -> int:
    """Return a bound on the device memory to encode one block, and to decode it.

    A copy in one piece, of RNA a second one and what tells its letters, packed bases, their runs;
    what marks begin and end with, 8 bytes for each kind of which none takes less than 2; marks and
    payload; of dense blocks lanes, too.
    """
    encoder = 12 * letters + PER_BLOCK_OF_DEVICE + is_dense * (dense_bytes(letters) + 2 * letters)
    return max(encoder, decoder_device_bytes(letters + MOST_GROWTH, letters, is_dense))


def decoder_device_bytes(n_bytes: int, letters: int, is_dense: bool) -> int:
    """Return a bound on the device memory to decode one block of so many bytes.

    Payload, target in one piece, twice as much where T and U are exchanged, packed bases, 16 bytes
    for each run of 2 or more.
    """
    more = is_dense * dense_bytes(letters)
    return 9 * n_bytes + 4 * letters + PER_BLOCK_OF_DEVICE + more
