"""The Zarr codec of sequencing reads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial

from gangsaw.codecs.core.arrays import Array, Dtype
from gangsaw.codecs.core.container.chunk import ChunkCoder
from gangsaw.codecs.core.container.frame import FrameLayout, lane_bytes
from gangsaw.codecs.core.container.grid import BlockGrid
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.memory.threads import thread_limit
from gangsaw.codecs.core.zarr.block_codec import BlockCodec, Direction
from gangsaw.codecs.reads import memory
from gangsaw.codecs.reads.params import Params
from gangsaw.codecs.reads.payload import MOST_GROWTH, SHARED_LANES, lanes_for

CODEC_ID, CODEC_VERSION = 3, 1  # SPEC.md


@dataclass(frozen=True, init=False)
class Reads(BlockCodec):
    """Zarr codec `gangsaw.reads`; its keywords are the fields of `Params`.

    zarr.create_array(store, ..., serializer=Reads(kind="quality"), compressors=None)
    """

    params: Params
    codec_name = "gangsaw.reads"
    params_type = Params

    def has_kernels(self, direction: Direction) -> bool:
        """Whether a device does this: all kinds are decoded there, offsets alone encoded."""
        return direction == "decode" or self.params.has_device_encoder

    def _coder(self, shape: tuple[int, ...], dtype: Dtype) -> ChunkCoder:
        return _coder_of(self.params, shape, dtype)

    def peak_bytes(self, shape: tuple[int, ...], dtype: Dtype) -> int:
        """Return a bound on the memory of encoding or decoding one chunk, without the chunk."""
        grid = _coder_of(self.params, shape, dtype).grid
        busy = min(thread_limit(), grid.n_blocks)
        block_bytes = min(grid.block_shape[0], shape[0]) * dtype.itemsize
        return memory.peak_bytes(self.params.kind, block_bytes, grid.n_blocks, busy)


@lru_cache(maxsize=64)
def _coder_of(params: Params, shape: tuple[int, ...], dtype: Dtype) -> ChunkCoder:
    if len(shape) != 1 or dtype.newbyteorder("=") != params.dtype:
        raise BadParams(
            f"{Reads.codec_name} of kind {params.kind} codes {params.dtype} on one axis, "
            f"got {dtype} of shape {shape}"
        )
    block, lane = params.sizes
    items = max(1, min(block, shape[0]))
    grid = BlockGrid(shape, (items,))
    width = lane_bytes(8 * (items * params.dtype.itemsize + MOST_GROWTH))
    n_lanes = SHARED_LANES + -(-items // lane)
    layout = FrameLayout(CODEC_ID, CODEC_VERSION, grid.n_blocks, n_lanes, width, sums_lanes=True)
    names, needed = (Reads.codec_name, __package__), partial(lanes_for, lane)
    return ChunkCoder(*names, params, dtype, grid, layout, _as_is, needed)


def _as_is(block: Array) -> Array:
    return block
