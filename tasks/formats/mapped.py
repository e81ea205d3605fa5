"""Files mapped once for many reads: to map a file for each chunk costs thousands of faults a job.

Pages of a map that were touched count as memory of the process, and Dask would pause a worker that
holds a map of a large file for ever. So maps are given up, and made anew, when reads may have
touched MAPPED_BYTES.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from types import EllipsisType
from typing import TypeAlias

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.open_files import kept_open
from gangsaw.tasks.source import Region

MAPPED_BYTES = 64 << 20  # of a process: no more than what BASE_BYTES leaves
Spans: TypeAlias = "tuple[tuple[int, int], ...]"  # of each axis start and stop
AROUND = 1 << 16  # bytes: the system maps the pages around a fault, too


@dataclass(frozen=True)
class Flat:
    """Where the samples of an array lie in a file, in C order.

    Attributes
    ----------
    path : of the file
    changed : tells a changed file from that before
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
    """The maps of a process.

    Attributes
    ----------
    touched : where reads touched pages, and how many bytes of these there may be
    """

    lock: Lock = field(default_factory=Lock)
    maps: dict[Flat, NumpyArray] = field(default_factory=dict)
    touched: dict[tuple[Flat, Spans], int] = field(default_factory=dict)

    def read(self, flat: Flat, region: Region) -> NumpyArray:
        with self.lock:
            whole = self._mapped(flat)
            where, n_bytes = _touched(whole, region)
            if (flat, where) not in self.touched:
                if self.touched and sum(self.touched.values()) + n_bytes > MAPPED_BYTES:
                    self.maps.clear()  # each is unmapped with its last view
                    self.touched.clear()
                    whole = self._mapped(flat)
                self.touched[flat, where] = n_bytes
            return samples_of(whole, region)

    def _mapped(self, flat: Flat) -> NumpyArray:
        if flat not in self.maps:
            dtype = np.dtype(flat.dtype_str)
            mapped = np.memmap(flat.path, dtype, "r", flat.offset, flat.shape)
            self.maps[flat] = mapped.view(np.ndarray)
        return self.maps[flat]


def read_mapped(flat: Flat, region: Region) -> NumpyArray:
    """Return a view of the samples in a region. Safe to call from several threads at once."""
    return _maps().read(flat, region)


def changed_by(path: str) -> tuple[int, ...]:
    """Return bytes, time of change in ns and inode of a file."""
    found = Path(path).stat()
    return found.st_size, found.st_mtime_ns, found.st_ino


def samples_of(whole: NumpyArray, region: Region) -> NumpyArray:
    """Return a view of a region, also where there are no axes."""
    where: tuple[slice[int, int, int | None] | EllipsisType, ...] = (*region, ...)
    return whole[where]


def touched_bytes(view: NumpyArray) -> int:
    """Return about how many bytes the pages around the samples of a view in C order have."""
    span, runs = view.itemsize, 1
    for n, stride in zip(reversed(view.shape), reversed(view.strides), strict=True):
        if runs == 1 and stride <= span + AROUND:
            span += max(0, n - 1) * stride
        else:
            runs *= n
    return runs * (span + AROUND)


def _touched(whole: NumpyArray, region: Region) -> tuple[Spans, int]:
    """Return the spans of a region that stands for the pages that a read touches, and their bytes.

    Reads that differ along the last axis share pages, where those of the whole axis are few.
    """
    widened = (*region[:-1], *(slice(0, n) for n in whole.shape[-1:]))
    for where in (widened, region):
        if (n_bytes := touched_bytes(samples_of(whole, where))) <= MAPPED_BYTES:
            break
    return tuple((s.start, s.stop) for s in where), n_bytes


@kept_open(1)
def _maps() -> _Maps:
    return _Maps()
