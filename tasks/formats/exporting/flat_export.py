"""Export to flat files in any axis and byte order: raw files and data files of ENVI."""

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
from gangsaw.codecs.core.plugins.options import none_of
from gangsaw.tasks.engine.report.failure import name_failed_chunk
from gangsaw.tasks.engine.report.progress import Meter, OnProgress
from gangsaw.tasks.engine.run.run import run_batches
from gangsaw.tasks.engine.scheduling.memory import transcode_bytes
from gangsaw.tasks.formats.contract.axes import image_dims
from gangsaw.tasks.formats.contract.layouts import BYTE_ORDERS, INTERLEAVES
from gangsaw.tasks.formats.exporting.atomic import write_whole_files
from gangsaw.tasks.sources.source import Region, Source, SourceArray
from gangsaw.tasks.store.arrays.chunks import ChunkGrid
from gangsaw.tasks.store.arrays.layout import default_chunks
from gangsaw.tasks.store.objects.files import allocate

if TYPE_CHECKING:
    from distributed import Client


SLAB_BYTES = 64 << 20  # most bytes that one task writes, unless a single chunk has more
RUN_BYTES = 1 << 16  # contiguous bytes in the file; runs need not be longer
# Least distance in bytes between runs that are written by calls. Below it a page holds several
# runs, and a memory map is used, which touches each page once, instead of a call for each run.
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
    padded : extents of the axes of the file, where they are longer than the array's
    """

    shape: tuple[int, ...]
    order: tuple[int, ...]
    dtype: Dtype
    offset: int = 0
    padded: tuple[int, ...] = ()

    @property
    def nbytes(self) -> int:
        """Least size of the file in bytes: the offset and all samples, padding included."""
        return self.offset + prod(self._extents) * self.dtype.itemsize

    def write(self, path: str, region: Region, samples: NumpyArray) -> None:
        """Write the samples of a region into the file at `path`."""
        shape = self._extents
        where, ordered = tuple(region[axis] for axis in self.order), samples.transpose(self.order)
        outer = _outer_axes(where, shape)
        if prod(shape[outer:]) * self.dtype.itemsize < LEAST_STEP:
            np.memmap(path, self.dtype, "r+", self.offset, shape)[where] = ordered
            return
        with Path(path).open("r+b", buffering=0) as file:
            for index in np.ndindex(ordered.shape[:outer]):
                run = np.ascontiguousarray(ordered[index], self.dtype)
                _write_all(file.fileno(), run, self.offset + self._offset_of(shape, where, index))

    @property
    def _extents(self) -> tuple[int, ...]:
        return self.padded or tuple(self.shape[axis] for axis in self.order)

    def _offset_of(self, shape: tuple[int, ...], where: Region, index: tuple[int, ...]) -> int:
        """Return the position of the samples at an index of a region, in bytes after the offset."""
        place = 0
        for axis, (n, span) in enumerate(zip(shape, where, strict=True)):
            place = place * n + span.start + (index[axis] if axis < len(index) else 0)
        return place * self.dtype.itemsize


@dataclass(frozen=True)
class WriteRegions:
    """Task function that reads pieces of an array and writes their samples to a flat file."""

    source: SourceArray
    grid: ChunkGrid
    layout: FlatFile
    path: str
    peak_bytes: int
    name: str = "decompress"
    side_by_side: bool = True

    def __call__(self, batch: range) -> int:
        """Write the pieces with these numbers; return the number of bytes written."""
        written = 0
        for number in batch:
            region = self.grid.region(number)
            with name_failed_chunk(f"{number} of {self.source.name}"):
                samples = self.source.read(region)
                self.layout.write(self.path, region, samples)
            written += samples.nbytes
        return written


def write_flat(
    source: SourceArray, path: Path, layout: FlatFile, meter: Meter, client: Client | None
) -> None:
    """Write all samples into the preallocated file at `path`, piece by piece."""
    chunks = export_grid(source)
    grid = join_chunks(chunks, layout.order, layout.dtype.itemsize)
    peak = transcode_bytes(source.shape, grid.chunks, source.dtype, source.chunks)
    task = WriteRegions(source, grid, layout, str(path.absolute()), peak)
    batches = [range(i, i + 1) for i in range(grid.n_chunks)]

    def on_done(batch: range, n_bytes: int) -> None:
        of_batch = (chunks.overlapping(grid.region(number)) for number in batch)
        meter.add(sum(1 for one in of_batch for _ in one), n_bytes, 0)

    run_batches(task, batches, on_done, client=client)


def join_chunks(chunks: ChunkGrid, order: Sequence[int], itemsize: int) -> ChunkGrid:
    """Join chunks to pieces with longer contiguous ranges in the file; return their grid.

    Parameters
    ----------
    chunks : grid of the chunks that are read
    order : for each axis of the file, slowest first, the axis of the array
    itemsize : bytes of a sample
    """
    shape = [max(1, n) for n in chunks.shape]  # an array without samples has extents 0
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
    """Return the number of outer axes over which a region is not contiguous in a file.

    For each index along them there is one contiguous range.
    """
    outer = max(0, len(shape) - 1)
    while outer and where[outer].stop - where[outer].start == shape[outer]:
        outer -= 1
    return outer


def _write_all(file: int, run: NumpyArray, offset: int) -> None:
    left = run.reshape(-1).view(np.uint8).data
    while len(left):  # Linux writes at most 2 GiB in a call
        n = os.pwrite(file, left, offset)
        left, offset = left[n:], offset + n


def export_grid(source: SourceArray) -> ChunkGrid:
    """Return the grid of pieces that an export reads: the source's chunks, else default ones."""
    return ChunkGrid(source.shape, source.chunks or default_chunks(source))


