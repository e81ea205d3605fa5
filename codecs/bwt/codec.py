"""Zarr codec for text and other bytes."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gangsaw.codecs.bwt import memory
from gangsaw.codecs.bwt.params import MOST_BLOCK, Params
from gangsaw.codecs.core.arrays import Dtype
from gangsaw.codecs.core.container.byte_grid import ByteGrid
from gangsaw.codecs.core.container.plan import ChunkPlan
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.zarr.block_codec import BlockCodec


@dataclass(frozen=True, init=False)
class Bwt(BlockCodec):
    r"""Zarr codec `gangsaw.bwt` of text and other bytes: a Burrows-Wheeler transform in blocks.

    It encodes arrays of any rank and of any dtype whose items are plain bytes, without loss. Blocks
    are transformed [1]_ and coded independently.

    Parameters
    ----------
    effort : {"dense", "fast"}, default "dense"
        Entropy stage: "dense" has mixed adaptive counts, "fast" static tables before the data.
    block : int, default 4194304
        Bytes of a block, 64..8388608.

    Raises
    ------
    BadParams
        A parameter is outside its range.

    See Also
    --------
    Strings : Codec for strings of any length.

    References
    ----------
    .. [1] M. Burrows and D. J. Wheeler, "A Block-sorting Lossless Data Compression Algorithm", SRC
       Research Report 124, 1994.

    Examples
    --------
    >>> import numpy as np
    >>> import zarr
    >>> from gangsaw.codecs import Bwt
    >>> text = np.frombuffer(b"GET /index.html 200\n" * 500, "uint8")
    >>> stored = zarr.create_array(
    ...     {}, data=text, chunks=text.shape, serializer=Bwt(effort="fast"), compressors=None
    ... )
    >>> bool((stored[:] == text).all()), stored.nbytes_stored() < text.nbytes // 10
    (True, True)
    """

    params: Params
    codec_name = "gangsaw.bwt"
    codec_id, version = 5, 1  # codec id and format version of SPEC.md
    params_type = Params

    def plan(self, shape: tuple[int, ...], dtype: Dtype) -> ChunkPlan:
        """Return a chunk's division into blocks; raise BadParams if an item exceeds a block."""
        if dtype.itemsize > MOST_BLOCK:
            raise BadParams(f"{self.codec_name} codes items of {MOST_BLOCK} bytes at most")
        return ChunkPlan(ByteGrid.of(shape, dtype, self.params.block))

    def peak_bytes(self, shape: tuple[int, ...], dtype: Dtype) -> int:
        """Return an upper bound of the memory to encode or decode a chunk, without the chunk."""
        plan, n_bytes = self.plan(shape, dtype), math.prod(shape) * dtype.itemsize
        block = min(plan.grid.block_shape[0], n_bytes)
        effort = self.params.effort
        return memory.peak_bytes(n_bytes, block, plan.grid.n_blocks, plan.busy, effort)
