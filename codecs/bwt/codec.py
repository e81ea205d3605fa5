"""Zarr codec for text and other bytes."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gangsaw.codecs.bwt import memory
from gangsaw.codecs.bwt.params import MOST_BLOCK, Params
from gangsaw.codecs.core.arrays import Dtype
from gangsaw.codecs.core.container.byte_grid import ByteGrid
from gangsaw.codecs.core.container.plan import ChunkPlan
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.zarr.block_codec import BlockCodec


@dataclass(frozen=True, init=False)
class Bwt(BlockCodec):
    """Zarr codec `gangsaw.bwt` (Burrows-Wheeler); its keywords are the fields of `Params`.

    zarr.create_array(store, ..., serializer=Bwt(effort="fast"), compressors=None)
    """

    params: Params
    codec_name = "gangsaw.bwt"
    codec_id, version = 5, 1  # codec id and format version of SPEC.md
    params_type = Params

    def plan(self, shape: tuple[int, ...], dtype: Dtype) -> ChunkPlan:
        """Return a chunk's division into blocks; raise BadParams if an item exceeds a block."""
        if dtype.itemsize > MOST_BLOCK:
            raise BadParams(f"{self.codec_name} codes items of {MOST_BLOCK} bytes at most")
        return ChunkPlan(ByteGrid.of(shape, dtype, self.params.block))

    def peak_bytes(self, shape: tuple[int, ...], dtype: Dtype) -> int:
        """Return an upper bound of the memory to encode or decode a chunk, without the chunk."""
        plan, n_bytes = self.plan(shape, dtype), math.prod(shape) * dtype.itemsize
        block = min(plan.grid.block_shape[0], n_bytes)
        effort = self.params.effort
        return memory.peak_bytes(n_bytes, block, plan.grid.n_blocks, plan.busy, effort)
