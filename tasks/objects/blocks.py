"""Dask arrays as sources: their blocks are encoded where they are computed."""

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
from gangsaw.tasks.engine.graph import client_of, computed, is_held_by_workers
from gangsaw.tasks.source import Region

if TYPE_CHECKING:
    from dask.array import Array
    from distributed import Client


@dataclass(frozen=True, eq=False)
class BlockArray:
    """A Dask array. Jobs put their work into its graph; `read` is for samples and coordinates.

    Attributes
    ----------
    array : of NumPy arrays, of known extents
    client : that computes it; None is this process
    """

    array: Array
    dims: tuple[str, ...]
    name: str = "data"
    attrs: Mapping[str, object] = field(default_factory=dict)
    fill_value: object = None
    client: Client | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the array."""
        return tuple(map(int, self.array.shape))

    @property
    def dtype(self) -> Dtype:
        """Of the array."""
        found: Dtype = self.array.dtype
        return found

    @cached_property
    def chunks(self) -> tuple[int, ...]:
        """Extents of its largest blocks: what is computed at once."""
        return tuple(max(1, *sizes, 0) for sizes in self.sizes)

    @property
    def sizes(self) -> tuple[tuple[int, ...], ...]:
        """Extents of its blocks along each axis."""
        found: tuple[tuple[int, ...], ...] = self.array.chunks
        return found

    @property
    def is_regular(self) -> bool:
        """Whether all its blocks but the last ones have one extent, as chunks of Zarr do."""
        return all(set(s[:-1]) <= {s[0]} and s[-1] <= s[0] for s in self.sizes)

    def read(self, region: Region) -> NumpyArray:
        """Return the samples of a region, computed for it alone; JobFailed where that fails."""
        try:
            found = computed(self.array, region, self.client)
        except Exception as error:  # whatever the caller's functions raise
            why = f"{type(error).__name__}: {first_line(error)}"
            raise JobFailed(f"{self.name}: a block cannot be computed: {why}") from error
        return as_said(found, self.dtype, self.name)

    def in_blocks(self, chunks: Sequence[int]) -> Array:
        """Return the array with such blocks."""
        wanted = tuple(
            tuple(min(c, n - i) for i in range(0, n, c)) or (0,)
            for n, c in zip(self.shape, chunks, strict=True)
        )
        if wanted == self.sizes:
            return self.array
        cut: Array = self.array.rechunk(wanted)  # type: ignore[no-untyped-call]
        return cut

    def identity(self) -> str:
        """What tells that its samples are those of an earlier run: of blocks on workers their keys.

        Of others nothing does: their names tell how they are computed, and not of what.
        """
        if self.client is not None and is_held_by_workers(self.array):
            return f"dask {self.array.name} {self.sizes} {self.client.scheduler_info()['id']}"
        return f"dask {self.array.name} {uuid.uuid4().hex}"


def as_said(block: NumpyArray, dtype: Dtype, name: str) -> NumpyArray:
    """Return a block in the dtype of its array; JobFailed where that would change samples."""
    if np.can_cast(block.dtype, dtype, "safe"):
        return block.astype(dtype, copy=False)
    with np.errstate(all="ignore"):
        found: NumpyArray = block.astype(dtype)
        is_same = bool(((found == block) | ((found != found) & (block != block))).all())
    if not is_same:
        raise JobFailed(
            f"{name}: a block has {block.dtype} samples that {dtype}, which Dask was told of the "
            "array, does not hold: name the right dtype where the array is made"
        )
    return found


def block_array(
    array: Array,
    dims: tuple[str, ...] | None = None,
    name: str = "data",
    attrs: Mapping[str, object] | None = None,
    fill_value: object = None,
    client: Client | None = None,
) -> BlockArray:
    """Return a Dask array as one of a source.

    Raises BadParams for unknown extents, items that are no NumPy arrays, and blocks that lie on the
    workers of another client.
    """
    if any(math.isnan(n) for sizes in array.chunks for n in sizes):
        raise BadParams(f"{name} has chunks of unknown sizes: call compute_chunk_sizes() on it")
    meta = array._meta
    if not isinstance(meta, np.ndarray | np.generic) or isinstance(meta, np.ma.MaskedArray):
        kind = f"{type(meta).__module__}.{type(meta).__name__}"
        raise BadParams(f"{name} has blocks of {kind}: NumPy arrays without a mask are taken")
    own = client_of(array)
    if own is not None and client is not None and own is not client:
        at, other = (one.scheduler.address if one.scheduler else "?" for one in (own, client))
        if at != other:
            raise BadParams(
                f"{name} lies on the workers of {at}, and client= of {other}: give its own client"
            )
    dims = dims or tuple(f"dim_{i}" for i in range(array.ndim))
    return BlockArray(array, dims, name, dict(attrs or {}), fill_value, client or own)
