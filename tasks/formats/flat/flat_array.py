"""Array in a flat file, such as a raw or ENVI data file: uncompressed samples at an offset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from pathlib import Path

import numpy as np

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.tasks.formats.flat.memory_maps import FlatSamples, file_stamp_of, read_mapped
from gangsaw.tasks.sources.source import Coordinate, GuardedArray, Region
from gangsaw.tasks.store.objects.versions import file_versions


@dataclass(frozen=True)
class FlatArray(GuardedArray):
    """Samples of one array in a file, in C order; any region is read through a memory map.

    Attributes
    ----------
    path : the data file, absolute
    shape : extent of each axis in samples, slowest first
    dtype_str : NumPy type string, byte order included, such as ">u2"
    dims : name of each axis
    offset : bytes before the first sample
    is_rest_kept : whether other arrays or coordinates hold the other bytes of the file
    """

    path: str
    shape: tuple[int, ...]
    dtype_str: str
    dims: tuple[str, ...]
    name: str = "data"
    offset: int = 0
    attrs: Mapping[str, object] = field(default_factory=dict, compare=False)
    chunks: tuple[int, ...] | None = None
    fill_value: object = None
    is_rest_kept: bool = False

    @property
    def dtype(self) -> Dtype:
        """Dtype of the samples in the file, byte order included."""
        return np.dtype(self.dtype_str)

    @property
    def nbytes(self) -> int:
        """Least size of the file in bytes: the offset and all samples."""
        return self.offset + prod(self.shape) * self.dtype.itemsize

    @property
    def unread_bytes(self) -> int:
        """Number of bytes after the last sample that no other array or coordinate holds."""
        return 0 if self.is_rest_kept else max(0, Path(self.path).stat().st_size - self.nbytes)

    def read(self, region: Region) -> NumpyArray:
        """Return a view of the mapped file; raise CorruptChunk if the file became too short."""
        changed = file_stamp_of(self.path)
        if changed[0] < self.nbytes:
            raise CorruptChunk(f"{self.path} became shorter than {self.nbytes} bytes")
        flat = FlatSamples(self.path, changed, self.dtype_str, self.offset, self.shape)
        return read_mapped(flat, region)  # no copy: codecs read any strides


@dataclass(frozen=True)
class FlatSource:
    """`Source` made of one flat file with one array."""

    name: str
    arrays: tuple[FlatArray, ...]
    coords: tuple[Coordinate, ...] = ()
    attrs: Mapping[str, object] = field(default_factory=dict, compare=False)

    def identity(self) -> str:
        """Return the path, size and modification time of the file."""
        return file_identity(self.arrays[0].path)

    def versions(self) -> Mapping[str, str]:
        """Return the version of the file."""
        return file_versions(self.arrays[0].path)


def check_size(array: FlatArray, remedy: str = "copy it again, or correct its header") -> None:
    """Raise BadParams if the file is missing or too short; the message ends with `remedy`."""
    path = Path(array.path)
    if not path.is_file():
        raise BadParams(f"{path}: no such data file")
    found = path.stat().st_size
    if found < array.nbytes:
        raise BadParams(
            f"{path} is truncated: {describe_samples(array)} need {array.nbytes} bytes, the file "
            f"has {found}: {remedy}"
        )


def describe_samples(array: FlatArray) -> str:
    """Return a clause for messages with the extents, dtype and offset of an array."""
    what = " x ".join(map(str, array.shape))
    return f"{what} samples of {array.dtype.name} after {array.offset} bytes"


def file_identity(*paths: str | Path) -> str:
    """Return a text that identifies the contents of files: path, size and modification time."""
    stats = [(Path(p).absolute(), Path(p).stat()) for p in paths]
    return "; ".join(f"{path} {s.st_size} bytes {s.st_mtime_ns} ns" for path, s in stats)
