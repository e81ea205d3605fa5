"""Chunk grids of other writers: newer versions of Zarr know some whose chunks have many extents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import zarr

if TYPE_CHECKING:
    from zarr.types import AnyArray

RECTILINEAR = "array.rectilinear_chunks"  # setting of zarr: off, it refuses to open such arrays


@contextmanager
def any_grid() -> Iterator[None]:
    """Let zarr open arrays of every chunk grid that it knows."""
    if zarr.config.get(RECTILINEAR, None) is not False:
        yield
        return
    with zarr.config.set({RECTILINEAR: True}):
        yield


def regular_chunks(array: AnyArray) -> tuple[int, ...] | None:
    """Return the extents of all chunks of an array; None where they differ."""
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
