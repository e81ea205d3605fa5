"""Memory bound of the codec: formulas for the bytes that it allocates.

The test suite of all codecs measures them.
"""

from __future__ import annotations

from gangsaw.codecs.bwt.dense.cpu import dense_decoder_bytes as dense_device_room
from gangsaw.codecs.bwt.dense.cpu import dense_encoder_bytes as dense_encoder_room
from gangsaw.codecs.bwt.dense.cpu import dense_scratch_bytes as dense_room
from gangsaw.codecs.bwt.fast.cpu import fast_decoder_bytes as fast_device_room
from gangsaw.codecs.bwt.fast.cpu import fast_encoder_bytes as fast_encoder_room
from gangsaw.codecs.bwt.fast.cpu import fast_scratch_bytes as fast_room
from gangsaw.codecs.bwt.lanes.cut import run_device_bytes as runs_device_room
from gangsaw.codecs.bwt.transform.forward import transform_bytes as transform_room
from gangsaw.codecs.bwt.transform.forward import transform_device_bytes as transform_device_room

PER_BLOCK = 1 << 9  # rows, index, Python objects
FIXED = 1 << 12  # also for a chunk without blocks
PER_BLOCK_OF_DEVICE = 1 << 12  # rows; allocations are multiples of 512 bytes
ROOMS = {"dense": dense_room, "fast": fast_room}
DEVICE_ROOMS = {"dense": dense_device_room, "fast": fast_device_room}  # decoders
ENCODER_ROOMS = {"dense": dense_encoder_room, "fast": fast_encoder_room}  # encoders on a device


def peak_bytes(n_bytes: int, block_bytes: int, n_blocks: int, busy: int, effort: str) -> int:
    """Return an upper bound of the memory to encode or decode a chunk, without the chunk itself.

    It includes the payloads, each at most a byte longer than its block, and their frame. If the
    layout of the chunk is not that of its blocks, a copy is added. While a block is coded, it adds
    the transformed string, the coded string, and the scratch memory of the transform or the entropy
    stage.

    busy : number of blocks that are coded at once
    """
    room = max(transform_room(block_bytes), ROOMS[effort](block_bytes))
    coding = max(0, n_bytes - busy * block_bytes) + busy * (2 * block_bytes + room)
    return n_bytes + PER_BLOCK * n_blocks + FIXED + max(2 * n_bytes, coding)


def decoder_device_bytes(n_bytes: int, n: int, effort: str) -> int:
    """Return an upper bound of the device memory to decode one block of n bytes from `n_bytes`.

    It includes a contiguous target, the transformed string, and the memory of both stages.
    """
    stages = DEVICE_ROOMS[effort](n_bytes, n) + transform_device_room(n, 1)
    return 2 * n + PER_BLOCK_OF_DEVICE + stages


def encoder_device_bytes(n: int, effort: str) -> int:
    """Return an upper bound of the device memory to encode one block of n bytes.

    It includes a contiguous copy, the transform, runs, and the memory of the entropy stage.
    """
    stages = transform_device_room(n, 1) + runs_device_room(n) + ENCODER_ROOMS[effort](n)
    return n + PER_BLOCK_OF_DEVICE + stages
