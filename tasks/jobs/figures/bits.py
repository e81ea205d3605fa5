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
    """Sums of the bits of chunks, by position along the last two axes of an array."""

    def __init__(self, grid: ChunkGrid, dims: tuple[str, ...]) -> None:
        self.grid, self.axes = grid, tuple(range(len(dims))[-2:])
        self.dims = tuple(dims[axis] for axis in self.axes)
        pairs = [(grid.shape[axis], grid.chunks[axis]) for axis in self.axes]
        self.edges = tuple(np.array([*range(0, extent, n), extent]) for extent, n in pairs)
        self.map_bits = np.zeros([len(edges) - 1 for edges in self.edges])

    def add(self, number: int, bits: int) -> None:
        """Add the stored bits of a chunk."""
        position = self.grid.position(number)
        self.map_bits[tuple(position[axis] for axis in self.axes)] += bits

    def bits(self) -> BitMap:
        """Return the bits per sample of each chunk along the drawn axes."""
        return _per_sample(self.map_bits, self.edges, self.dims, self.grid.shape, self.axes)


def _per_sample(
    bits: NDArray[np.float64],
    edges: tuple[NDArray[np.int64], ...],
    dims: tuple[str, ...],
    shape: tuple[int, ...],
    axes: tuple[int, ...],
) -> BitMap:
    """Return sums of bits as bits per sample; `axes` are the axes of the map in the array."""
    samples = np.ones(())
    for along in edges:
        samples = np.multiply.outer(samples, np.diff(along))
    deep = math.prod(n for i, n in enumerate(shape) if i not in axes)
    return BitMap(bits / (samples * deep), edges, dims)


class BlockBits:
    """Sums of the bits of lanes and of blocks along the drawn axes, chunk by chunk."""

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
        """Add the blocks and lanes of a chunk, by its index."""
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
        """Return the offsets of the blocks along an axis, and the end of the array."""
        extent, chunk = self.grid.shape[axis], self.grid.chunks[axis]
        block = self.coder.grid.block_shape[axis] // self.unit
        starts = (c + b for c in range(0, extent, chunk) for b in range(0, chunk, block))
        return np.array([*(s for s in starts if s < extent), extent])

    def lane_bits(self) -> NDArray[np.float64] | None:
        """Return bits per sample of each lane, (lanes,) float64; None if no lanes are counted."""
        if self.lanes is None:
            return None
        per_lane = math.prod(self.grid.shape) / len(self.lanes)
        bits: NDArray[np.float64] = self.lanes / per_lane
        return bits

    def block_bits(self) -> BitMap:
        """Return the bits per sample of each block along the drawn axes."""
        return _per_sample(self.map_bits, self.edges, self.dims, self.grid.shape, self.axes)


@dataclass(frozen=True)
class ArrayBits:
    """Bits of the blocks or of the chunks of an array; None if they are not counted."""

    blocks: BlockBits | None = None
    chunks: ChunkBits | None = None
