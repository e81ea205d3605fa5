"""Growth of an array along one axis since its job, as `to_zarr(append_dim=...)` does.

The manifest has records of the chunks of the former shape. If only one axis grew, its number of
chunks and raw bytes give that shape.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from gangsaw.codecs.core.arrays import Dtype
from gangsaw.tasks.store.arrays.chunks import ChunkGrid


@dataclass(frozen=True)
class Growth:
    """Growth of an array along one axis, by another program, since a job wrote the array.

    Attributes
    ----------
    axis : index of the axis that grew
    before : extent of the axis at the end of the job; None if only the number of chunks is known
    counts : number of chunks in the manifest along each axis
    known : number of these chunks along each axis that the other program has not rewritten
    """

    axis: int
    before: int | None
    counts: tuple[int, ...]
    known: tuple[int, ...]


def growths_of(grid: ChunkGrid, dtype: Dtype, n_chunks: int, raw_bytes: int) -> list[Growth]:
    """Return the possible growths of an array since its manifest was written; [] for none.

    There may be several, since the same number of bytes may fit two axes of an image.

    Parameters
    ----------
    grid, dtype : present chunk grid and dtype of the array
    n_chunks, raw_bytes : number and raw size of the chunks in the manifest
    """
    is_text = dtype.kind == "T"  # the bytes of texts do not give their number
    if n_chunks == grid.n_chunks and (is_text or raw_bytes == prod(grid.shape) * dtype.itemsize):
        return []
    axes = range(len(grid.shape))
    if is_text:
        found = [_by_chunks(grid, n_chunks, axis) for axis in axes]
    else:
        found = [_by_bytes(grid, dtype, raw_bytes, axis) for axis in axes]
    return [one for one in found if one is not None and prod(one.counts) == n_chunks]


def growth_from(grid: ChunkGrid, axis: int, before: int) -> Growth | None:
    """Return the growth of an array along an axis from a former extent; None if it did not grow."""
    if before >= grid.shape[axis]:
        return None
    counts, known = list(grid.counts), list(grid.counts)
    counts[axis] = -(-before // grid.chunks[axis])
    known[axis] = before // grid.chunks[axis]  # a partial chunk has been written again
    return Growth(axis, before, tuple(counts), tuple(known))


def _by_bytes(grid: ChunkGrid, dtype: Dtype, raw_bytes: int, axis: int) -> Growth | None:
    row = prod(grid.shape[:axis] + grid.shape[axis + 1 :]) * dtype.itemsize
    if not row or raw_bytes % row:
        return None
    return growth_from(grid, axis, raw_bytes // row)


def _by_chunks(grid: ChunkGrid, n_chunks: int, axis: int) -> Growth | None:
    counts = list(grid.counts)
    counts[axis] = n_chunks // max(1, prod(counts[:axis] + counts[axis + 1 :]))
    if counts[axis] >= grid.counts[axis]:
        return None
    known = [*counts]
    known[axis] = max(0, counts[axis] - 1)  # the last chunk may have been partial
    return Growth(axis, None, tuple(counts), tuple(known))
