"""Tiles and sums of a radix sort on a GPU; see radix.cuh."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.launch import launch, load_module
from gangsaw.codecs.core.cuda.sums import on_device

THREADS, DIGITS, TILE = 256, 256, 4096  # as in scan.cuh and radix.cuh

Sizes = npt.NDArray[np.int64]


class DeviceTransformed(NamedTuple):
    """Burrows-Wheeler transform of a block in device memory; fields as in `Transformed`."""

    bwt: DeviceArray
    rows: DeviceArray


class Lists(NamedTuple):
    """Sizes of concatenated lists of items to sort, one list for each block.

    They have less than 2^32 items in total: more would not fit any device.

    Attributes
    ----------
    sizes : (n_blocks,) int64, items of each list
    """

    sizes: Sizes

    @property
    def begins(self) -> Sizes:
        """Start offset of each list, (n_blocks,) int64."""
        return np.cumsum(self.sizes) - self.sizes

    @property
    def tiles(self) -> int:
        """Number of tiles (TILE items, one thread block) of the longest list."""
        return max(1, -(-int(self.sizes.max()) // TILE))

    @property
    def grid(self) -> int:
        """Number of thread blocks of a launch: the longest list's tiles for each list."""
        return self.tiles * len(self.sizes)

    def table(self) -> DeviceArray:
        """Return struct `List` of radix.cuh for each list, in device memory."""
        return on_device(np.stack([self.begins, self.sizes], axis=1))


def block_sizes(arrays: Sequence[DeviceArray]) -> Lists:
    """Return `Lists` with the sizes of 1-D arrays."""
    return Lists(np.array([array.shape[0] for array in arrays], np.int64))


def start_kernel(file: str, kernel: str, grid: int, threads: int, *arguments: object) -> None:
    """Launch a kernel from a file of this folder; Python's integers are passed as C's `int`."""
    given = [np.int32(one) if isinstance(one, int) else one for one in arguments]
    launch(load_module(__package__, file, {}).get_function(kernel), grid, threads, given)
