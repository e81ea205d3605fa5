"""The Zarr codec of nucleotide sequences."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from gangsaw.codecs.core.arrays import Array, Dtype
from gangsaw.codecs.core.container.chunk import ChunkCoder
from gangsaw.codecs.core.container.frame import FrameLayout, lane_bytes
from gangsaw.codecs.core.container.grid import BlockGrid
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.memory.threads import thread_limit
from gangsaw.codecs.core.zarr.block_codec import BlockCodec
from gangsaw.codecs.dna import memory
from gangsaw.codecs.dna.dense.shape import lanes_of
from gangsaw.codecs.dna.params import Params

CODEC_ID, CODEC_VERSION = 4, 1  # SPEC.md


@dataclass(frozen=True, init=False)
class Dna(BlockCodec):
    """Zarr codec `gangsaw.dna`; its keywords are the fields of `Params`.

    zarr.create_array(store, ..., serializer=Dna(mode="pack"), compressors=None)
    """

    params: Params
    codec_name = "gangsaw.dna"
    params_type = Params

    def _coder(self, shape: tuple[int, ...], dtype: Dtype) -> ChunkCoder:
        return _coder_of(self.params, shape, dtype)

    def peak_bytes(self, shape: tuple[int, ...], dtype: Dtype) -> int:
        """Return a bound on the memory of encoding or decoding one chunk, without the chunk."""
        grid = _coder_of(self.params, shape, dtype).grid
        busy = min(thread_limit(), grid.n_blocks)
        return memory.peak_bytes(grid.block_shape[0], grid.n_blocks, busy, self.params.has_lanes)


@lru_cache(maxsize=64)
def _coder_of(params: Params, shape: tuple[int, ...], dtype: Dtype) -> ChunkCoder:
    if len(shape) != 1 or dtype.str[1:] != "u1":
        raise BadParams(f"{Dna.codec_name} codes uint8 on one axis, got {dtype} of shape {shape}")
    grid = BlockGrid(shape, (max(1, min(params.size, shape[0])),))
    n_lanes = width = 0
    if params.has_lanes:  # which are shorter than the packed bases of their block
        n_lanes, width = lanes_of(grid.block_shape[0]), lane_bytes(2 * grid.block_shape[0])
    layout = FrameLayout(CODEC_ID, CODEC_VERSION, grid.n_blocks, n_lanes, width)
    return ChunkCoder(Dna.codec_name, __package__, params, dtype, grid, layout, _as_is)


def _as_is(block: Array) -> Array:
    return block
