"""The toy codec for Zarr."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gangsaw.codecs.core.container.chunk import ChunkCoder
from gangsaw.codecs.core.container.frame import FrameLayout
from gangsaw.codecs.core.container.grid import BlockGrid
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.zarr.block_codec import BlockCodec
from gangsaw_toy.memory import peak_bytes
from gangsaw_toy.params import Params

CODEC_ID, CODEC_VERSION = 65000, 1  # SPEC.md


@dataclass(frozen=True, init=False)
class Toy(BlockCodec):
    """Zarr codec `gangsaw.toy`; its keywords are the fields of `Params`."""

    params: Params
    codec_name = "gangsaw.toy"
    params_type = Params

    def _coder(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> ChunkCoder:
        if len(shape) != 1 or dtype != np.uint8:
            raise BadParams(f"{self.codec_name} codes uint8 on one axis, got {dtype} of {shape}")
        grid = BlockGrid(shape, (max(1, min(self.params.block[0], shape[0])),))
        layout = FrameLayout(CODEC_ID, CODEC_VERSION, grid.n_blocks)
        return ChunkCoder(self.codec_name, __package__, self.params, dtype, grid, layout, _as_is)

    def peak_bytes(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
        """Return a bound on the memory of encoding or decoding one chunk, without the chunk."""
        return peak_bytes(shape[0])


def _as_is(block: Any) -> Any:
    return block
