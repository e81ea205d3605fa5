"""The codec for Zarr."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gangsaw.codecs.core.container.byte_grid import ByteGrid
from gangsaw.codecs.core.container.plan import ChunkPlan
from gangsaw.codecs.core.zarr.block_codec import BlockCodec
from gangsaw_octets.memory import peak_bytes
from gangsaw_octets.params import Params


@dataclass(frozen=True, init=False)
class Octets(BlockCodec):
    """Zarr codec `gangsaw.octets`; its keywords are the fields of `Params`."""

    params: Params
    codec_name = "gangsaw.octets"
    codec_id, version = 65001, 1  # SPEC.md
    params_type = Params

    def plan(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> ChunkPlan:
        """Return the blocks of such a chunk; BadParams where its items are no plain bytes."""
        return ChunkPlan(ByteGrid.of(shape, dtype, self.params.block))

    def peak_bytes(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
        """Return a bound on the memory of coding one chunk, without the chunk."""
        plan, n_bytes = self.plan(shape, dtype), math.prod(shape) * dtype.itemsize
        busy = min(plan.busy * self.params.block, n_bytes)
        return peak_bytes(n_bytes, plan.grid.n_blocks, busy)
