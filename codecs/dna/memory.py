"""Memory bound of the codec: formulas for the bytes that it allocates.

The test suite of all codecs measures them.
"""

from __future__ import annotations

from gangsaw.codecs.core.memory.aligned import paged_bytes
from gangsaw.codecs.core.nucleotides.uracil import PIECE
from gangsaw.codecs.dna.dense.model.shape import Shape, most_words, shape_of

PER_BLOCK = 1 << 10  # Python objects, the head
# small tables, the state of lanes, NumPy temporaries for marks and for pieces of RNA
PER_BUSY = (5 << 14) + 4 * PIECE
SLOT, CODE = 4, 1  # bytes per base
SPARE = 1 << 7  # bytes of a payload for its head
FEW = 1 << 6  # letters per byte of marks


def likely_bytes(n: int) -> int:
    """Return the bytes to reserve for the payload of n letters; it suffices with few marks."""
    return -(-n // 4) + n // FEW + SPARE


def peak_bytes(items: int, n_blocks: int, busy: int, is_dense: bool) -> int:
    """Return an upper bound of the memory to encode or decode a chunk, without the chunk itself.

    For each block it includes the reserved buffer, and a separate payload if that is longer, as for
    bytes other than bases. The maximum of two terms is added: the frame of the payloads, or the
    scratch memory of blocks being coded. That is a contiguous text, a second one for RNA, packed
    bases, and these as runs. Exceptions and cases take together at most 13 bytes per 8 letters
    (`split_text`). In dense mode bases and `_modelled_bytes` are added.
    """
    packed = likely_bytes(items)
    coding = 2 * items + 2 * packed + items * 13 // 8 + PER_BUSY
    if is_dense:
        coding += items + _modelled_bytes(shape_of(max(1, items)))
    payloads = n_blocks * (items + PER_BLOCK)
    return payloads + n_blocks * packed + max(payloads, busy * coding)


def _modelled_bytes(shape: Shape) -> int:
    """Return the host memory to encode a dense block: lanes, and model tables or words.

    Tables are freed before the words are written.
    """
    records = paged_bytes(2 * shape.record << shape.entry_bits)
    tables = paged_bytes(2 << 2 * shape.order) + records
    return _lanes_bytes(shape) + max(tables, 2 * _words_bytes(shape))


def dense_bytes(items: int) -> int:
    """Return an upper bound of the device memory of a dense block: tables, lanes, words."""
    shape = shape_of(max(1, items))
    return _tables_bytes(shape) + _lanes_bytes(shape) + _words_bytes(shape) + 3 * items


def _tables_bytes(shape: Shape) -> int:
    return (2 << 2 * shape.order) + (2 << shape.slot_bits) + (4 << shape.entry_bits)


def _lanes_bytes(shape: Shape) -> int:
    return shape.lanes * (SLOT + CODE) * shape.stride


def _words_bytes(shape: Shape) -> int:
    return 2 * shape.lanes * most_words(shape.steps)


PER_BLOCK_OF_DEVICE = 1 << 16  # logarithms, rows of tables; allocations are multiples of 512 bytes
MOST_GROWTH = 12  # bytes of a head, by which a raw payload is longer than its block


def encoder_device_bytes(items: int, is_dense: bool) -> int:
    """Return an upper bound of the device memory to encode one block, which suffices to decode it.

    It includes a contiguous copy, packed bases, their runs, marks and payload. For RNA a second
    copy and flags of its letters are added, for dense blocks lanes. Edges of marks take 8 bytes of
    each kind, with at least 2 bytes stored.
    """
    encoder = 12 * items + PER_BLOCK_OF_DEVICE + is_dense * (dense_bytes(items) + 2 * items)
    return max(encoder, decoder_device_bytes(items + MOST_GROWTH, items, is_dense))


def decoder_device_bytes(n_bytes: int, items: int, is_dense: bool) -> int:
    """Return an upper bound of the device memory to decode one block of `n_bytes` payload bytes.

    It includes the payload, packed bases, and 16 bytes for each run of 2 or more. The contiguous
    target counts twice if T and U are exchanged.
    """
    more = is_dense * dense_bytes(items)
    return 9 * n_bytes + 4 * items + PER_BLOCK_OF_DEVICE + more
