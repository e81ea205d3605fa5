"""Search of an array for its smallest and largest value, or for a NaN."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.plugins.selection import Extremes
from gangsaw.tasks.engine.report import dry_run
from gangsaw.tasks.engine.report.failure import name_failed_chunk
from gangsaw.tasks.engine.run.run import run_batches
from gangsaw.tasks.jobs.chunks.in_memory import is_in_memory
from gangsaw.tasks.sources.source import Region, SourceArray
from gangsaw.tasks.store.arrays.chunks import ChunkGrid
from gangsaw.tasks.store.arrays.layout import default_chunks

if TYPE_CHECKING:
    from distributed import Client

SampleIndex = tuple[int, ...]  # index of a sample in the array


@dataclass(frozen=True)
class FindExtremes:
    """Chunk function that finds the smallest and the largest integer in the chunks of a batch."""

    source: SourceArray
    grid: ChunkGrid
    peak_bytes: int
    name: str = "scan"

    def __call__(self, batch: range) -> Extremes:
        """Return the smallest and the largest integer in the batch, with their indices."""
        return _merge(self._find_in_chunk(number) for number in batch)

    def _find_in_chunk(self, number: int) -> Extremes:
        with name_failed_chunk(f"{number} of {self.source.name}"):
            region = self.grid.region(number)
            # argmin and argmax would each copy an array that is not contiguous
            samples = np.ascontiguousarray(self.source.read(region))
            low, high = int(samples.argmin()), int(samples.argmax())
            return Extremes(
                int(samples.flat[low]),
                _index_of(region, samples, low),
                int(samples.flat[high]),
                _index_of(region, samples, high),
            )


def find_extremes(source: SourceArray, *, client: Client | None = None) -> Extremes:
    """Return the smallest and the largest integer of an array, which is read chunk by chunk."""
    if dry_run.is_quick():  # a quick dry run reads no samples: the job finds the extremes
        return Extremes(0, first := (0,) * len(source.shape), 0, first)
    grid = _grid(source)
    if is_in_memory(source):  # a client would send the array with its tasks
        client = None
    chunk = source.dtype.itemsize * int(np.prod(grid.chunks))
    found: list[Extremes] = []
    batches = [range(i, i + 1) for i in range(grid.n_chunks)]
    run_batches(
        FindExtremes(source, grid, 2 * chunk), batches, lambda _, e: found.append(e), client=client
    )
    return _merge(found)


def first_nan(source: SourceArray) -> SampleIndex | None:
    """Return the index of the first NaN in the first chunk that has one; None without a NaN.

    Chunks are read in order, up to all of the array.
    """
    grid = _grid(source)
    for number in range(grid.n_chunks):
        region = grid.region(number)
        samples = source.read(region)
        missing = np.isnan(samples)
        if missing.any():
            return _index_of(region, samples, int(missing.argmax()))
    return None


def _grid(source: SourceArray) -> ChunkGrid:
    grid = ChunkGrid(source.shape, source.chunks or default_chunks(source))
    grid.check_count(source.name)  # chunks within shards may be too many to list
    return grid


def _index_of(region: Region, samples: NumpyArray, flat: int) -> SampleIndex:
    local = np.unravel_index(flat, samples.shape)
    return tuple(int(s.start + i) for s, i in zip(region, local, strict=True))


def _merge(parts: Iterable[Extremes]) -> Extremes:
    first, *rest = parts
    for part in rest:
        first |= part
    return first
