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
    """Zarr codec `gangsaw.scaled`; its keywords are the fields of `Params`.

    zarr.create_array(store, ..., dtype="float32", serializer=Scaled(scale=10000), compressors=None)
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
