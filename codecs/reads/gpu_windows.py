"""Windows of blocks on a GPU: one copy takes there what they need, then each thread takes one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray, Kernel
from gangsaw.codecs.core.cuda.device import cupy
from gangsaw.codecs.core.cuda.launch import launch, pinned
from gangsaw.codecs.reads.lines import Places, Text

THREADS = 32  # of a thread block, as in windows.cuh
ALIGNED = 16  # bytes: where arrays begin on the device


class EncodedBlock(NamedTuple):
    """A block that is read.

    Attributes
    ----------
    data : (n,) uint8 payload, verified
    lane_bits : (n_lanes,) int64
    is_partial : whether lanes of windows were left out, which then have no bits
    """

    data: Text
    lane_bits: Places
    is_partial: bool


class WindowsOfBlock(NamedTuple):
    """A block of which windows are decoded.

    Attributes
    ----------
    data : (n,) uint8 payload
    begins, ends : (n_windows,) int64, where in it the lanes of all windows lie
    wanted : (n,) int64, the windows that are decoded, ascending
    out : contiguous CuPy array that they fill
    numbers, arrays : what they look into, in the order of the kernel's `Block`
    """

    data: Text
    begins: Places
    ends: Places
    wanted: Places
    out: DeviceArray
    numbers: Sequence[int]
    arrays: Sequence[NumpyArray]


class Upload:
    """Arrays of the host that go to the device in one copy, and lie there apart."""

    def __init__(self) -> None:
        self._parts: list[tuple[int, NumpyArray]] = []
        self._size = 0
        self._host: Text | None = None

    def add(self, part: NumpyArray) -> int:
        """Take an array, which must not change before it is sent; return where it will begin."""
        place = self._size
        self._parts.append((place, part))
        self._size += -(-part.nbytes // ALIGNED) * ALIGNED
        return place

    def sent(self) -> DeviceArray:
        """Return all of it on the device; the copy may go on as long as this object lives."""
        self._host = pinned((max(1, self._size),), np.uint8)
        for place, part in self._parts:
            own = np.ascontiguousarray(part).reshape(-1).view(np.uint8)
            self._host[place : place + own.size] = own
        data: DeviceArray = cupy().empty(self._host.shape, np.uint8)
        data.set(self._host)
        return data


def launch_windows(kernel: Kernel, blocks: Sequence[WindowsOfBlock], *outs: DeviceArray) -> Upload:
    """Start a kernel with a thread for each window of all blocks, which are some.

    Parameters
    ----------
    outs : what the kernel fills, with a row for each window

    Returns
    -------
    What must live until the device is done.
    """
    cp, upload = cupy(), Upload()
    places = [[upload.add(one) for one in (block.data, *block.arrays)] for block in blocks]
    data = upload.sent()
    windows = np.concatenate(
        [_window_rows(i, block, places[i][0]) for i, block in enumerate(blocks)]
    )
    rows = np.array(
        [
            [block.out.data.ptr, *block.numbers, *(data.data.ptr + place for place in own[1:])]
            for block, own in zip(blocks, places, strict=True)
        ],
        np.int64,
    )
    arguments = [data, cp.asarray(rows), cp.asarray(windows), np.int32(len(windows)), *outs]
    launch(kernel, -(-len(windows) // THREADS), THREADS, arguments)
    return upload


def _window_rows(number: int, block: WindowsOfBlock, place: int) -> Places:
    """(n, 4) int64 `Window` of windows.cuh, of a block whose payload begins at a place."""
    own = block.wanted
    begins, ends = block.begins[own] + place, block.ends[own] + place
    return np.stack([np.full(own.size, number), own, begins, ends], axis=1)
