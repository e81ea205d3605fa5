"""Elementwise functions over Dask arrays: lazy, block by block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from gangsaw.codecs.core.arrays import Dtype, NumpyArray

if TYPE_CHECKING:
    from dask.array import Array


class BlockFunction(Protocol):
    """Function that `map_blocks` applies to one block of each of its arrays."""

    def __call__(self, *blocks: NumpyArray) -> NumpyArray:
        """Return the function's value for each item of the broadcast blocks."""


def map_blocks(function: BlockFunction, *arrays: object, dtype: Dtype) -> Array:
    """Return a lazy Dask array: a function of the items of arrays, which are broadcast.

    `function` takes a block of each array; it is not called before the result is computed.
    """
    import dask.array as da

    given = [da.asarray(array) for array in arrays]  # type: ignore[no-untyped-call]
    rank = max(array.ndim for array in given)
    axes = tuple(range(rank))
    pairs = [part for array in given for part in (array, axes[rank - array.ndim :])]
    made: Array = da.blockwise(  # type: ignore[no-untyped-call]
        function, axes, *pairs, dtype=dtype, meta=np.empty((0,) * rank, dtype)
    )
    return made
