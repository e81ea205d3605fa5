"""Tables of block addresses and lanes for the CUDA kernels of all codings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.launch import is_aligned
from gangsaw.codecs.visibility.arrays import Table
from gangsaw.codecs.visibility.lanes.table import LANES, ROWS, Lanes
from gangsaw.codecs.visibility.params import component_count

MOST_WORDS = 1 << 31  # words of a block's table: kernels count rows and words in 32 bits
THREADS = LANES  # threads of a thread block, which is a warp


def word_bytes(block: DeviceArray) -> int:
    """Return the bytes of a component of a block's numbers."""
    return int(block.dtype.itemsize) // component_count(block.dtype)


def has_kernel(block: DeviceArray) -> bool:
    """Return True if kernels support the block: they load no unaligned words."""
    rows, lanes = Lanes.of_block(block).shape
    return rows * lanes < MOST_WORDS and is_aligned(block, word_bytes(block))


def dtype_defines(block: DeviceArray) -> dict[str, int | str]:
    """Return the preprocessor definitions of a CUDA source for a dtype."""
    swap = int(not block.dtype.isnative)
    return {"GS_BITS": 8 * word_bytes(block), "GS_SWAP": swap}


class TableRow(NamedTuple):
    """Layout of one block in memory, as a row for kernels: `Block` of table.cuh has the fields."""

    data: int
    step_t: int
    step_f: int
    times: int
    frequencies: int
    part_times: int
    part_frequencies: int
    folds_time: bool
    rest: int
    components: int
    series: int
    rows: int
    first_axis: int
    axes: int
    first_tile: int
    tiles: int


class BlockTable(NamedTuple):
    """Tables of the layout of all blocks of one kernel launch.

    Attributes
    ----------
    rows : (n_blocks, 16) int64, `TableRow` of each block
    axes : (n, 2) int64, `Axis` of table.cuh: axes of each block but time and frequency,
        concatenated
    lanes : lanes of each block
    tiles : (n_blocks,) int64, number of tiles of each block
    """

    rows: Table
    axes: Table
    lanes: list[Lanes]
    tiles: Table

    @property
    def owners(self) -> npt.NDArray[np.int32]:
        """Block index of each tile, (n_tiles,) int32."""
        return np.repeat(np.arange(self.tiles.size, dtype=np.int32), self.tiles)


def block_table(blocks: Sequence[DeviceArray]) -> BlockTable:
    """Return the tables of CuPy blocks (time, frequency, ...) of one dtype."""
    lanes = [Lanes.of_block(block) for block in blocks]
    tiles = np.array([-(-one.shape[0] // ROWS) for one in lanes], np.int64)
    first_tile = np.cumsum(tiles) - tiles
    rows, axes = list[TableRow](), list[tuple[int, int]]()
    for i, (block, of) in enumerate(zip(blocks, lanes, strict=True)):
        own = rest_axes(block.shape[2:], block.strides[2:])
        rows.append(
            TableRow(
                data=block.data.ptr,
                step_t=block.strides[0],
                step_f=block.strides[1],
                times=block.shape[0],
                frequencies=block.shape[1],
                part_times=of.n_times,
                part_frequencies=of.n_frequencies,
                folds_time=of.folds_time,
                rest=of.n_rest,
                components=of.n_components,
                series=of.n_series,
                rows=of.shape[0],
                first_axis=len(axes),
                axes=len(own),
                first_tile=int(first_tile[i]),
                tiles=int(tiles[i]),
            )
        )
        axes += own
    table = np.array(axes or [(1, 0)], np.int64)  # kernels accept no empty argument
    return BlockTable(np.array(rows, np.int64), table, lanes, tiles)


def rest_axes(shape: tuple[int, ...], strides: tuple[int, ...]) -> list[tuple[int, int]]:
    """Return extent and byte step of each axis but time and frequency, contiguous ones merged."""
    axes: list[tuple[int, int]] = []
    for extent, step in zip(shape, strides, strict=True):
        if extent == 1:
            continue
        if axes and axes[-1][1] == extent * step:
            axes[-1] = axes[-1][0] * extent, step
        else:
            axes.append((extent, step))
    return axes
