"""Sources in memory: how the samples of a batch get to where it is done.

Those of arrays in this process go with the tasks, in parts. Of Dask arrays the task goes to the
blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar, cast

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine.graph import OnBlocks
from gangsaw.tasks.objects.blocks import BlockArray, as_said
from gangsaw.tasks.objects.held import (
    HeldArray,
    base_of,
    base_region,
    based_on,
    parts_of,
    span_of,
)
from gangsaw.tasks.source import Region, SourceArray
from gangsaw.tasks.store.chunks import chunk_grid


class ReadsAtChunks(Protocol):
    """A function of batches that reads an array at the chunks of a stored one."""

    @property
    def source(self) -> SourceArray | None:
        """What is read."""

    @property
    def metadata(self) -> bytes:
        """The zarr.json of the array whose chunks say where."""


FunctionT = TypeVar("FunctionT")
BatchT = TypeVar("BatchT")


def held(function: object) -> HeldArray | None:
    """Return the array in this process that a function reads, None where it reads none."""
    base = base_of(getattr(function, "source", None))
    return base if isinstance(base, HeldArray) else None


def blocks(function: object) -> BlockArray | None:
    """Return the Dask array that a function reads, None where it reads none."""
    base = base_of(getattr(function, "source", None))
    return base if isinstance(base, BlockArray) else None


def check_device(arrays: Iterable[SourceArray], device: str) -> None:
    """Raise BadParams for Dask arrays where chunks are to be encoded on GPUs."""
    there = [array.name for array in arrays if isinstance(base_of(array), BlockArray)]
    if there and device == "gpu":
        raise BadParams(
            f"{', '.join(there)}: blocks of Dask arrays are encoded by the cores of those that "
            'compute them: leave device="gpu" out'
        )


def is_in_memory(source: SourceArray) -> bool:
    """Whether an array is in this process, or its blocks are computed by Dask."""
    return isinstance(base_of(source), HeldArray | BlockArray)


def narrowed(function: FunctionT, batches: Iterable[object]) -> FunctionT:
    """Return a function with what it needs for some batches, of an array in this process."""
    if (base := held(function)) is None:
        return function
    regions = (region for batch in batches for region in _regions(function, batch))
    return _reading(function, base.part(regions))


def given(function: FunctionT, batch: object, samples: Sequence[NumpyArray]) -> FunctionT:
    """Return a function with the samples of the blocks that a batch needs."""
    base = base_of(getattr(function, "source", None))
    assert base is not None
    spans = (span_of(region) for region in _regions(function, batch))
    named = (as_said(one, base.dtype, base.name) for one in samples)
    kept = dict(zip(spans, named, strict=True))
    return _reading(function, parts_of(base, kept))


def without_blocks(function: FunctionT) -> FunctionT:
    """Return a function that names its Dask array, and holds none of its graph."""
    base = base_of(getattr(function, "source", None))
    assert base is not None
    return _reading(function, parts_of(base, {}))


def on_blocks(
    function: object, pairs: Iterable[tuple[object, BatchT]]
) -> Iterator[OnBlocks[BatchT]]:
    """Yield batches with their blocks.

    `pairs` are batches of chunks, and what each is in the job.
    """
    base, grid = blocks(function), chunk_grid(cast("ReadsAtChunks", function).metadata)
    assert base is not None
    rank = len(base.shape)
    array = base.in_blocks(grid.chunks[:rank])
    for batch, item in pairs:
        positions = (grid.position(number)[:rank] for number in _numbers(batch))
        yield OnBlocks(item, array, list(dict.fromkeys(positions)))


def _reading(function: FunctionT, base: SourceArray) -> FunctionT:
    source = cast("ReadsAtChunks", function).source
    assert source is not None
    return replace(function, source=based_on(source, base))  # type: ignore[type-var]


def _regions(function: object, batch: object) -> Iterator[Region]:
    """Yield what the chunks of a batch need of the array that the source is made of, each once."""
    reads = cast("ReadsAtChunks", function)
    grid, base = chunk_grid(reads.metadata), base_of(reads.source)
    assert base is not None
    found = (base_region(grid.region(number), base) for number in _numbers(batch))
    yield from {span_of(region): region for region in found}.values()


def _numbers(batch: object) -> range:
    """Return the chunks of a batch, which are its own, or those of its records."""
    return cast("range", getattr(batch, "batch", batch))
