"""Samples alone, in any axis and byte order: raw files, and the data files of ENVI."""

from __future__ import annotations

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
        ordered = tuple(self.shape[axis] for axis in self.order)
        mapped = np.memmap(path, self.dtype, "r+", self.offset, ordered)
        mapped[tuple(region[axis] for axis in self.order)] = samples.transpose(self.order)


@dataclass(frozen=True)
class WriteRegions:
    """Chunk function: reads the chunks of a batch and puts their samples into a flat file."""

    source: SourceArray
    grid: ChunkGrid
    layout: FlatFile
    path: str
    peak_bytes: int
    name: str = "decompress"

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
    """Write all samples into the file at `path`, chunk by chunk; its space is reserved."""
    grid = export_grid(source)
    peak = transcode_bytes(source.shape, grid.chunks, source.dtype, source.chunks)
    task = WriteRegions(source, grid, layout, str(path.absolute()), peak)
    batches = [range(i, i + 1) for i in range(grid.n_chunks)]
    run(task, batches, lambda batch, n: meter.add(len(batch), n, 0), client=client)


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
