"""The toy codec for Zarr."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gangsaw.codecs.core.container.grid import BlockGrid
from gangsaw.codecs.core.container.plan import ChunkPlan
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.zarr.block_codec import BlockCodec
from gangsaw_toy.memory import peak_bytes
from gangsaw_toy.params import Params


@dataclass(frozen=True, init=False)
class Toy(BlockCodec):
    """Zarr codec `gangsaw.toy`; its keywords are the fields of `Params`."""

    params: Params
    codec_name = "gangsaw.toy"
    codec_id, version = 65000, 1  # SPEC.md
    params_type = Params

    def plan(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> ChunkPlan:
        """Return the blocks of such a chunk; BadParams where it cannot be coded."""
        if len(shape) != 1 or dtype != np.uint8:
            raise BadParams(f"{self.codec_name} codes uint8 on one axis, got {dtype} of {shape}")
        return ChunkPlan(BlockGrid(shape, (max(1, min(self.params.block[0], shape[0])),)))

    def peak_bytes(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
        """Return a bound on the memory of encoding or decoding one chunk, without the chunk."""
        plan = self.plan(shape, dtype)
        return peak_bytes(shape[0], plan.busy * plan.grid.block_shape[0])
