"""Cache of memory-mapped files: a new map for each chunk costs thousands of page faults a job.

Touched pages of a map count as memory of the process, so Dask would pause a worker that keeps a
large file mapped. Therefore all maps are dropped and rebuilt when reads may have touched
MAPPED_BYTES.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from types import EllipsisType
from typing import TypeAlias

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.sources.open_files import cache_open_files
from gangsaw.tasks.sources.source import Region

MAPPED_BYTES = 64 << 20  # limit of a process; BASE_BYTES includes it
Spans: TypeAlias = "tuple[tuple[int, int], ...]"  # start and stop of each axis
AROUND = 1 << 16  # bytes that the system maps around a page fault


@dataclass(frozen=True)
class FlatSamples:
    """Location of an array's samples in a file, in C order.

    Attributes
    ----------
    path : path of the file
    changed : size, modification time and inode, which identify a version of the file
    dtype_str : NumPy type string
    offset : bytes before the first sample
    shape : extent of each axis in samples
    """

    path: str
    changed: tuple[int, ...]
    dtype_str: str
    offset: int
    shape: tuple[int, ...]


@dataclass
class _Maps:
    """Memory maps of flat files in a process, unmapped when too many pages were touched.

    Attributes
    ----------
    touched : upper estimate of the bytes of touched pages, by file and region (start and stop of
        each axis)
    """

    lock: Lock = field(default_factory=Lock)
    maps: dict[FlatSamples, NumpyArray] = field(default_factory=dict)
    touched: dict[tuple[FlatSamples, Spans], int] = field(default_factory=dict)

    def read(self, flat: FlatSamples, region: Region) -> NumpyArray:
        with self.lock:
            whole = self._mapped(flat)
            where, n_bytes = _touched(whole, region)
            if (flat, where) not in self.touched:
                if self.touched and sum(self.touched.values()) + n_bytes > MAPPED_BYTES:
                    self.maps.clear()  # each is unmapped with its last view
                    self.touched.clear()
                    whole = self._mapped(flat)
                self.touched[flat, where] = n_bytes
            return view_region(whole, region)

    def _mapped(self, flat: FlatSamples) -> NumpyArray:
        if flat not in self.maps:
            dtype = np.dtype(flat.dtype_str)
            mapped = np.memmap(flat.path, dtype, "r", flat.offset, flat.shape)
            self.maps[flat] = mapped.view(np.ndarray)
        return self.maps[flat]


def read_mapped(flat: FlatSamples, region: Region) -> NumpyArray:
    """Return a view of the samples in a region; safe to call from several threads at once."""
    return _maps().read(flat, region)


def file_stamp_of(path: str) -> tuple[int, ...]:
    """Return the size in bytes, modification time in ns and inode of a file."""
    found = Path(path).stat()
    return found.st_size, found.st_mtime_ns, found.st_ino


def view_region(whole: NumpyArray, region: Region) -> NumpyArray:
    """Return a view of a region, also of an array without axes."""
    where: tuple[slice[int, int, int | None] | EllipsisType, ...] = (*region, ...)
    return whole[where]


def count_touched_bytes(view: NumpyArray) -> int:
    """Return the approximate bytes of the pages that a view in C order touches."""
    span, runs = view.itemsize, 1
    for n, stride in zip(reversed(view.shape), reversed(view.strides), strict=True):
        if runs == 1 and stride <= span + AROUND:
            span += max(0, n - 1) * stride
        else:
            runs *= n
    return runs * (span + AROUND)


def _touched(whole: NumpyArray, region: Region) -> tuple[Spans, int]:
    """Return the region whose pages a read touches, and the bytes of these pages.

    The region, as start and stop of each axis, covers the whole last axis if its pages are at most
    MAPPED_BYTES: reads that differ along that axis share pages.
    """
    widened = (*region[:-1], *(slice(0, n) for n in whole.shape[-1:]))
    for where in (widened, region):
        if (n_bytes := count_touched_bytes(view_region(whole, where))) <= MAPPED_BYTES:
            break
    return tuple((s.start, s.stop) for s in where), n_bytes


@cache_open_files(1)
def _maps() -> _Maps:
    return _Maps()
