"""Zarr codec for rows of integers."""

from __future__ import annotations

from dataclasses import dataclass

from gangsaw.codecs.core.arrays import Dtype
from gangsaw.codecs.core.container.grid import BlockGrid
from gangsaw.codecs.core.container.plan import ChunkPlan
from gangsaw.codecs.core.zarr.block_codec import BlockCodec, Direction
from gangsaw.codecs.integers import memory
from gangsaw.codecs.integers.params import Params, check_array


@dataclass(frozen=True, init=False)
class Integers(BlockCodec):
    """Zarr codec `gangsaw.integers`; its keywords are the fields of `Params`.

    zarr.create_array(store, ..., dtype="uint32", serializer=Integers(), compressors=None)
    """

    params: Params
    codec_name = "gangsaw.integers"
    codec_id, version = 7, 1  # codec id and format version of SPEC.md
    params_type = Params

    def has_kernels(self, direction: Direction) -> bool:
        """Return False: only the host has kernels."""
        return False

    def plan(self, shape: tuple[int, ...], dtype: Dtype) -> ChunkPlan:
        """Return the block plan of a chunk; raise BadParams if the codec cannot encode it."""
        check_array(shape, dtype.str[1:])
        rows = max(1, min(self.params.size, shape[0]))
        return ChunkPlan(BlockGrid(shape, (rows, shape[1])))

    def peak_bytes(self, shape: tuple[int, ...], dtype: Dtype) -> int:
        """Return an upper bound of the bytes to encode or decode one chunk, without the chunk."""
        plan = self.plan(shape, dtype)
        rows, columns = plan.grid.block_shape
        return memory.peak_bytes(rows, columns, plan.grid.n_blocks, plan.busy)
