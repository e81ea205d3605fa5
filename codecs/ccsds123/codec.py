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
    """Zarr codec `gangsaw.ccsds123` of multispectral and hyperspectral images.

    It encodes integers of 8, 16 or 32 bits, of two axes or more, without loss [1]_. Integers of 64
    bits are narrowed where each sample fits. Symbols are those of the standard.

    Parameters
    ----------
    block : tuple of int, default (0, 128, 256)
        Extents (z, y, x) of a block in samples, 0..65536 each; 0 is the whole chunk.
    axes : str, default "zyx"
        Meaning of the array's last axes, in order: a permutation of "zyx".
    bit_depth : int, default 0
        Dynamic range D, 2..32 bits, at most the width of the dtype; 0 is that width.
    prediction_bands : int, default 3
        Number P of preceding bands for prediction, 0..15.
    mode : {"full", "reduced"}, default "reduced"
        Prediction mode.
    local_sum : str, default "wide_neighbor"
        Local sum type: "wide_neighbor", "narrow_neighbor", "wide_column" or "narrow_column".
    register_size : int, default 0
        Register size R, 32..64 bits; 0 is the smallest conforming one, max(32, D + Omega + 2).
    weight_resolution : int, default 13
        Weight resolution Omega, 4..19.
    weight_interval : int, default 64
        Update interval t_inc, a power of two in 16..2048.
    weight_min, weight_max : int, default -1 and 4
        Limits of the weight update exponent: v_min in -6..9, v_max in v_min..9.
    init_weights : tuple of tuple of int, optional
        Custom weights Lambda, one tuple per band; None is the default initialization.
    init_weight_bits : int, default 0
        Width Q of custom weights in bits, 3..Omega + 3; 0 without custom weights.
    init_weights_in_header : bool, default True
        True if the header contains the custom weights.
    order : {"bsq", "bi"}, default "bsq"
        Encoding order.
    interleave_depth : int, default 0
        Interleaving depth M of the order "bi", 0..65536; 0 is all bands (BIP).
    coder : {"sample", "block"}, default "sample"
        Entropy coder: sample-adaptive or block-adaptive.
    word_bytes : int, default 1
        Size B of an output word, 1..8 bytes.
    unary_limit : int, default 18
        Unary length limit U_max, 8..32.
    rescale : int, default 4
        Rescaling counter size gamma*, max(4, gamma_0 + 1)..11.
    initial_count : int, default 1
        Initial count exponent gamma_0, 1..8.
    accumulator_init : int or tuple of int, default 5
        Accumulator constant K, 0..min(D - 2, 14), or one constant k'' per band. A single K is
        lowered to D - 2.
    samples_per_block : int, default 16
        Block size J of the block-adaptive coder: 8, 16, 32 or 64.
    reference_interval : int, default 256
        Reference sample interval r of the block-adaptive coder, 1..4096.
    restricted : bool, default False
        True for the restricted code option set, which needs D <= 4.
    user_data : int, default 0
        User byte of the header, 0..255.
    supplementary : tuple of `SupplementaryTable`, default ()
        At most 15 supplementary information tables.

    Raises
    ------
    BadParams
        A parameter is outside its range.

    See Also
    --------
    gangsaw.codecs.ccsds123.encode_stream : Compress an image to a stream of the standard.

    References
    ----------
    .. [1] CCSDS 123.0-B-2, "Low-Complexity Lossless and Near-Lossless Multispectral and
       Hyperspectral Image Compression", February 2019.
    .. [2] CCSDS 121.0-B-3, "Lossless Data Compression", August 2020: the block-adaptive coder.

    Examples
    --------
    >>> import numpy as np
    >>> import zarr
    >>> from gangsaw.codecs import Ccsds123
    >>> cube = np.arange(4 * 32 * 32, dtype="uint16").reshape(4, 32, 32)
    >>> stored = zarr.create_array(
    ...     {},
    ...     data=cube,
    ...     chunks=cube.shape,
    ...     serializer=Ccsds123(block=(0, 16, 16), bit_depth=12),
    ...     compressors=None,
    ... )
    >>> bool((stored[:, 4:8, 4:8] == cube[:, 4:8, 4:8]).all())
    True
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
