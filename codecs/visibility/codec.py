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
    """Zarr codec `gangsaw.visibility`; its keywords are the fields of `Params`.

    zarr.create_array(store, ..., serializer=Visibility(effort="fast"), compressors=None)
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

        parameters : fields of `Params` except `axes`
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
