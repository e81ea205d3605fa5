"""The memory promise of the codec: a bound on what it allocates, by formula.

The suite over every codec measures it.
"""

from __future__ import annotations

import math

from gangsaw.codecs.visibility.lanes.table import LANES, Lanes

PER_BLOCK = 512  # kind, index, Python objects
PER_THREAD = 5 << 16  # tables, most of them those of slots, and rows of a kernel
PER_BLOCK_OF_DEVICE = 1 << 14  # tables, sums; allocations are of 512 bytes; a tile that is empty
PER_DENSE_OF_DEVICE = 1 << 17  # counts of symbols under five kinds of means, samples
PER_VALUE_OF_DEVICE = 2  # of `dense`: symbol and context
PER_LANE_OF_DEVICE = 64  # of `dense`: costs of predictors, the one that is chosen
SIZE, WIDE = 4, 8  # bytes of a float32, of a double
OFFSET = 8  # bytes of the place of a number that has no neighbour in memory
PER_VALUE = 30  # of `dense`, besides words: bits, symbol, context, size, stream, payload
PREDICTORS = 16  # costs of each, for every lane
PER_COST = 24  # besides those of the kernel: as int64 of two samples, and one thing made of them


def peak_bytes(block_bytes: int, block_numbers: int, lanes: Lanes, n_blocks: int, busy: int) -> int:
    """Return a bound on what coding a chunk holds besides it, in bytes.

    It holds the coded blocks twice, as blocks and as frame, each at most as long as raw, and for
    each busy thread a block on its way: as words, residuals, what is being written, and places of
    numbers; or as a table of lanes with what `dense` says of each value and lane.
    """
    word = block_bytes // (block_numbers * lanes.n_components) if block_numbers else 0
    by_words = 4 * block_bytes + OFFSET * block_numbers
    compared = lanes.n_strips * LANES * PREDICTORS * (word + PER_COST)  # and gone before the rest
    by_lanes = 2 * math.prod(lanes.shape) * word + max(math.prod(lanes.shape) * PER_VALUE, compared)
    scratch = max(by_words, by_lanes) + PER_THREAD
    return 2 * n_blocks * (block_bytes + PER_BLOCK) + busy * scratch


def encoder_device_bytes(effort: str, block_bytes: int, word_bytes: int, lanes: Lanes) -> int:
    """Bytes of device memory to encode one block: its payload, groups, tables.

    `dense` writes symbols, bits and stream apart before it knows where they belong, of a copy where
    doubles may be narrowed.
    """
    if effort == "fast":
        return 2 * block_bytes + PER_BLOCK_OF_DEVICE
    by_values = PER_VALUE_OF_DEVICE * math.prod(lanes.shape)
    by_lanes = PER_LANE_OF_DEVICE * lanes.n_strips * LANES
    narrow = block_bytes // 2 if word_bytes == WIDE else 0
    parts = 3 * block_bytes + narrow + by_values + by_lanes
    return parts + 2 * _sizes(lanes) + PER_DENSE_OF_DEVICE


def decoder_device_bytes(n_bytes: int, block_bytes: int, lanes: Lanes) -> int:
    """Bytes of device memory to decode one block of so many bytes: those, tables, a copy."""
    return n_bytes + block_bytes + _sizes(lanes) + PER_BLOCK_OF_DEVICE


def _sizes(lanes: Lanes) -> int:
    """Bytes of the sizes that kernels of `dense` look at: two frequencies."""
    return 2 * lanes.n_times * LANES * SIZE
