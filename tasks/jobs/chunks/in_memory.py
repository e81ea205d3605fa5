"""Transport of in-memory samples to the worker of a batch.

Arrays of this process are sent with the tasks, in parts. For Dask arrays, the task runs where the
blocks are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar, cast

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine.run.graph import BatchOnBlocks
from gangsaw.tasks.formats.python_objects.arrays_in_memory import (
    ArrayInMemory,
    assemble_regions,
    base_of,
    base_region,
    replace_base,
    span_of,
)
from gangsaw.tasks.formats.python_objects.blocks import BlockArray, cast_block
from gangsaw.tasks.sources.source import Region, SourceArray
from gangsaw.tasks.store.arrays.chunks import chunk_grid


class ReadsAtChunks(Protocol):
    """Batch function that reads a source array at the chunks of a stored array."""

    @property
    def source(self) -> SourceArray | None:
        """Source array to read; None without one."""

    @property
    def metadata(self) -> bytes:
        """The zarr.json of the stored array, whose chunk grid gives the regions to read."""


FunctionT = TypeVar("FunctionT")
BatchT = TypeVar("BatchT")


def array_in_process(function: object) -> ArrayInMemory | None:
    """Return the array in this process that a batch function reads; None for other sources."""
    base = base_of(getattr(function, "source", None))
    return base if isinstance(base, ArrayInMemory) else None


def dask_array(function: object) -> BlockArray | None:
    """Return the Dask array that a batch function reads; None for other sources."""
    base = base_of(getattr(function, "source", None))
    return base if isinstance(base, BlockArray) else None


def check_device(arrays: Iterable[SourceArray], device: str) -> None:
    """Raise BadParams for Dask arrays if the requested device is a GPU."""
    there = [array.name for array in arrays if isinstance(base_of(array), BlockArray)]
    if there and device == "gpu":
        raise BadParams(
            f"{', '.join(there)}: blocks of Dask arrays are encoded by the cores of those that "
            'compute them: leave device="gpu" out'
        )


def is_in_memory(source: SourceArray) -> bool:
    """Return True if an array is in this process, or Dask computes its blocks."""
    return isinstance(base_of(source), ArrayInMemory | BlockArray)


def select_needed_samples(function: FunctionT, batches: Iterable[object]) -> FunctionT:
    """Return a batch function with only those samples of its in-memory array that batches need.

    Functions with other sources are returned unchanged.
    """
    if (base := array_in_process(function)) is None:
        return function
    regions = (region for batch in batches for region in _regions(function, batch))
    return _reading(function, base.select_regions(regions))


def attach_samples(function: FunctionT, batch: object, samples: Sequence[NumpyArray]) -> FunctionT:
    """Return a batch function that reads computed samples in place of its Dask array.

    Parameters
    ----------
    function : batch function that reads a Dask array
    batch : batch that the function will process
    samples : samples of each region that the batch needs
    """
    base = base_of(getattr(function, "source", None))
    assert base is not None
    spans = (span_of(region) for region in _regions(function, batch))
    named = (cast_block(one, base.dtype, base.name) for one in samples)
    parts = dict(zip(spans, named, strict=True))
    return _reading(function, assemble_regions(base, parts))


def detach_blocks(function: FunctionT) -> FunctionT:
    """Return a batch function with only the metadata of its Dask array, without the graph."""
    base = base_of(getattr(function, "source", None))
    assert base is not None
    return _reading(function, assemble_regions(base, {}))


def pair_with_blocks(
    function: object, pairs: Iterable[tuple[object, BatchT]]
) -> Iterator[BatchOnBlocks[BatchT]]:
    """Yield each work item with its Dask array and the positions of the blocks that it reads.

    Parameters
    ----------
    function : batch function that reads a Dask array
    pairs : batches, each with its work item of the job
    """
    base, grid = dask_array(function), chunk_grid(cast("ReadsAtChunks", function).metadata)
    assert base is not None
    rank = len(base.shape)
    array = base.rechunk(grid.chunks[:rank])
    for batch, item in pairs:
        positions = (grid.position(number)[:rank] for number in _numbers(batch))
        yield BatchOnBlocks(item, array, list(dict.fromkeys(positions)))


def _reading(function: FunctionT, base: SourceArray) -> FunctionT:
    source = cast("ReadsAtChunks", function).source
    assert source is not None
    return replace(function, source=replace_base(source, base))  # type: ignore[type-var]


def _regions(function: object, batch: object) -> Iterator[Region]:
    """Yield the distinct regions of the base array that the chunks of a batch need."""
    reads = cast("ReadsAtChunks", function)
    grid, base = chunk_grid(reads.metadata), base_of(reads.source)
    assert base is not None
    found = (base_region(grid.region(number), base) for number in _numbers(batch))
    yield from {span_of(region): region for region in found}.values()


def _numbers(batch: object) -> range:
    """Return the chunk numbers of a batch, which is a range itself or has records of one."""
    return cast("range", getattr(batch, "batch", batch))
