"""Samples alone, in any axis and byte order: raw files, and the data files of ENVI."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine.failure import naming
from gangsaw.tasks.engine.memory import transcode_bytes
from gangsaw.tasks.engine.progress import Meter, OnProgress
from gangsaw.tasks.engine.window import run
from gangsaw.tasks.formats.atomic import allocate, whole_files
from gangsaw.tasks.formats.axes import image_dims
from gangsaw.tasks.formats.layouts import BYTE_ORDERS, INTERLEAVES
from gangsaw.tasks.source import Region, Source, SourceArray
from gangsaw.tasks.store.chunks import ChunkGrid
from gangsaw.tasks.store.layout import default_chunks

if TYPE_CHECKING:
    from distributed import Client


SLAB_BYTES = 64 << 20  # of samples that one task writes at most, where a chunk has fewer
RUN_BYTES = 1 << 16  # of a file: runs need not be longer
# Bytes from one run to the next: where these are fewer, a page holds several runs. Then it is the
# page that costs time, once, in a map of the file, else the run, in a call.
LEAST_STEP = 1 << 11


@dataclass(frozen=True)
class FlatFile:
    """Layout of an array's samples in a file.

    Attributes
    ----------
    shape : of the array, in its own axis order
    order : for each axis of the file, slowest first, the axis of the array
    dtype : of the samples in the file, byte order included
    offset : bytes before the first sample
    """

    shape: tuple[int, ...]
    order: tuple[int, ...]
    dtype: Dtype
    offset: int = 0

    @property
    def nbytes(self) -> int:
        """Bytes that the file must have."""
        return self.offset + prod(self.shape) * self.dtype.itemsize

    def write(self, path: str, region: Region, samples: NumpyArray) -> None:
        """Write the samples of a region into the file at `path`."""
        shape = tuple(self.shape[axis] for axis in self.order)
        where, ordered = tuple(region[axis] for axis in self.order), samples.transpose(self.order)
        outer = _outer_axes(where, shape)
        if prod(shape[outer:]) * self.dtype.itemsize < LEAST_STEP:
            np.memmap(path, self.dtype, "r+", self.offset, shape)[where] = ordered
            return
        with Path(path).open("r+b", buffering=0) as file:
            for index in np.ndindex(ordered.shape[:outer]):
                run = np.ascontiguousarray(ordered[index], self.dtype)
                _write_all(file.fileno(), run, self.offset + self._place(shape, where, index))

    def _place(self, shape: tuple[int, ...], where: Region, index: tuple[int, ...]) -> int:
        """Return the byte after the offset where the samples at an index of a region begin."""
        place = 0
        for axis, (n, span) in enumerate(zip(shape, where, strict=True)):
            place = place * n + span.start + (index[axis] if axis < len(index) else 0)
        return place * self.dtype.itemsize


@dataclass(frozen=True)
class WriteRegions:
    """Chunk function: reads the pieces of a batch and puts their samples into a flat file."""

    source: SourceArray
    grid: ChunkGrid
    layout: FlatFile
    path: str
    peak_bytes: int
    name: str = "decompress"
    side_by_side: bool = True

    def __call__(self, batch: range) -> int:
        """Return the bytes written."""
        written = 0
        for number in batch:
            region = self.grid.region(number)
            with naming(f"{number} of {self.source.name}"):
                samples = self.source.read(region)
                self.layout.write(self.path, region, samples)
            written += samples.nbytes
        return written


def write_flat(
    source: SourceArray, path: Path, layout: FlatFile, meter: Meter, client: Client | None
) -> None:
    """Write all samples into the file at `path`, piece by piece; its space is reserved."""
    chunks = export_grid(source)
    grid = slabs(chunks, layout.order, layout.dtype.itemsize)
    peak = transcode_bytes(source.shape, grid.chunks, source.dtype, source.chunks)
    task = WriteRegions(source, grid, layout, str(path.absolute()), peak)
    batches = [range(i, i + 1) for i in range(grid.n_chunks)]

    def on_done(batch: range, n_bytes: int) -> None:
        of_batch = (chunks.touched(grid.region(number)) for number in batch)
        meter.add(sum(1 for one in of_batch for _ in one), n_bytes, 0)

    run(task, batches, on_done, client=client)


def slabs(chunks: ChunkGrid, order: Sequence[int], itemsize: int) -> ChunkGrid:
    """Return pieces of several chunks each, whose samples lie in longer runs in a file.

    Parameters
    ----------
    order : for each axis of the file, slowest first, the axis of the array
    """
    shape = [max(1, n) for n in chunks.shape]  # of an array without samples, too
    extents = [min(c, n) for c, n in zip(chunks.chunks, shape, strict=True)]
    run = itemsize
    for axis in reversed(order):
        length, whole = run * extents[axis], shape[axis]
        room = SLAB_BYTES // (itemsize * prod(extents))
        most = min(room, -(-RUN_BYTES // max(1, length)), -(-whole // extents[axis]))
        extents[axis] = min(whole, extents[axis] * max(1, most))
        if extents[axis] < whole or (run := run * whole) >= RUN_BYTES:
            break
    return ChunkGrid(chunks.shape, tuple(extents))


def _outer_axes(where: Region, shape: tuple[int, ...]) -> int:
    """Return how many axes of a file are outside the runs in which the samples of a region lie."""
    outer = max(0, len(shape) - 1)
    while outer and where[outer].stop - where[outer].start == shape[outer]:
        outer -= 1
    return outer


def _write_all(file: int, run: NumpyArray, offset: int) -> None:
    left = run.reshape(-1).view(np.uint8).data
    while len(left):  # the system takes at most 2 GiB at once
        n = os.pwrite(file, left, offset)
        left, offset = left[n:], offset + n


def export_grid(source: SourceArray) -> ChunkGrid:
    """Return the pieces that an export reads: the source's own chunks, where it has some."""
    return ChunkGrid(source.shape, source.chunks or default_chunks(source))


