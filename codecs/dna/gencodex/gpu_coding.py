"""Runs of packed bytes on a GPU; see gencodex.cu."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy, to_host
from gangsaw.codecs.core.cuda.launch import launch, load_module
from gangsaw.codecs.dna.gencodex.coding import GROUP, NOT_SHORTER
from gangsaw.codecs.dna.gpu_parts import DevicePart, aligned_offsets

WARP, THREADS = 32, 256  # threads of a block that writes, and that reads, as in gencodex.cu


class DeviceRuns(NamedTuple):
    """Packed bases of blocks, encoded as runs of equal bytes, in device memory.

    Attributes
    ----------
    parts : runs of each block; None if these are not shorter
    memory : owner of the memory of `parts`
    """

    parts: list[DevicePart | None]
    memory: DeviceArray


def encode_runs(packed: Sequence[DevicePart]) -> DeviceRuns:
    """Encode the packed bases of blocks as runs of equal bytes, on the GPU."""
    cp = cupy()
    places = aligned_offsets([part.size + GROUP for part in packed])
    memory = cp.empty(places[-1], np.uint8)
    rows = [
        (*part, memory.data.ptr + place, 0, i)
        for i, (part, place) in enumerate(zip(packed, places, strict=False))
    ]
    sizes = cp.empty(len(packed), np.int64)
    _launch("put_runs", rows, WARP, sizes)
    used: npt.NDArray[np.int64] = to_host(sizes)
    parts = [
        None if size == NOT_SHORTER else DevicePart(row[2], size)
        for row, size in zip(rows, used.tolist(), strict=True)
    ]
    return DeviceRuns(parts, memory)


def decode_runs(
    numbers: Sequence[int], runs: Sequence[DevicePart], packed: Sequence[DevicePart]
) -> DeviceArray:
    """Decode runs to packed bases on the GPU; return flags of invalid runs, one per `packed` item.

    numbers : index in `packed` of the block of each item of `runs`
    """
    broken: DeviceArray = cupy().zeros(len(packed), np.uint32)
    if numbers:
        rows = [(*packed[i], *run, i) for i, run in zip(numbers, runs, strict=True)]
        _launch("get_runs", rows, THREADS, broken)
    return broken


def _launch(name: str, rows: Sequence[Sequence[int]], threads: int, out: DeviceArray) -> None:
    kernel = load_module(__package__, "gencodex.cu", {}).get_function(name)
    launch(kernel, len(rows), threads, (cupy().asarray(np.array(rows, np.int64)), out))
