"""Independent reader of miriad, and of uvfits without plain float32, by the arrays of `UVData`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.formats.contract.independent_reader import IndependentReader, library
from gangsaw.tasks.radio.independent_readers.row_numbers import RowNumbers, find_row_numbers
from gangsaw.tasks.radio.independent_readers.selection import select_arrays
from gangsaw.tasks.radio.libraries.quiet import AS_IT_IS, silence_pyuvdata
from gangsaw.tasks.sources.source import Described, Region
from gangsaw.tasks.store.objects.versions import version_of

if TYPE_CHECKING:
    from pyuvdata import UVData

# name in the store -> attribute of UVData, and its dtype in a uvh5 store
ROWS = {
    "VISIBILITY": ("data_array", "c8"),
    "FLAG": ("flag_array", "?"),
    "WEIGHT": ("nsample_array", "f4"),
    "UVW": ("uvw_array", "f8"),
    "integration_time": ("integration_time", "f8"),
}
KEYS = {"time_array": "time", "ant_1_array": "ANTENNA1", "ant_2_array": "ANTENNA2"}


@dataclass(frozen=True, kw_only=True)
class ArrayOfUvdata(Described):
    """An array of `UVData` with one value per row.

    Attributes
    ----------
    path, kind, version : path, file type and version of the file
    item : attribute of `UVData`
    row_numbers : mapping of times and baselines to rows
    """

    path: str
    kind: str
    version: str
    item: str
    row_numbers: RowNumbers

    def read(self, region: Region) -> NumpyArray:
        """Return the values of a region of the array."""
        n, is_key = len(self.row_numbers.shape), self.item in KEYS
        uvdata = read_uvdata(self.path, self.kind, self.version, is_key)
        array = np.asarray(getattr(uvdata, self.item))
        values = self.row_numbers.read(lambda first, rows: array[first : first + rows], region[:n])
        return values[(slice(None),) * n + region[n:]].astype(self.dtype)


@lru_cache(maxsize=2)
def read_uvdata(path: str, kind: str, version: str, is_header: bool) -> UVData:
    """Return a file as pyuvdata reads it, for uvfits without its samples if `is_header`.

    `version` only distinguishes files in the cache.
    """
    from pyuvdata import UVData

    uvdata = UVData()
    some = {"read_data": False} if is_header and kind == "uvfits" else {}
    with silence_pyuvdata():
        uvdata.read(path, file_type=kind, **some, **AS_IT_IS)
    return uvdata


def open_uvdata_reader(path: str, kind: str, variables: Sequence[str]) -> IndependentReader | None:
    """Return an independent reader by `UVData`; None if a time and baseline has several rows."""
    absolute = str(Path(path).absolute())
    places = read_row_numbers(absolute, kind)
    if places is None:
        return None
    rows = [_array(absolute, kind, name, item, places, t) for name, (item, t) in ROWS.items()]
    found = [*key_arrays(absolute, kind, places), *rows]
    return IndependentReader(library("pyuvdata"), select_arrays(found, variables))


def read_row_numbers(path: str, kind: str) -> RowNumbers | None:
    """Return the row numbers by times and antennas; None if these are ambiguous."""
    uvdata = read_uvdata(path, kind, version_of(path), is_header=True)
    return find_row_numbers(*(getattr(uvdata, item) for item in KEYS))


def key_arrays(path: str, kind: str, rows: RowNumbers) -> list[ArrayOfUvdata]:
    """Return the arrays of times and antennas, along one axis each if the rows are a grid."""
    times, baselines = rows.keys()
    return [
        _array(path, kind, name, item, times if name == "time" else baselines)
        for item, name in KEYS.items()
    ]


def _array(
    path: str, kind: str, name: str, item: str, rows: RowNumbers, dtype: str = ""
) -> ArrayOfUvdata:
    version = version_of(path)
    values = getattr(read_uvdata(path, kind, version, item in KEYS), item)
    shape = rows.shape + values.shape[1:]
    return ArrayOfUvdata(
        name=name,
        shape=shape,
        dtype=np.dtype(dtype) if dtype else values.dtype,
        dims=("",) * len(shape),
        chunks=None,
        path=path,
        kind=kind,
        version=version,
        item=item,
        row_numbers=rows,
    )