def only_array(source: Source) -> SourceArray:
    """Return the only array of a source; raise BadParams if it has several."""
    if len(source.arrays) == 1:
        return source.arrays[0]
    names = ", ".join(array.name for array in source.arrays)
    raise BadParams(f"{source.name} holds several arrays, name one with --variable: {names}")


def raw_dims(array: SourceArray, interleave: str | None) -> tuple[str, ...] | None:
    """Return the axis names of an image in the order of an interleave; None without one."""
    if interleave is None:
        return None
    if interleave not in INTERLEAVES:
        raise none_of("interleave", INTERLEAVES, interleave)
    band, y, x = image_dims(array)
    names = {"band": band, "y": y, "x": x}
    return tuple(name for key in INTERLEAVES[interleave] if (name := names[key]) is not None)


def axis_order(source: SourceArray, dims: Sequence[str]) -> tuple[int, ...]:
    """Return the index of the source's axis for each of `dims`; raise BadParams on a mismatch."""
    if sorted(dims) != sorted(source.dims):
        raise BadParams(f"{source.name} has axes {source.dims}, not {tuple(dims)}")
    return tuple(source.dims.index(name) for name in dims)


def set_byte_order(dtype: Dtype, byte_order: str) -> Dtype:
    """Return the dtype with byte order "little" or "big"; raise BadParams for any other name."""
    if byte_order not in BYTE_ORDERS:
        raise none_of("byte order", BYTE_ORDERS, byte_order)
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
    """Write the samples of an array to a raw file, without a header.

    Parameters
    ----------
    dims : the source's axes in the order of the file, slowest first; None keeps their order
    byte_order : "little" or "big"
    """
    order = axis_order(source, dims or source.dims)
    dtype = set_byte_order(source.dtype, byte_order)
    layout = FlatFile(source.shape, order, dtype)
    with write_whole_files([path], overwrite=overwrite) as (part,):
        allocate(part, layout.nbytes)
        write_flat(source, part, layout, Meter(export_grid(source).n_chunks, on_progress), client)