def only_array(source: Source) -> SourceArray:
    """Return the array of a source that has one; BadParams for several."""
    if len(source.arrays) == 1:
        return source.arrays[0]
    names = ", ".join(array.name for array in source.arrays)
    raise BadParams(f"{source.name} holds several arrays, name one with --variable: {names}")


def raw_dims(array: SourceArray, interleave: str | None) -> tuple[str, ...] | None:
    """Return the axes of an image in the order of an interleave, None where none is given."""
    if interleave is None:
        return None
    if interleave not in INTERLEAVES:
        raise BadParams(f"interleave must be bsq, bil or bip, got {interleave!r}")
    band, y, x = image_dims(array)
    names = {"band": band, "y": y, "x": x}
    return tuple(name for key in INTERLEAVES[interleave] if (name := names[key]) is not None)


def axis_order(source: SourceArray, dims: Sequence[str]) -> tuple[int, ...]:
    """Return for each of `dims` the axis of the source; BadParams where they do not match."""
    if sorted(dims) != sorted(source.dims):
        raise BadParams(f"{source.name} has axes {source.dims}, not {tuple(dims)}")
    return tuple(source.dims.index(name) for name in dims)


def ordered_dtype(dtype: Dtype, byte_order: str) -> Dtype:
    """Return the dtype in the byte order "little" or "big"; BadParams for another one."""
    if byte_order not in BYTE_ORDERS:
        raise BadParams(f"byte order must be little or big, got {byte_order!r}")
    return dtype.newbyteorder(BYTE_ORDERS[byte_order])


def export_raw(
    source: SourceArray,
    path: Path,
    *,
    dims: Sequence[str] | None = None,
    byte_order: str = "little",
    overwrite: bool = False,
    client: Client | None = None,
    on_progress: OnProgress | None = None,
) -> None:
    """Write the samples alone.

    Parameters
    ----------
    dims : the source's axes in the order of the file, slowest first; None keeps their order
    byte_order : "little" or "big"
    """
    order = axis_order(source, dims or source.dims)
    dtype = ordered_dtype(source.dtype, byte_order)
    layout = FlatFile(source.shape, order, dtype)
    with whole_files([path], overwrite=overwrite) as (part,):
        allocate(part, layout.nbytes)
        write_flat(source, part, layout, Meter(export_grid(source).n_chunks, on_progress), client)
