"""Zarr codec for nucleotide sequences."""

from __future__ import annotations

from dataclasses import dataclass

from gangsaw.codecs.core.arrays import Dtype
from gangsaw.codecs.core.container.frame import lane_bytes
from gangsaw.codecs.core.container.grid import BlockGrid
from gangsaw.codecs.core.container.plan import ChunkPlan
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.zarr.block_codec import BlockCodec
from gangsaw.codecs.dna import memory
from gangsaw.codecs.dna.dense.model.shape import lanes_of
from gangsaw.codecs.dna.params import Params


@dataclass(frozen=True, init=False)
class Dna(BlockCodec):
    """Zarr codec `gangsaw.dna` for nucleotide text; its keywords are the fields of `Params`.

    zarr.create_array(store, ..., serializer=Dna(mode="pack"), compressors=None)
    """

    params: Params
    codec_name = "gangsaw.dna"
    codec_id, version = 4, 3  # codec id and format version of SPEC.md
    params_type = Params

    def plan(self, shape: tuple[int, ...], dtype: Dtype) -> ChunkPlan:
        """Return a chunk's division into blocks and lanes; raise BadParams if it is unsuitable."""
        if len(shape) != 1 or dtype.str[1:] != "u1":
            raise BadParams(
                f"{self.codec_name} codes uint8 on one axis, got {dtype} of shape {shape}"
            )
        letters = max(1, min(self.params.size, shape[0]))
        grid = BlockGrid(shape, (letters,))
        if not self.params.has_lanes:
            return ChunkPlan(grid)
        # lanes are shorter than the packed bases of their block
        return ChunkPlan(grid, lanes_of(letters), lane_bytes(2 * letters))

    def peak_bytes(self, shape: tuple[int, ...], dtype: Dtype) -> int:
        """Return an upper bound of the memory to encode or decode a chunk, without the chunk."""
        plan, is_dense = self.plan(shape, dtype), self.params.has_lanes
        return memory.peak_bytes(plan.grid.block_shape[0], plan.grid.n_blocks, plan.busy, is_dense)
