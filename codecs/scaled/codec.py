"""Zarr codec for floats that are scaled integers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from gangsaw.codecs.core.arrays import Dtype
from gangsaw.codecs.core.container.plan import ChunkPlan
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.zarr.block_codec import BlockCodec, Direction
from gangsaw.codecs.scaled import memory
from gangsaw.codecs.scaled.params import Params

MOST_ITEMS = (1 << 31) - 1  # items of a block: positions have this many bits


@dataclass(frozen=True, init=False)
class Scaled(BlockCodec):
    """Zarr codec `gangsaw.scaled` of floats that were computed from integers by scale and offset.

    It encodes float32 and float64 without loss, such as reflectance, counts and packed variables of
    CF [1]_: a codec of integers encodes the integers k, and another codec blocks that are not
    scaled.

    Parameters
    ----------
    inner : codec, str or dict, default "gangsaw.ccsds123"
        Codec of the integers, given as a codec, by its name, or as JSON.
    floats : codec, str or dict, default "gangsaw.visibility"
        Codec of blocks that are not scaled integers, given likewise.
    scale : float, default 10000.0
        Scale s, finite and above 0.
    offset : float, default 0.0
        Offset o, finite.
    form : {"quotient", "product"}, default "quotient"
        A sample is k / s + o in form "quotient", k * s + o in "product".
    precision : {"array", "double"}, default "array"
        Dtype of this computation: "array" for the array's own, or "double", then rounded.
    integers : {"int8", "uint8", "int16", "uint16", "int32"}, default "int16"
        Dtype of k.

    Raises
    ------
    BadParams
        A parameter is outside its range, or a codec does not encode such arrays.

    References
    ----------
    .. [1] CF conventions 1.11, 8.1, "Packed data".

    Examples
    --------
    >>> import numpy as np
    >>> import zarr
    >>> from gangsaw.codecs import Scaled
    >>> counts = np.arange(2 * 16 * 16, dtype="int16").reshape(2, 16, 16)
    >>> reflectance = (counts / np.float32(10000)).astype("float32")
    >>> stored = zarr.create_array(
    ...     {},
    ...     data=reflectance,
    ...     chunks=reflectance.shape,
    ...     serializer=Scaled(scale=10000),
    ...     compressors=None,
    ... )
    >>> bool((stored[:] == reflectance).all())
    True
    """

    params: Params
    codec_name = "gangsaw.scaled"
    codec_id, version = 6, 1  # codec id and format version of SPEC.md
    params_type = Params

    def has_kernels(self, direction: Direction) -> bool:
        """Return False: only the host has kernels."""
        return False

    def plan(self, shape: tuple[int, ...], dtype: Dtype) -> ChunkPlan:
        """Return the block plan of a chunk's integers; raise BadParams if there is none."""
        if dtype.kind != "f" or dtype.itemsize not in (4, 8):
            raise BadParams(f"{self.codec_name} codes float32 and float64, got {dtype}")
        self.params.constants(dtype)
        plan = self.params.inner.plan(shape, self.params.dtype)
        if not plan.grid.is_tiled:
            raise BadParams(f"blocks of {self.params.inner.codec_name} are no tiles of a chunk")
        if math.prod(plan.grid.block_shape) > MOST_ITEMS:
            raise BadParams(f"a block of {plan.grid.block_shape} has more than {MOST_ITEMS} items")
        self.params.floats.plan(_viewed(plan), dtype)
        return replace(plan, lanes_for=None, sums_lanes=False)

    def peak_bytes(self, shape: tuple[int, ...], dtype: Dtype) -> int:
        """Return an upper bound of the bytes to encode or decode one chunk, without the chunk."""
        plan = self.plan(shape, dtype)
        if not plan.grid.n_blocks:
            return 0
        block, n_items = plan.grid.block_shape, math.prod(plan.grid.block_shape)
        inner = self.params.inner.peak_bytes(block, self.params.dtype)
        floats = self.params.floats.peak_bytes(_viewed(plan), dtype)
        sizes = n_items * dtype.itemsize, n_items
        return memory.peak_bytes(*sizes, inner, floats, plan.grid.n_blocks, plan.busy)


def _viewed(plan: ChunkPlan) -> tuple[int, ...]:
    """Return the extents of the largest block as the backends see it, with its axes rearranged."""
    block = np.broadcast_to(np.empty((), np.uint8), plan.grid.block_shape)
    return np.asarray(plan.view(block)).shape
