"""Windows of blocks on a GPU: one copy transfers their input, then each thread decodes one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from gangsaw.codecs.core.arrays import Int64s, NumpyArray
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray, Kernel
from gangsaw.codecs.core.cuda.device import cupy
from gangsaw.codecs.core.cuda.launch import launch
from gangsaw.codecs.core.cuda.upload import ALIGNED, Upload
from gangsaw.codecs.reads.lines import Text

THREADS = 32  # of a thread block, as in windows.cuh


class WindowsOfBlock(NamedTuple):
    """Block of text of which a GPU decodes windows, with the tables that they share.

    Attributes
    ----------
    data : (n,) uint8 payload
    begins, ends : (n_windows,) int64, offsets of all windows' lanes in the payload
    wanted : (n,) int64, the windows to decode, ascending
    out : contiguous CuPy array that they fill
    numbers, arrays : shared tables, in the order of the kernel's `Block`
    rooms : bytes of each buffer that another kernel fills first; the buffers follow in that order
    slices : (n, 2) int64, start and end of each lane in the payload that fills these buffers
    """

    data: Text
    begins: Int64s
    ends: Int64s
    wanted: Int64s
    out: DeviceArray
    numbers: Sequence[int]
    arrays: Sequence[NumpyArray]
    rooms: Sequence[int] = ()
    slices: Int64s = np.empty((0, 2), np.int64)


class Blocks:
    """Blocks of text on the device, with the tables of each; it must outlive all kernels."""

    def __init__(self, blocks: Sequence[WindowsOfBlock]) -> None:
        cp, upload = cupy(), Upload()
        self.blocks, self._upload = blocks, upload
        places = [[upload.add(one) for one in (block.data, *block.arrays)] for block in blocks]
        self._firsts = [own[0] for own in places]
        self._data = upload.sent()
        sizes = [-(-size // ALIGNED) * ALIGNED for block in blocks for size in block.rooms]
        self._room: DeviceArray = cp.empty(max(1, sum(sizes)), np.uint8)
        rooms = iter((self._room.data.ptr + np.cumsum(sizes) - sizes).tolist())
        rows = [
            [
                *(block.out.data.ptr, *block.numbers),
                *(self._data.data.ptr + place for place in own[1:]),
                *islice(rooms, len(block.rooms)),
            ]
            for block, own in zip(blocks, places, strict=True)
        ]
        self._rows = cp.asarray(np.array(rows, np.int64))

    def windows(self) -> Int64s:
        """Return the wanted windows of all blocks, (n, 4) int64 `Window` of windows.cuh."""
        bounds = [np.stack([block.begins, block.ends], axis=1) for block in self.blocks]
        wanted = [block.wanted for block in self.blocks]
        return self._lanes([own[which] for own, which in zip(bounds, wanted, strict=True)], wanted)

    def slices(self) -> Int64s:
        """Return the `slices` of all blocks, (n, 4) int64 `Window` of windows.cuh."""
        bounds = [block.slices for block in self.blocks]
        return self._lanes(bounds, [np.arange(len(own)) for own in bounds])

    def launch(self, kernel: Kernel, lanes: Int64s, *outs: DeviceArray, threads: int = 1) -> None:
        """Launch a kernel with `threads` threads for each lane; outs : its output arrays."""
        grid = -(-len(lanes) * threads // THREADS)
        arguments = [self._data, self._rows, cupy().asarray(lanes), np.int32(len(lanes)), *outs]
        launch(kernel, grid, THREADS, arguments)

    def _lanes(self, bounds: Sequence[Int64s], numbers: Sequence[Int64s]) -> Int64s:
        rows = [
            np.column_stack([np.full(len(own), i), which, own + first])
            for i, (own, which, first) in enumerate(zip(bounds, numbers, self._firsts, strict=True))
        ]
        return np.concatenate(rows)
