"""Zarr codec of CCSDS-123."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from gangsaw.codecs.ccsds123 import memory
from gangsaw.codecs.ccsds123.narrow import coded_dtype
from gangsaw.codecs.ccsds123.params import Image, Params
from gangsaw.codecs.core.arrays import ArrayT, Dtype
from gangsaw.codecs.core.container.frame import lane_bytes
from gangsaw.codecs.core.container.grid import BlockGrid
from gangsaw.codecs.core.container.plan import ChunkPlan
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.zarr.block_codec import BlockCodec, Direction


@dataclass(frozen=True, init=False)
class Ccsds123(BlockCodec):
    """Zarr codec `gangsaw.ccsds123`; its keywords are the fields of `Params`.

    zarr.create_array(store, ..., serializer=Ccsds123(prediction_bands=15), compressors=None)
    """

    params: Params
    codec_name = "gangsaw.ccsds123"
    codec_id, version = 1, 1  # SPEC.md
    params_type = Params

    def plan(self, shape: tuple[int, ...], dtype: Dtype) -> ChunkPlan:
        """Return blocks and lanes of a chunk; raise BadParams if it cannot be coded."""
        axes, grid = self._axes(shape), self._grid(shape)
        n_lanes = width = 0
        if grid.n_blocks:
            # check that tables fit the smallest block, too
            self._image(grid, grid.n_blocks - 1, axes, dtype)
            n_lanes, width = self._lanes(self._image(grid, 0, axes, dtype))
        return ChunkPlan(grid, n_lanes, width, partial(image_view, axes))

    def peak_bytes(self, shape: tuple[int, ...], dtype: Dtype) -> int:
        """Return a bound on the working memory of coding one chunk, in bytes."""
        plan = ChunkPlan(grid := self._grid(shape))
        if not grid.n_blocks:
            return 0
        image = self._image(grid, 0, self._axes(shape), dtype)
        return memory.peak_bytes(image, self.params, grid.n_blocks, plan.busy)

    def has_kernels(self, direction: Direction) -> bool:
        """Return True if a GPU can code the blocks: blocks without lanes are serial."""
        return self.params.has_lanes

    def _axes(self, shape: tuple[int, ...]) -> str:
        if len(shape) < 2:
            raise BadParams(f"{self.codec_name} needs two axes or more, got shape {shape}")
        return self.params.axes if len(shape) > 2 else self.params.axes.replace("z", "")

    def _grid(self, shape: tuple[int, ...]) -> BlockGrid:
        axes, wanted = self._axes(shape), dict(zip("zyx", self.params.block, strict=True))
        last = shape[len(shape) - len(axes) :]
        tile = (max(1, min(wanted[axis] or n, n)) for axis, n in zip(axes, last, strict=True))
        return BlockGrid(shape, (1,) * (len(shape) - len(axes)) + tuple(tile))

    def _image(self, grid: BlockGrid, block: int, axes: str, dtype: Dtype) -> Image:
        extents = [part.stop - part.start for part in grid.slices(block)][-len(axes) :]
        sizes = dict(zip(axes, extents, strict=True))
        image = self.params.image((sizes.get("z", 1), sizes["y"], sizes["x"]), coded_dtype(dtype))
        self.params.resolved(image)
        return image

    def _lanes(self, image: Image) -> tuple[int, int]:
        """Return lanes per block and bytes per lane length, from the bound in SPEC.md."""
        if not self.params.has_lanes:
            return 0, 0
        depth, pixels = image.bit_depth, image.n_rows * image.n_columns
        return image.n_bands, lane_bytes(depth + (pixels - 1) * (self.params.unary_limit + depth))


def image_view(axes: str, block: ArrayT) -> ArrayT:
    """Return the (z, y, x) view of a block with last axes `axes`. Its other axes have extent 1.

    Parameters
    ----------
    axes : a permutation of "zyx" or of "yx"
    block : array of at least that many axes
    """
    image = block[(0,) * (len(block.shape) - len(axes))]
    view = image.transpose([axes.index(axis) for axis in "zyx" if axis in axes])
    return view if "z" in axes else view[None]
