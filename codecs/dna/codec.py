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
    """Zarr codec `gangsaw.dna` of nucleotide sequences.

    It encodes text, uint8 on one axis, in which A, C, G and T prevail. Any other bytes, such as N
    and lower case, come back as they were. Mode "gencodex" is a published method [1]_; mode "dense"
    codes by rANS [2]_.

    Parameters
    ----------
    mode : {"dense", "pack", "gencodex"}, default "dense"
        "dense" has adaptive models of the next base, "pack" two bits per base, "gencodex" runs of
        equal packed bytes.
    block : int, default 0
        Bytes of a block, a power of two in 64..67108864; 0 is 4194304.

    Raises
    ------
    BadParams
        A parameter is outside its range.

    See Also
    --------
    Reads : Codec for lines of nucleotides.

    References
    ----------
    .. [1] Satyanvesh, Kaliuday and Baruah, "High Performance Implementation for Aligning Compressed
       DNA Sequences", 2015.
    .. [2] J. Duda, "Asymmetric numeral systems", 2013, arXiv:1311.2540.

    Examples
    --------
    >>> import numpy as np
    >>> import zarr
    >>> from gangsaw.codecs import Dna
    >>> bases = np.frombuffer(b"ACGTNACGTACGTacgt" * 100, "uint8")
    >>> stored = zarr.create_array(
    ...     {}, data=bases, chunks=bases.shape, serializer=Dna(mode="pack"), compressors=None
    ... )
    >>> stored[1:6].tobytes()
    b'CGTNA'
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
