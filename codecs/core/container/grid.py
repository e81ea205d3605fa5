"""Division of a chunk into tiles, and the blocks that a selection reads."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from types import EllipsisType
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Array
from gangsaw.codecs.core.errors import BadParams

Piece: TypeAlias = "slice[int, int, int]"  # range of a block on one axis
Slice: TypeAlias = "slice[int | None, int | None, int | None]"
Part: TypeAlias = "Slice | npt.NDArray[np.int64]"  # selection along one axis


class Division(Protocol):
    """Interface of a division of a chunk into blocks; equal if it gives the same blocks."""

    def __hash__(self) -> int:
        """Return a hash: divisions are keys of caches."""

    @property
    def chunk_shape(self) -> tuple[int, ...]:
        """Extents of the chunk."""

    @property
    def block_shape(self) -> tuple[int, ...]:
        """Extents of a block; the last block of an axis may be smaller."""

    @property
    def n_blocks(self) -> int:
        """Number of blocks; 0 when an extent of the chunk is 0."""

    @property
    def is_tiled(self) -> bool:
        """True if a block has an extent along each axis of the chunk."""

    def coded(self, chunk: Array) -> Array:
        """Return the array whose views are the blocks: the chunk, or a copy in another layout."""

    def write_back(self, coded: Array, chunk: Array) -> None:
        """Copy a decoded array of `coded` to the chunk, if it is a copy."""

    def block(self, coded: Array, index: int) -> Array:
        """Return a block, a view of `coded`."""

    def blocks(self, coded: Array) -> Iterator[Array]:
        """Yield the blocks in order."""

    def slices(self, index: int) -> tuple[Piece, ...]:
        """Return the range of a block along each axis of `block_shape`."""

    def bounds(self, selection: object) -> range:
        """Return the smallest range on the first axis of `coded` that covers `chunk[selection]`."""

    def touched(self, selection: object) -> npt.NDArray[np.int64]:
        """Return the numbers of the blocks that `chunk[selection]` reads: (k,) int64, ascending.

        Parameters
        ----------
        selection : any NumPy index: slices with steps, integers, integer or boolean arrays, open
            meshes (np.ix_)

        Raises
        ------
        IndexError : an index is outside the chunk
        """


@dataclass(frozen=True)
class BlockGrid:
    """`Division` of a chunk into tiles of one shape, in C order; tiles at the end may be smaller.

    Attributes
    ----------
    chunk_shape : extents of the chunk, in samples
    block_shape : extents of a block, in samples, each >= 1
    """

    chunk_shape: tuple[int, ...]
    block_shape: tuple[int, ...]

    def __post_init__(self) -> None:
        """Check that both shapes have the same rank and that block extents are at least 1."""
        if len(self.chunk_shape) != len(self.block_shape):
            raise BadParams(
                f"block {self.block_shape} and chunk {self.chunk_shape} differ in rank; "
                "give one block extent for each axis"
            )
        if any(extent < 1 for extent in self.block_shape):
            raise BadParams(f"block extents must be at least 1, got {self.block_shape}")

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """Number of blocks along each axis."""
        return tuple(-(-n // b) for n, b in zip(self.chunk_shape, self.block_shape, strict=True))

    @cached_property
    def _pieces(self) -> list[list[Piece]]:
        """Slices of the blocks along each axis."""
        pairs = zip(self.chunk_shape, self.block_shape, strict=True)
        return [[slice(i, min(i + b, n)) for i in range(0, n, b)] for n, b in pairs]

    @cached_property
    def n_blocks(self) -> int:
        """Number of blocks; 0 when an extent of the chunk is 0."""
        return math.prod(self.counts)

    @property
    def is_tiled(self) -> bool:
        """True: blocks have an extent along each axis."""
        return True

    def coded(self, chunk: Array) -> Array:
        """Return the chunk: blocks are views of it."""
        return chunk

    def write_back(self, coded: Array, chunk: Array) -> None:
        """Do nothing: blocks are views of the chunk."""

    def block(self, coded: Array, index: int) -> Array:
        """Return a block, a view of the chunk."""
        return coded[*self.slices(index), ...]  # the ellipsis avoids a copy if there are no axes

    def blocks(self, coded: Array) -> Iterator[Array]:
        """Yield the blocks in order."""
        return (coded[*place, ...] for place in self.all_slices())

    def slices(self, index: int) -> tuple[Piece, ...]:
        """Return the slice of block `index` along each axis of the chunk."""
        axes = []  # without `_pieces`: metadata may claim more of them than fit the memory
        triples = zip(self.counts, self.block_shape, self.chunk_shape, strict=True)
        for count, extent, n in reversed(list(triples)):
            index, i = divmod(index, count)
            axes.append(slice(i * extent, min((i + 1) * extent, n)))
        return tuple(axes[::-1])

    def all_slices(self) -> Iterator[tuple[Piece, ...]]:
        """Yield the slices of each block along the axes of the chunk, in order."""
        return itertools.product(*self._pieces)

    def bounds(self, selection: object) -> range:
        """Return the smallest range of the chunk's first axis that covers `chunk[selection]`."""
        part = expand(selection, self.chunk_shape)[0]
        if isinstance(part, slice):
            items = range(*part.indices(self.chunk_shape[0]))
            ends = sorted((items[0], items[-1])) if items else (0, -1)
            return range(ends[0], ends[1] + 1)
        found = np.where(part < 0, part + self.chunk_shape[0], part)
        return range(int(found.min()), int(found.max()) + 1) if found.size else range(0)

    def touched(self, selection: object) -> npt.NDArray[np.int64]:
        """Return the numbers of the blocks that `chunk[selection]` reads, see `Division`."""
        per_axis = expand(selection, self.chunk_shape)
        arrays = [axis for axis, part in enumerate(per_axis) if not isinstance(part, slice)]
        picked = [
            _block_numbers(per_axis[axis], self.chunk_shape[axis], self.block_shape[axis])
            for axis in range(len(per_axis))
        ]
        pointwise = _pointwise([picked[axis] for axis in arrays])
        mask = np.zeros(self.counts, bool)
        if pointwise is None:
            mask[np.ix_(*(np.unique(part) for part in picked))] = True
        else:
            _mark_points(mask, picked, arrays, pointwise)
        return np.flatnonzero(mask).astype(np.int64)


