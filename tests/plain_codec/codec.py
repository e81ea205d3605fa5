"""The codec for Zarr: what a codec needs besides its backend."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from gangsaw.codecs.core.container.frame import lane_bytes
from gangsaw.codecs.core.container.grid import BlockGrid
from gangsaw.codecs.core.container.plan import ChunkPlan
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.zarr.block_codec import BlockCodec


@dataclass(frozen=True)
class Params:
    """Block extents, one per axis, and a prefix that each block begins with."""

    block: tuple[int, ...] = (4, 4)
    prefix: str = "plain"

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "block": list(self.block)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        return cls(**{**data, "block": tuple(data["block"])})


@dataclass(frozen=True, init=False)
class Plain(BlockCodec):
    """Zarr codec test.plain."""

    codec_name = "test.plain"
    codec_id, version = 0xFFFF, 1
    params_type = Params

    def plan(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> ChunkPlan:
        if dtype.kind not in "iufc":
            raise BadParams(f"test.plain holds numbers, got {dtype}")
        row = 8 * dtype.itemsize * int(np.prod(self.params.block[1:]))
        grid = BlockGrid(shape, self.params.block)
        return ChunkPlan(grid, self.params.block[0], lane_bytes(row))

    def peak_bytes(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
        return 4 * int(np.prod(shape)) * dtype.itemsize
