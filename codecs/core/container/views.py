"""Views of a chunk's blocks for backends, each created when it is needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Array, Dtype, NumpyArray
from gangsaw.codecs.core.container.grid import Division
from gangsaw.codecs.core.memory.aligned import address_of

Slice: TypeAlias = "slice[int | None, int | None, int | None]"
Form: TypeAlias = tuple[tuple[int, ...], tuple[int, ...], Dtype]  # shape, strides, dtype


class BlockViews(Sequence[Array]):
    """Sequence of views of a chunk's blocks, each created on access.

    Parameters
    ----------
    chunk : array of the grid's shape
    grid : division of the chunk into blocks
    view : function from a block of the grid to the view that backends take
    numbers : numbers of the blocks, or None for all
    """

    def __init__(
        self,
        chunk: Array,
        grid: Division,
        view: Callable[[Array], Array],
        numbers: npt.NDArray[np.int64] | None = None,
    ) -> None:
        self.chunk, self.grid, self.view, self.numbers = chunk, grid, view, numbers
        self.coded = grid.coded(chunk)

    def write_back(self) -> None:
        """Copy decoded blocks to the chunk if they are no views of it."""
        self.grid.write_back(self.coded, self.chunk)

    def __len__(self) -> int:
        """Return the number of blocks."""
        return self.grid.n_blocks if self.numbers is None else len(self.numbers)

    @overload
    def __getitem__(self, which: int) -> Array: ...

    @overload
    def __getitem__(self, which: Slice) -> list[Array]: ...

    def __getitem__(self, which: int | Slice) -> Array | list[Array]:
        """Return the view of a block, or a list of views."""
        if isinstance(which, slice):
            return [self[i] for i in range(len(self))[which]]
        number = range(len(self))[which]
        if self.numbers is not None:
            number = int(self.numbers[number])
        return self.view(self.grid.block(self.coded, number))

    @property
    def nbytes(self) -> int:
        """Bytes of all blocks."""
        if self.numbers is None:
            return int(self.chunk.nbytes)
        return sum(view.nbytes for view in self)

    def addresses(self) -> BlockAddresses:
        """Return the addresses of the blocks in host memory."""
        coded = self.coded
        offsets, forms = _geometry(self.grid, self.view, coded.shape, coded.strides, coded.dtype)
        if self.numbers is not None:
            forms = tuple(forms[i] for i in self.numbers.tolist())
            offsets = offsets[self.numbers]
        return BlockAddresses(address_of(np.asarray(coded)), offsets, forms, self.nbytes)


class BlockAddresses(NamedTuple):
    """Addresses of blocks in host memory; the caller keeps the memory alive.

    Attributes
    ----------
    base : address that the offsets are relative to
    offsets : (n_blocks,) int64, bytes from `base` to the first item of each block
    forms : (shape, byte strides, dtype) of each block
    n_bytes : bytes of all blocks
    """

    base: int
    offsets: npt.NDArray[np.int64]
    forms: tuple[Form, ...]
    n_bytes: int


def block_addresses(blocks: Sequence[NumpyArray]) -> BlockAddresses:
    """Return the memory addresses of NumPy blocks, for kernels."""
    if isinstance(blocks, BlockViews):
        return blocks.addresses()
    addresses = np.array([address_of(block) for block in blocks], np.int64)
    return BlockAddresses(0, addresses, _forms(blocks), sum(block.nbytes for block in blocks))


@lru_cache(maxsize=32)  # chunks of an array share the result: no view is created for each block
def _geometry(
    grid: Division,
    view: Callable[[Array], Array],
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    dtype: Dtype,
) -> tuple[npt.NDArray[np.int64], tuple[Form, ...]]:
    """Return byte offsets from the chunk's first item, and forms, of the views of all blocks.

    A form is (shape, byte strides, dtype). Equal forms are one object.
    """
    byte = np.empty(0, np.uint8)
    array: Array = np.lib.stride_tricks.as_strided(byte.view(dtype), shape, strides)
    views = [np.asarray(view(block)) for block in grid.blocks(array)]
    offsets = np.array([address_of(block) for block in views]) - address_of(byte)
    return offsets, _forms(views)


def _forms(blocks: Sequence[NumpyArray]) -> tuple[Form, ...]:
    """Return shape, byte strides and dtype of each block; equal forms are one object."""
    known: dict[Form, Form] = {}
    forms = [(block.shape, block.strides, block.dtype) for block in blocks]
    return tuple(known.setdefault(form, form) for form in forms)
