"""Zarr codec for visibilities."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Self

import numpy as np

from gangsaw.codecs.core.arrays import ArrayT, Axis, Dtype
from gangsaw.codecs.core.container.grid import BlockGrid
from gangsaw.codecs.core.container.plan import ChunkPlan
from gangsaw.codecs.core.zarr.block_codec import BlockCodec, Direction
from gangsaw.codecs.visibility import memory
from gangsaw.codecs.visibility.axes import visibility_axes
from gangsaw.codecs.visibility.lanes.table import Lanes
from gangsaw.codecs.visibility.params import Params


@dataclass(frozen=True, init=False)
class Visibility(BlockCodec):
    """Zarr codec `gangsaw.visibility` of floats, such as visibilities of radio interferometers.

    It encodes float16, float32, float64, complex64 and complex128 arrays of any rank without loss:
    NaN payloads and -0.0 come back as they were. Predictors include the Lorenzo predictor [1]_.

    Parameters
    ----------
    effort : {"dense", "fast"}, default "dense"
        Coding of blocks without a construction: "dense" is smaller, "fast" takes less time.
    axes : str, default "auto"
        One letter per axis of the array: "t" time, "f" frequency, "b" any other; at most one "t"
        and one "f". "auto" is time, frequency, then others.
    block : tuple of int, default (0, 0, 0)
        Extents (time, frequency, rest) of a block in numbers, 0..2^31 - 1 each. The rest is the
        product of all "b" axes. 0 is chosen from the chunk's shape.
    predictor : str, default "auto"
        "none", "time", "frequency", "parallelogram", "lorenzo", "lagrange1", "lagrange2",
        "lagrange3", "mean" or "median" of a construction; "auto" leaves it to the effort.
        Predictor, residual and packing are given all three or none.
    window : int, default 4
        Number of past steps for the predictors "mean" and "median", 1..255.
    residual : {"auto", "xor", "difference"}, default "auto"
        Residual of a construction.
    packing : {"auto", "bits", "bytes"}, default "auto"
        Packing of a construction's residuals, by leading zero bits or bytes.

    Raises
    ------
    BadParams
        A parameter is outside its range, or some but not all of a construction are given.

    See Also
    --------
    gangsaw.codecs.visibility.StepEncoder : Encode time steps as they arrive.

    References
    ----------
    .. [1] L. Ibarria, P. Lindstrom, J. Rossignac and A. Szymczak, "Out-of-core compression and
       decompression of large n-dimensional scalar fields", 2003.

    Examples
    --------
    >>> import numpy as np
    >>> import zarr
    >>> from gangsaw.codecs import Visibility
    >>> data = np.linspace(0, 1, 64 * 32, dtype="complex64").reshape(16, 32, 4)
    >>> stored = zarr.create_array(
    ...     {},
    ...     data=data,
    ...     chunks=data.shape,
    ...     serializer=Visibility(effort="fast"),
    ...     compressors=None,
    ... )
    >>> bool((stored[:] == data).all())
    True
    """

    params: Params
    codec_name = "gangsaw.visibility"
    codec_id, version = 2, 1  # codec id and format version of SPEC.md
    params_type = Params

    @classmethod
    def for_dims(cls, dims: Iterable[str], **parameters: object) -> Self:
        """Return the codec for an array with these dimension names, such as xarray's `dims`.

        Zarr passes no dimension names to codecs, so `axes="auto"` goes by the order of axes. This
        method goes by names: "time", "frequency", "freq", "channel" or "chan", and any other.

        Parameters
        ----------
        dims : iterable of str
            Name of each dimension.
        **parameters : object
            Parameters of the codec except `axes`.

        Returns
        -------
        Visibility
            The codec.
        """
        return cls(axes=visibility_axes(dims), **parameters)

    def has_kernels(self, direction: Direction) -> bool:
        """Return True if GPU kernels exist; the founding paper's constructions have none."""
        return not self.params.is_construction

    def plan(self, shape: tuple[int, ...], dtype: Dtype) -> ChunkPlan:
        """Return the block plan of a chunk; raise BadParams if the codec cannot encode it."""
        grid = BlockGrid(shape, self.params.block_shape(shape, dtype))
        return ChunkPlan(grid, view=partial(block_view, self.params.axis_names(len(shape))))

    def peak_bytes(self, shape: tuple[int, ...], dtype: Dtype) -> int:
        """Return an upper bound of the bytes to encode or decode one chunk, without the chunk."""
        plan = self.plan(shape, dtype)
        grid, numbers = plan.grid, math.prod(plan.grid.block_shape)
        any_block = np.broadcast_to(np.empty((), dtype), [max(1, n) for n in grid.block_shape])
        lanes = Lanes.of_block(np.asarray(plan.view(any_block)))
        return memory.peak_bytes(numbers * dtype.itemsize, numbers, lanes, grid.n_blocks, plan.busy)


def block_view(axes: str, block: ArrayT) -> ArrayT:
    """Return the (time, frequency, ...) view of a block, with extent 1 for missing axes.

    Parameters
    ----------
    axes : str
        "t", "f" or "b" for each axis of the block
    """
    order, missing = _axis_order(axes)
    view = block.transpose(order)
    return view[missing] if missing else view


@lru_cache
def _axis_order(axes: str) -> tuple[tuple[int, ...], tuple[Axis | None, ...]]:
    """Return axes for `transpose`, then the index that inserts missing axes with extent 1."""
    order = [axes.index(axis) for axis in "tf" if axis in axes]
    order += [i for i, axis in enumerate(axes) if axis == "b"]
    missing = tuple(slice(None) if axis in axes else None for axis in "tf")
    return tuple(order), missing if None in missing else ()
