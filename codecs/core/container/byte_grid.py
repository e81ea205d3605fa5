"""Division of a chunk into runs of its bytes, for codecs of any dtype and rank."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, Self, cast

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Array, Dtype
from gangsaw.codecs.core.container.grid import Piece, expand, items_of
from gangsaw.codecs.core.cuda.device import empty_in_memory_of
from gangsaw.codecs.core.errors import BadParams

KINDS = "biufcmMSUV"  # dtype kinds whose items are plain bytes


@dataclass(frozen=True)
class ByteGrid:
    """`Division` of a chunk's bytes into blocks of equal length, the last one possibly shorter.

    The bytes are those of the items in C order, little-endian. A block is (n,) uint8 of whole
    items. A chunk with another layout is coded through a copy.

    Attributes
    ----------
    chunk_shape : extents of the chunk, in items
    item_bytes : bytes of an item
    block_items : items of a block
    """

    chunk_shape: tuple[int, ...]
    item_bytes: int
    block_items: int

    @classmethod
    def of(cls, chunk_shape: tuple[int, ...], dtype: Dtype, block_bytes: int) -> Self:
        """Return the grid of blocks of block_bytes bytes, or of one item if that is larger.

        Raises
        ------
        BadParams : items of this dtype are no runs of bytes
        """
        if dtype.kind not in KINDS or dtype.names or not dtype.itemsize:
            raise BadParams(f"items of {dtype} are no plain bytes")
        return cls(chunk_shape, dtype.itemsize, max(1, block_bytes // dtype.itemsize))

    @property
    def block_shape(self) -> tuple[int]:
        """Extent of a block, in bytes."""
        return (self.block_items * self.item_bytes,)

    @cached_property
    def n_blocks(self) -> int:
        """Number of blocks; 0 when an extent of the chunk is 0."""
        return -(-math.prod(self.chunk_shape) // self.block_items)

    @property
    def is_tiled(self) -> bool:
        """False: blocks may end anywhere along an axis."""
        return False

    def coded(self, chunk: Array) -> Array:
        """Return a chunk's bytes, (n,) uint8: a view if its layout allows, else a copy.

        A view requires a C-contiguous chunk of little-endian items.
        """
        own = cast(_Items, chunk)
        if not _is_plain(own):
            dtype = chunk.dtype.newbyteorder("<")
            own = cast(_Items, empty_in_memory_of(chunk, chunk.shape, dtype, "C"))
            own[...] = chunk
        return own.reshape(-1).view(np.uint8)

    def write_back(self, coded: Array, chunk: Array) -> None:
        """Copy decoded bytes to the chunk, unless they are a view of it."""
        target = cast(_Items, chunk)
        if not _is_plain(target):
            items = cast(_Items, coded).view(chunk.dtype.newbyteorder("<"))
            target[...] = items.reshape(chunk.shape)

    def block(self, coded: Array, index: int) -> Array:
        """Return a block, a view of the bytes."""
        return coded[self.slices(index)]

    def blocks(self, coded: Array) -> Iterator[Array]:
        """Yield the blocks in order."""
        return (self.block(coded, index) for index in range(self.n_blocks))

    def slices(self, index: int) -> tuple[Piece]:
        """Return the byte range of block `index` in the chunk, as a tuple of one slice."""
        (extent,), n_bytes = self.block_shape, math.prod(self.chunk_shape) * self.item_bytes
        return (slice(index * extent, min((index + 1) * extent, n_bytes)),)

    def bounds(self, selection: object) -> range:
        """Return the smallest range of bytes that contains all bytes of `chunk[selection]`."""
        starts, length = self._runs(selection)
        if not starts.size:
            return range(0)
        end = int(starts.max()) + length
        return range(int(starts.min()) * self.item_bytes, end * self.item_bytes)

    def touched(self, selection: object) -> npt.NDArray[np.int64]:
        """Return the numbers of the blocks that `chunk[selection]` reads, see `Division`."""
        starts, length = self._runs(selection)
        change = np.zeros(self.n_blocks + 1, np.int64)
        np.add.at(change, starts // self.block_items, 1)
        np.add.at(change, (starts + length - 1) // self.block_items + 1, -1)
        return np.flatnonzero(np.cumsum(change[:-1])).astype(np.int64)

    def _runs(self, selection: object) -> tuple[npt.NDArray[np.int64], int]:
        """Return the first items, (n,), of the contiguous runs that are read, and their length."""
        axes = list(zip(expand(selection, self.chunk_shape), self._axes, strict=True))
        start, length, is_whole = 0, 1, True
        while axes and is_whole and isinstance(part := axes[-1][0], slice):
            _, (extent, stride) = axes[-1]
            items = range(*part.indices(extent))
            if not items:
                return np.empty(0, np.int64), 0
            if abs(items.step) > 1 and len(items) > 1:
                break
            start, length = start + min(items[0], items[-1]) * stride, len(items) * stride
            is_whole = len(items) == extent
            axes.pop()
        chosen = [items_of(p, n) * stride for p, (n, stride) in axes if not isinstance(p, slice)]
        starts: npt.NDArray[np.int64] = np.asarray(sum(chosen, np.int64(start)))
        for part, (extent, stride) in axes:
            if isinstance(part, slice):
                starts = np.add.outer(starts, np.arange(extent)[part] * stride)
        return starts.ravel(), length

    @property
    def _axes(self) -> list[tuple[int, int]]:
        """Extent and stride of each axis of the chunk, in items."""
        shape = self.chunk_shape
        return [(n, math.prod(shape[axis + 1 :])) for axis, n in enumerate(shape)]


class _Contiguity(Protocol):
    """Interface of array flags: whether an array is C-contiguous."""

    c_contiguous: bool


class _Items(Array, Protocol):
    """Interface of NumPy and CuPy arrays: the methods that `Array` lacks."""

    @property
    def flags(self) -> _Contiguity: ...

    def __setitem__(self, where: object, items: Array, /) -> None: ...

    def reshape(self, shape: int | tuple[int, ...], /) -> _Items: ...

    def view(self, dtype: object, /) -> _Items: ...


def _is_plain(chunk: _Items) -> bool:
    """Return True if a chunk is C-contiguous and little-endian: then blocks are views of it."""
    return chunk.flags.c_contiguous and chunk.dtype == chunk.dtype.newbyteorder("<")
