"""Source arrays made of Dask arrays, whose blocks are encoded on the worker that computes them."""

from __future__ import annotations

import math
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.errors import BadParams, JobFailed, first_line
from gangsaw.tasks.engine.run.graph import client_of, compute_region, is_persisted, scheduler_id
from gangsaw.tasks.sources.source import Region

if TYPE_CHECKING:
    from dask.array import Array
    from distributed import Client


@dataclass(frozen=True, eq=False)
class BlockArray:
    """Dask array as a source array: jobs add their tasks to its graph.

    `read` is only used for coordinates, and for samples that select a codec.

    Attributes
    ----------
    array : Dask array with NumPy blocks and known extents
    client : Dask client that computes it; None computes in this process
    """

    array: Array
    dims: tuple[str, ...]
    name: str = "data"
    attrs: Mapping[str, object] = field(default_factory=dict)
    fill_value: object = None
    client: Client | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the array."""
        return tuple(map(int, self.array.shape))

    @property
    def dtype(self) -> Dtype:
        """Dtype of the array."""
        found: Dtype = self.array.dtype
        return found

    @cached_property
    def chunks(self) -> tuple[int, ...]:
        """Extents of the largest block, which is computed at once."""
        return tuple(max(1, *sizes, 0) for sizes in self.sizes)

    @property
    def sizes(self) -> tuple[tuple[int, ...], ...]:
        """Extents of all blocks along each axis."""
        found: tuple[tuple[int, ...], ...] = self.array.chunks
        return found

    @property
    def is_regular(self) -> bool:
        """True if the blocks form a regular grid like Zarr chunks; the last may be smaller."""
        return all(set(s[:-1]) <= {s[0]} and s[-1] <= s[0] for s in self.sizes)

    def read(self, region: Region) -> NumpyArray:
        """Return the samples of a region, computed separately; raise JobFailed if that fails."""
        try:
            found = compute_region(self.array, region, self.client)
        except JobFailed as error:
            raise JobFailed(f"{self.name}: {error}") from error
        except Exception as error:  # whatever the caller's functions raise
            why = f"{type(error).__name__}: {first_line(error)}"
            raise JobFailed(f"{self.name}: a block cannot be computed: {why}") from error
        return cast_block(found, self.dtype, self.name)

    def rechunk(self, chunks: Sequence[int]) -> Array:
        """Return the Dask array, rechunked to regular blocks of these extents if it differs."""
        wanted = tuple(
            tuple(min(c, n - i) for i in range(0, n, c)) or (0,)
            for n, c in zip(self.shape, chunks, strict=True)
        )
        if wanted == self.sizes:
            return self.array
        cut: Array = self.array.rechunk(wanted)  # type: ignore[no-untyped-call]
        return cut

    def identity(self) -> str:
        """Return a text that is equal for equal samples: the keys of blocks in worker memory.

        Any other array gets a unique text: its name depends on the computation, not on its input.
        """
        if self.client is not None and is_persisted(self.array):
            return f"dask {self.array.name} {self.sizes} {scheduler_id(self.client)}"
        return f"dask {self.array.name} {uuid.uuid4().hex}"


def cast_block(block: NumpyArray, dtype: Dtype, name: str) -> NumpyArray:
    """Return a block in the dtype of its array; raise JobFailed if that would change samples."""
    if np.can_cast(block.dtype, dtype, "safe"):
        return block.astype(dtype, copy=False)
    with np.errstate(all="ignore"):
        found: NumpyArray = block.astype(dtype)
        is_same = bool(((found == block) | ((found != found) & (block != block))).all())
    if not is_same:
        raise JobFailed(
            f"{name}: a block has {block.dtype} samples that {dtype}, the declared dtype of the "
            "Dask array, cannot hold: name the right dtype where the array is made"
        )
    return found


def make_block_array(
    array: Array,
    dims: tuple[str, ...] | None = None,
    name: str = "data",
    attrs: Mapping[str, object] | None = None,
    fill_value: object = None,
    client: Client | None = None,
) -> BlockArray:
    """Return a Dask array as a source array.

    Raises BadParams for unknown extents, for blocks that are no NumPy arrays, and for blocks in
    memory of the workers of another client.
    """
    if any(math.isnan(n) for sizes in array.chunks for n in sizes):
        raise BadParams(f"{name} has chunks of unknown sizes: call compute_chunk_sizes() on it")
    meta = array._meta
    if not isinstance(meta, np.ndarray | np.generic) or isinstance(meta, np.ma.MaskedArray):
        kind = f"{type(meta).__module__}.{type(meta).__name__}"
        raise BadParams(f"{name} has blocks of {kind}: NumPy arrays without a mask are supported")
    own = client_of(array)
    if own is not None and client is not None and own is not client:
        at, other = (one.scheduler.address if one.scheduler else "?" for one in (own, client))
        if at != other:
            raise BadParams(
                f"{name} is on the workers of {at}, and client= is of {other}: pass its own client"
            )
    dims = dims or tuple(f"dim_{i}" for i in range(array.ndim))
    return BlockArray(array, dims, name, dict(attrs or {}), fill_value, client or own)
