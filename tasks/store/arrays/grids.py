"""Chunk grids of other writers: newer Zarr versions support chunks of differing extents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import zarr

if TYPE_CHECKING:
    from zarr.types import AnyArray

RECTILINEAR = "array.rectilinear_chunks"  # zarr setting: when off, zarr refuses to open such arrays


@contextmanager
def allow_irregular_chunks() -> Iterator[None]:
    """Let zarr open arrays with chunks of differing extents within the context, if it can."""
    if zarr.config.get(RECTILINEAR, None) is not False:
        yield
        return
    with zarr.config.set({RECTILINEAR: True}):
        yield


def regular_chunks(array: AnyArray) -> tuple[int, ...] | None:
    """Return the chunk extents of an array, or None if they differ between chunks."""
    try:
        return array.chunks
    except NotImplementedError:
        return None


def largest_chunks(array: AnyArray) -> tuple[int, ...]:
    """Return the extents of the largest chunks of an array."""
    if (regular := regular_chunks(array)) is not None:
        return regular
    sizes: Sequence[Sequence[int]] = array.read_chunk_sizes  # type: ignore[attr-defined]
    return tuple(max(of_axis, default=1) for of_axis in sizes)
