"""GPU encoder of `fast`: kernel arguments, and payloads assembled from kernel results."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.backends.batch import Encoded
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy
from gangsaw.codecs.core.cuda.launch import launch, load_module, pull
from gangsaw.codecs.visibility.fast.plan import head_bytes
from gangsaw.codecs.visibility.fast.tiling.modes import FEW, FIRST_SAMPLED, GAIN, MODES, SAMPLED
from gangsaw.codecs.visibility.fast.tiling.tiles import HEAD_BYTES
from gangsaw.codecs.visibility.lanes.gpu_table import (
    THREADS,
    BlockTable,
    block_table,
    dtype_defines,
    word_bytes,
)
from gangsaw.codecs.visibility.lanes.table import LANES
from gangsaw.codecs.visibility.params import Params

PLANE_BYTES = 4


def encode_blocks(sources: Sequence[DeviceArray], params: Params) -> list[Encoded | None]:
    """Encode CuPy blocks; return each payload in host memory, None if raw is not longer.

    sources : (time, frequency, ...) of one dtype that `has_kernel`
    """
    if not sources:
        return []
    cp, table = cupy(), block_table(sources)
    module = load_module(__package__, "encode.cu", specialised(sources[0]))
    owners, blocks, axes = (cp.asarray(a) for a in (table.owners, table.rows, table.axes))
    costs = cp.zeros(len(sources) * MODES, np.uint32)
    groups = cp.empty(table.owners.size * LANES, np.uint32)
    planes = cp.empty(table.owners.size, np.uint32)
    sums = cp.empty(len(sources), np.uint32)

    def run(kernel: str, warps: int, *arguments: object) -> None:
        launch(module.get_function(kernel), warps, THREADS, arguments)

    sampled = sampled_tiles(table)
    run("try_modes", len(sampled), cp.asarray(sampled), blocks, axes, costs)
    run("choose_groups", owners.size, owners, blocks, axes, costs, groups, planes)
    run("place_tiles", len(sources), blocks, planes, sums)
    heads = np.array([head_bytes(n, word_bytes(sources[0])) for n in table.tiles])
    sizes = heads + PLANE_BYTES * pull(sums).astype(np.int64)
    places, total = payload_offsets(sizes, np.array([source.nbytes for source in sources]))
    out = cp.empty(max(total, 1), np.uint8)
    tables = owners, blocks, axes, costs, groups, planes
    run("write_tiles", owners.size, *tables, cp.asarray(places), out)
    host = pull(out)
    return [
        None if place < 0 else Encoded((host[place : place + size],))
        for place, size in zip(places.tolist(), sizes.tolist(), strict=True)
    ]


def specialised(block: DeviceArray) -> dict[str, int | str]:
    """Return the preprocessor definitions of the CUDA source for the block's dtype."""
    return {**dtype_defines(block), "GS_GAIN": GAIN}


def sampled_tiles(table: BlockTable) -> npt.NDArray[np.int32]:
    """Return (n, 2) `Sampled` of encode.cu: block and tile indices sampled to choose modes."""
    numbers = [np.arange(min(FIRST_SAMPLED, n - 1), n, max(SAMPLED, n // FEW)) for n in table.tiles]
    block = np.repeat(np.arange(len(numbers)), [one.size for one in numbers])
    return np.stack([block, np.concatenate(numbers)], axis=1).astype(np.int32)


def payload_offsets(
    sizes: npt.NDArray[np.int64], raw: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], int]:
    """Return start offsets of payloads, -1 for those longer than raw words, and the total size.

    Payloads start 2 bytes after a multiple of 4, so that their planes are aligned.
    """
    fits = sizes <= raw
    room = np.where(fits, -(-sizes // PLANE_BYTES) * PLANE_BYTES, 0)
    places = HEAD_BYTES + np.cumsum(room) - room
    return np.where(fits, places, -1), HEAD_BYTES + int(room.sum())
