"""Bits per sample of each lane, block and chunk along the axes of an array."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.container import frame
from gangsaw.codecs.core.container.byte_grid import ByteGrid
from gangsaw.codecs.core.container.chunk import ChunkCoder
from gangsaw.codecs.core.plugins.selection import Picture
from gangsaw.tasks.store.arrays.chunks import ChunkGrid


@dataclass(frozen=True)
class BitMap:
    """Map of bits per sample of each block or chunk, over one or two axes of the array.

    Attributes
    ----------
    bits : (blocks along the axis, ...) float64; the mean over other axes
    edges : offsets of the blocks, in samples, along each axis; the last is the end of the array
    dims : names of the axes
    """

    bits: NDArray[np.float64]
    edges: tuple[NDArray[np.int64], ...]
    dims: tuple[str, ...]


class ChunkBits:
    """Stored bits of the chunks of an array, summed by position along its last two axes."""

    def __init__(self, grid: ChunkGrid, dims: tuple[str, ...]) -> None:
        self.grid, self.axes = grid, tuple(range(len(dims))[-2:])
        self.dims = tuple(dims[axis] for axis in self.axes)
        pairs = [(grid.shape[axis], grid.chunks[axis]) for axis in self.axes]
        self.edges = tuple(np.array([*range(0, extent, n), extent]) for extent, n in pairs)
        self.map_bits = np.zeros([len(edges) - 1 for edges in self.edges])

    def add(self, number: int, bits: int) -> None:
        """Add the stored bits of a chunk by its number."""
        position = self.grid.position(number)
        self.map_bits[tuple(position[axis] for axis in self.axes)] += bits

    def bits(self) -> BitMap:
        """Return the mean bits per sample of chunks at each position along the last two axes."""
        return _per_sample(self.map_bits, self.edges, self.dims, self.grid.shape, self.axes)


def _per_sample(
    bits: NDArray[np.float64],
    edges: tuple[NDArray[np.int64], ...],
    dims: tuple[str, ...],
    shape: tuple[int, ...],
    axes: tuple[int, ...],
) -> BitMap:
    """Return the map of mean bits per sample from sums of bits.

    Parameters
    ----------
    bits : sums of bits at each position of the map
    edges, dims : see `BitMap`
    shape : extents of the array
    axes : axes of the array that the map has
    """
    samples = np.ones(())
    for along in edges:
        samples = np.multiply.outer(samples, np.diff(along))
    deep = math.prod(n for i, n in enumerate(shape) if i not in axes)
    return BitMap(bits / (samples * deep), edges, dims)


class BlockBits:
    """Encoded bits of the blocks of an array, summed by position along one or two axes to plot.

    The bits of lanes, such as the bands of an image, are summed by lane.
    """

    def __init__(
        self, coder: ChunkCoder | None, grid: ChunkGrid, dims: tuple[str, ...], picture: Picture
    ) -> None:
        assert coder is not None
        self.coder, self.grid, self.axes, self.lane_axis = coder, grid, picture.axes, picture.lanes
        grid_of = coder.grid
        # blocks of a `ByteGrid` have extents in bytes
        self.unit = grid_of.item_bytes if isinstance(grid_of, ByteGrid) else 1
        self.dims = tuple(dims[axis] for axis in self.axes)
        self.edges = tuple(self._edges(axis) for axis in self.axes)
        self.map_bits = np.zeros([len(edges) - 1 for edges in self.edges])
        has_lanes = bool(coder.layout.n_lanes) and self.lane_axis is not None
        self.lanes = np.zeros(grid.shape[self.lane_axis or 0]) if has_lanes else None
        self.lane_dim = dims[self.lane_axis or 0] if has_lanes else ""

    def add(self, number: int, index: frame.Index) -> None:
        """Add the bits of the blocks and lanes of a chunk, given its number and its frame index."""
        corner = [s.start for s in self.grid.region(number)]
        for block in range(self.coder.layout.n_blocks):
            start = [
                c + s.start // self.unit
                for c, s in zip(corner, self.coder.grid.slices(block), strict=True)
            ]
            self._add_block(start, 8 * int(index.lengths[block]))
            if self.lanes is not None and index.lane_bits is not None:
                self._add_lanes(start, index.lane_bits[block])

    def _add_block(self, start: list[int], bits: int) -> None:
        place = tuple(
            min(int(np.searchsorted(edges, start[axis], "right")) - 1, len(edges) - 2)
            for axis, edges in zip(self.axes, self.edges, strict=True)
        )  # a block that is all padding is not drawn
        self.map_bits[place] += bits

    def _add_lanes(self, start: list[int], lanes: NDArray[np.int64]) -> None:
        assert self.lanes is not None
        assert self.lane_axis is not None
        first = start[self.lane_axis]
        room = self.lanes[first : first + len(lanes)]
        room += lanes[: len(room)]

    def _edges(self, axis: int) -> NDArray[np.int64]:
        """Return the offsets of the blocks along an axis, and the end of the array, in samples."""
        extent, chunk = self.grid.shape[axis], self.grid.chunks[axis]
        block = self.coder.grid.block_shape[axis] // self.unit
        starts = (c + b for c in range(0, extent, chunk) for b in range(0, chunk, block))
        return np.array([*(s for s in starts if s < extent), extent])

    def lane_bits(self) -> NDArray[np.float64] | None:
        """Return the mean bits per sample of each lane, (lanes,) float64; None without lanes."""
        if self.lanes is None:
            return None
        per_lane = math.prod(self.grid.shape) / len(self.lanes)
        bits: NDArray[np.float64] = self.lanes / per_lane
        return bits

    def block_bits(self) -> BitMap:
        """Return the mean bits per sample of blocks at each position along the axes to plot."""
        return _per_sample(self.map_bits, self.edges, self.dims, self.grid.shape, self.axes)


@dataclass(frozen=True)
class ArrayBits:
    """Bits per sample of an array, by block or by chunk.

    Attributes
    ----------
    blocks : bits of lanes and blocks; None if the codec has no blocks that can be drawn
    chunks : bits of chunks; None if those of the blocks are known or there are no samples
    """

    blocks: BlockBits | None = None
    chunks: ChunkBits | None = None
