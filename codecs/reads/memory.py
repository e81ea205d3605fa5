"""Memory bound of the codec: an upper bound on its allocations, as formulas.

The test suite of all codecs measures it.
"""

from __future__ import annotations

PER_BLOCK = 1 << 12  # index, Python objects
# bytes of a block in progress: contexts, up to 512 tables, counts of the tree's leaves (of names:
# all tables that a format may have, and the data that choose them)
PER_BUSY = {"sequence": 4 << 20, "quality": 16 << 20, "name": 8 << 20, "offset": 1 << 20}
# Empty lines and those of one byte take most: offsets of all lines and all their pieces. Reads of
# 150 bases take a quarter of it, but memory is reserved before a chunk is read.
PER_BYTE = {"sequence": 46, "quality": 23, "name": 23, "offset": 6}


def peak_bytes(kind: str, block_bytes: int, n_blocks: int, busy: int) -> int:
    """Return a bound on the memory of coding a chunk, without the chunk, in bytes.

    The payloads of all blocks take at most as much as the blocks and their headers. On top comes
    the larger of the frame and the working memory of blocks in progress.
    """
    payloads = n_blocks * (block_bytes + PER_BLOCK)
    return payloads + max(payloads, busy * (PER_BYTE[kind] * block_bytes + PER_BUSY[kind]))


# on a device: tables of windows, at most; payload and contiguous target come on top
TABLES_OF_DEVICE = {"sequence": 2 << 20, "quality": 8 << 20, "name": 34 << 20, "offset": 1 << 16}
PER_ITEM_OF_DEVICE = {"sequence": 16, "quality": 2, "name": 2, "offset": 8}
PER_WINDOW_OF_DEVICE = {"sequence": 64, "quality": 64, "name": 2048, "offset": 64}


def decoder_device_bytes(kind: str, n_bytes: int, items: int, lane: int) -> int:
    """Return a bound on the device memory to decode one block of n_bytes bytes, in bytes."""
    windows = -(-items // lane)
    by_size = PER_ITEM_OF_DEVICE[kind] * items + PER_WINDOW_OF_DEVICE[kind] * windows
    return n_bytes + by_size + TABLES_OF_DEVICE[kind]


SORTED_PER_ITEM = 96  # of offsets: differences, original and sorted, and the ends of their ranges
WRITTEN_PER_ITEM = 16  # buffer of a lane, seven tokens per item, and its copy
PER_BLOCK_OF_DEVICE = 1 << 14  # tables; allocations are of 512 bytes


def encoder_device_bytes(items: int, lane: int) -> int:
    """Return a bound on the device memory to encode, or decode, one block of offsets, in bytes."""
    windows = -(-items // lane)
    written = WRITTEN_PER_ITEM * windows * lane + PER_WINDOW_OF_DEVICE["offset"] * windows
    encoder = SORTED_PER_ITEM * items + written + PER_BLOCK_OF_DEVICE
    return max(encoder, decoder_device_bytes("offset", 8 * items, items, lane))
