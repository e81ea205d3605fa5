"""The memory promise of the codec: a bound on what it allocates, by formula.

The suite over every codec measures it.
"""

from __future__ import annotations

PER_BLOCK = 1 << 12  # index, Python objects
# of a block that is coded: contexts, the tables of 512 of them, counts of the tree's leaves
# (of names: of all tables that a format may have, and what the choice of these is made of)
PER_BUSY = {"sequence": 4 << 20, "quality": 16 << 20, "name": 8 << 20, "offset": 1 << 20}
# Lines of one letter take most: places of all lines, and of all pieces of these. Reads of 150
# letters take a quarter of it, but a chunk is not read before its memory is promised.
PER_BYTE = {"sequence": 46, "quality": 13, "name": 17, "offset": 6}


def peak_bytes(kind: str, block_bytes: int, n_blocks: int, busy: int) -> int:
    """Return a bound on what coding a chunk holds besides it, in bytes.

    It holds the payloads of all blocks, each at most as long as the block but for a head, and then
    the frame, or what blocks that are coded take besides.
    """
    payloads = n_blocks * (block_bytes + PER_BLOCK)
    return payloads + max(payloads, busy * (PER_BYTE[kind] * block_bytes + PER_BUSY[kind]))


# on a device: what windows look into, at most; besides payload and target in one piece
TABLES_OF_DEVICE = {"sequence": 2 << 20, "quality": 8 << 20, "name": 34 << 20, "offset": 1 << 16}
PER_ITEM_OF_DEVICE = {"sequence": 16, "quality": 2, "name": 2, "offset": 8}
PER_WINDOW_OF_DEVICE = {"sequence": 64, "quality": 64, "name": 2048, "offset": 64}


def decoder_device_bytes(kind: str, n_bytes: int, items: int, lane: int) -> int:
    """Return a bound on the device memory to decode one block of so many bytes."""
    windows = -(-items // lane)
    by_size = PER_ITEM_OF_DEVICE[kind] * items + PER_WINDOW_OF_DEVICE[kind] * windows
    return n_bytes + by_size + TABLES_OF_DEVICE[kind]


SORTED_PER_ITEM = 96  # of offsets: differences, as they are and sorted, and where others end
WRITTEN_PER_ITEM = 16  # room for a lane, seven tokens an item; its copy
PER_BLOCK_OF_DEVICE = 1 << 14  # tables; allocations are of 512 bytes


def encoder_device_bytes(items: int, lane: int) -> int:
    """Return a bound on the device memory to encode one block of offsets, and to decode it."""
    windows = -(-items // lane)
    written = WRITTEN_PER_ITEM * windows * lane + PER_WINDOW_OF_DEVICE["offset"] * windows
    encoder = SORTED_PER_ITEM * items + written + PER_BLOCK_OF_DEVICE
    return max(encoder, decoder_device_bytes("offset", 8 * items, items, lane))
