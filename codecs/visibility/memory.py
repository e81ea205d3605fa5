"""Memory bound of the codec: formulas for the bytes that it allocates.

The test suite of all codecs measures them.
"""

from __future__ import annotations

import math

from gangsaw.codecs.visibility.lanes.table import LANES, Lanes

PER_BLOCK = 512  # kind, index, Python objects
PER_THREAD = 5 << 16  # tables, mostly of slots, and rows of a kernel
# tables, sums, and an empty tile; allocations are multiples of 512 bytes
PER_BLOCK_OF_DEVICE = 1 << 14
PER_DENSE_OF_DEVICE = 1 << 17  # counts of symbols under five kinds of means, samples
PER_VALUE_OF_DEVICE = 2  # `dense`: symbol and context
PER_LANE_OF_DEVICE = 64  # `dense`: costs of predictors, and the chosen one
SIZE, WIDE = 4, 8  # bytes of a float32, of a double
OFFSET = 8  # bytes of the offset of a number without a contiguous neighbour
PER_VALUE = 30  # `dense`, in addition to words: bits, symbol, context, size, stream, payload
PREDICTORS = 16  # costs per lane, one for each predictor
PER_COST = 24  # bytes in addition to the kernel's: int64 costs of two samples, and one temporary


def peak_bytes(block_bytes: int, block_numbers: int, lanes: Lanes, n_blocks: int, busy: int) -> int:
    """Return an upper bound of the bytes to code a chunk, without the chunk itself.

    It includes the coded blocks twice, as blocks and as frame, each at most as long as raw. Each
    busy thread adds one block in progress: words, residuals, output, and offsets of numbers; or a
    table of lanes with the per-value and per-lane data of `dense`.
    """
    word = block_bytes // (block_numbers * lanes.n_components) if block_numbers else 0
    by_words = 4 * block_bytes + OFFSET * block_numbers
    # freed before the rest is allocated
    compared = lanes.n_strips * LANES * PREDICTORS * (word + PER_COST)
    by_lanes = 2 * math.prod(lanes.shape) * word + max(math.prod(lanes.shape) * PER_VALUE, compared)
    scratch = max(by_words, by_lanes) + PER_THREAD
    return 2 * n_blocks * (block_bytes + PER_BLOCK) + busy * scratch


def encoder_device_bytes(effort: str, block_bytes: int, word_bytes: int, lanes: Lanes) -> int:
    """Return the bytes of device memory to encode one block: its payload, groups, tables.

    `dense` writes symbols, bits and stream separately, as their final offsets are not yet known. It
    copies the block if doubles may be narrowed.
    """
    if effort == "fast":
        return 2 * block_bytes + PER_BLOCK_OF_DEVICE
    by_values = PER_VALUE_OF_DEVICE * math.prod(lanes.shape)
    by_lanes = PER_LANE_OF_DEVICE * lanes.n_strips * LANES
    narrow = block_bytes // 2 if word_bytes == WIDE else 0
    parts = 3 * block_bytes + narrow + by_values + by_lanes
    return parts + 2 * _sizes(lanes) + PER_DENSE_OF_DEVICE


def decoder_device_bytes(n_bytes: int, block_bytes: int, lanes: Lanes) -> int:
    """Return the device bytes to decode a block of `n_bytes`: payload, tables, a copy."""
    return n_bytes + block_bytes + _sizes(lanes) + PER_BLOCK_OF_DEVICE


def _sizes(lanes: Lanes) -> int:
    """Return the bytes of value sizes that kernels of `dense` store, for two frequencies."""
    return 2 * lanes.n_times * LANES * SIZE
