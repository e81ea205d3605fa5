"""A file of samples and nothing else, at an offset: what raw and ENVI data files are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from pathlib import Path

import numpy as np

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.tasks.formats.mapped import Flat, changed_by, read_mapped
from gangsaw.tasks.source import Bordered, Coordinate, Region
from gangsaw.tasks.store.stamps import file_stamps


@dataclass(frozen=True)
class FlatArray(Bordered):
    """Samples of one array in C order; reading any region is cheap.

    Attributes
    ----------
    path : the data file, absolute
    shape : extent of each axis in samples, slowest first
    dtype_str : NumPy type string, byte order included, such as ">u2"
    dims : name of each axis
    offset : bytes before the first sample
    is_rest_kept : whether other arrays or coordinates hold the file's other bytes
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
        """Of the samples in the file."""
        return np.dtype(self.dtype_str)

    @property
    def nbytes(self) -> int:
        """Bytes that the file must have."""
        return self.offset + prod(self.shape) * self.dtype.itemsize

    @property
    def unread_bytes(self) -> int:
        """Bytes of the file after the last sample, in nothing that is stored."""
        return 0 if self.is_rest_kept else max(0, Path(self.path).stat().st_size - self.nbytes)

    def read(self, region: Region) -> NumpyArray:
        """Return a view of the file; raise CorruptChunk where it has become too short."""
        changed = changed_by(self.path)
        if changed[0] < self.nbytes:
            raise CorruptChunk(f"{self.path} became shorter than {self.nbytes} bytes")
        flat = Flat(self.path, changed, self.dtype_str, self.offset, self.shape)
        return read_mapped(flat, region)  # no copy: codecs read any strides


@dataclass(frozen=True)
class FlatSource:
    """A file that is one array; it follows `gangsaw.tasks.source.Source`."""

    name: str
    arrays: tuple[FlatArray, ...]
    coords: tuple[Coordinate, ...] = ()
    attrs: Mapping[str, object] = field(default_factory=dict, compare=False)

    def identity(self) -> str:
        """Path, bytes and modification time."""
        return file_identity(self.arrays[0].path)

    def stamps(self) -> Mapping[str, str]:
        """What changes with the file."""
        return file_stamps(self.arrays[0].path)


def check_size(array: FlatArray) -> None:
    """Raise BadParams where the file is missing or holds less than the array needs."""
    path = Path(array.path)
    if not path.is_file():
        raise BadParams(f"{path}: no such data file")
    found = path.stat().st_size
    if found < array.nbytes:
        what = " x ".join(map(str, array.shape))
        raise BadParams(
            f"{path} is truncated: {what} samples of {array.dtype.name} after {array.offset} bytes "
            f"need {array.nbytes} bytes, the file has {found}"
        )


def file_identity(*paths: str | Path) -> str:
    """What identifies the content of these files: path, bytes, modification time."""
    stats = [(Path(p).absolute(), Path(p).stat()) for p in paths]
    return "; ".join(f"{path} {s.st_size} bytes {s.st_mtime_ns} ns" for path, s in stats)