def expand(selection: object, shape: tuple[int, ...]) -> list[Part]:
    """Return a NumPy selection as one slice or integer array per axis of `shape`.

    Boolean masks become indices, and missing axes full slices.
    """
    parts: list[Part | EllipsisType] = []
    for part in selection if isinstance(selection, tuple) else (selection,):
        if isinstance(part, (slice, EllipsisType)):
            parts.append(part)
            continue
        array = np.asarray(part)
        parts.extend(np.nonzero(array) if array.dtype == bool else (array,))
    given = [part for part in parts if not isinstance(part, EllipsisType)]
    missing = len(shape) - len(given)
    if missing < 0:
        raise IndexError(f"{len(parts)} indices for a chunk of {len(shape)} axes")
    at = next((i for i, part in enumerate(parts) if part is Ellipsis), len(parts))
    return [*given[:at], *[slice(None)] * missing, *given[at:]]


def _block_numbers(part: Part, extent: int, block: int) -> npt.NDArray[np.int64]:
    if isinstance(part, slice):
        return _blocks_of_range(range(*part.indices(extent)), block)
    numbers: npt.NDArray[np.int64] = items_of(part, extent) // block
    return numbers


def items_of(part: npt.NDArray[np.int64], extent: int) -> npt.NDArray[np.int64]:
    """Return indices along an axis without negative ones; raise IndexError if one is outside."""
    items = np.where(part < 0, part + extent, part).astype(np.int64)
    if items.size and (items.min() < 0 or items.max() >= extent):
        raise IndexError(f"index outside a chunk axis of extent {extent}")
    return items


def _blocks_of_range(samples: range, block: int) -> npt.NDArray[np.int64]:
    """Return the numbers of the blocks that a range of samples along an axis reads, (k,) int64.

    They ascend. Steps no longer than a block skip no block between the ends.
    """
    if samples.step < 0:
        samples = samples[::-1]
    if not samples or samples.step > block:
        return np.unique(np.asarray(samples, np.int64) // block)
    return np.arange(samples[0] // block, samples[-1] // block + 1)


def _pointwise(arrays: list[npt.NDArray[np.int64]]) -> tuple[int, ...] | None:
    """Return the broadcast shape of index arrays that select points; None if they select a mesh.

    An open mesh is not broadcast: its outer product may be millions of times its size.
    """
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    longer = [sum(extent > 1 for extent in array.shape) for array in arrays]
    outer = sum(longer) == sum(extent > 1 for extent in shape) and max(longer, default=0) <= 1
    return None if outer else shape


def _mark_points(
    mask: npt.NDArray[np.bool_],
    picked: list[npt.NDArray[np.int64]],
    arrays: list[int],
    shape: tuple[int, ...],
) -> None:
    counts = tuple(mask.shape[axis] for axis in arrays)
    points = [np.broadcast_to(picked[axis], shape) for axis in arrays]
    flat = np.unique(np.ravel_multi_index(points, counts))
    for point in zip(*np.unravel_index(flat, counts), strict=True):
        place = list(picked)
        for axis, value in zip(arrays, point, strict=True):
            place[axis] = np.array([value])
        mask[np.ix_(*place)] = True
