"""Zarr codec of sequencing reads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from gangsaw.codecs.core.arrays import Dtype
from gangsaw.codecs.core.container.frame import lane_bytes
from gangsaw.codecs.core.container.grid import BlockGrid
from gangsaw.codecs.core.container.plan import ChunkPlan
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.zarr.block_codec import BlockCodec, Direction
from gangsaw.codecs.reads import memory
from gangsaw.codecs.reads.params import Params
from gangsaw.codecs.reads.payload import MOST_GROWTH, SHARED_LANES, lanes_for


@dataclass(frozen=True, init=False)
class Reads(BlockCodec):
    r"""Zarr codec `gangsaw.reads` of sequencing reads: lines of sequences, qualities or names.

    It encodes text on one axis without loss, by rANS [1]_, or the offsets of its lines.

    Parameters
    ----------
    kind : {"sequence", "quality", "name", "offset"}, default "sequence"
        Content of the lines, of uint8; "offset" is for a uint64 array of the starts of lines.
    pairs : bool, default False
        True if lines 2i and 2i + 1 are mates.
    block : int, default 0
        Items of a block, a power of two in 64..268435456; 0 is 2^25 bytes or 2^20 offsets.
    lane : int, default 0
        Items of a window, a power of two from 64 up to the block; 0 is 2^16 bytes or 2^12 offsets.

    Raises
    ------
    BadParams
        A parameter is outside its range.

    See Also
    --------
    gangsaw.reads.open : Open a store of reads.

    References
    ----------
    .. [1] J. Duda, "Asymmetric numeral systems", 2013, arXiv:1311.2540.

    Examples
    --------
    >>> import numpy as np
    >>> import zarr
    >>> from gangsaw.codecs import Reads
    >>> lines = np.frombuffer(b"IIIIHHHH\nIIIIIIHH\n" * 50, "uint8")
    >>> stored = zarr.create_array(
    ...     {}, data=lines, chunks=lines.shape, serializer=Reads(kind="quality"), compressors=None
    ... )
    >>> stored[:8].tobytes()
    b'IIIIHHHH'
    """

    params: Params
    codec_name = "gangsaw.reads"
    codec_id, version = 3, 1  # SPEC.md
    params_type = Params

    def has_kernels(self, direction: Direction) -> bool:
        """Return True if GPUs code this kind: they decode all kinds, but encode only offsets."""
        return direction == "decode" or self.params.has_device_encoder

    def plan(self, shape: tuple[int, ...], dtype: Dtype) -> ChunkPlan:
        """Return blocks and lanes of a chunk; raise BadParams if it cannot be coded."""
        params = self.params
        if len(shape) != 1 or dtype.newbyteorder("=") != params.dtype:
            raise BadParams(
                f"{self.codec_name} of kind {params.kind} codes {params.dtype} on one axis, "
                f"got {dtype} of shape {shape}"
            )
        block, lane = params.sizes
        items = max(1, min(block, shape[0]))
        return ChunkPlan(
            BlockGrid(shape, (items,)),
            n_lanes=SHARED_LANES + -(-items // lane),
            lane_width=lane_bytes(8 * (items * params.dtype.itemsize + MOST_GROWTH)),
            lanes_for=partial(lanes_for, lane),
            sums_lanes=True,
        )

    def peak_bytes(self, shape: tuple[int, ...], dtype: Dtype) -> int:
        """Return a bound on the memory of coding one chunk, without the chunk, in bytes."""
        plan = self.plan(shape, dtype)
        block_bytes = min(plan.grid.block_shape[0], shape[0]) * dtype.itemsize
        return memory.peak_bytes(self.params.kind, block_bytes, plan.grid.n_blocks, plan.busy)
