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
    """Zarr codec `gangsaw.integers` of rows of unsigned integers whose columns go together.

    It encodes uint32 of shape (n, m), m in 1..16. A table of its column codes each integer, by rANS
    [1]_; the integer on the left selects the table.

    Parameters
    ----------
    rows : int, default 0
        Rows of a block, 0..65536; 0 is 8192.

    Raises
    ------
    BadParams
        A parameter is outside its range.

    References
    ----------
    .. [1] J. Duda, "Asymmetric numeral systems", 2013, arXiv:1311.2540.

    Examples
    --------
    >>> import numpy as np
    >>> import zarr
    >>> from gangsaw.codecs import Integers
    >>> edits = np.arange(300, dtype="uint32").reshape(100, 3)
    >>> stored = zarr.create_array(
    ...     {}, data=edits, chunks=edits.shape, serializer=Integers(), compressors=None
    ... )
    >>> stored[7].tolist()
    [21, 22, 23]
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
