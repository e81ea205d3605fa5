"""Independent reader of uvh5 and of the HDF5 of KAT-7 and MeerKAT, by h5py."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.tasks.formats.contract.independent_reader import IndependentReader, library
from gangsaw.tasks.formats.hdf5.filters import open_hdf5
from gangsaw.tasks.radio.independent_readers.row_numbers import RowNumbers, find_row_numbers
from gangsaw.tasks.radio.independent_readers.selection import select_arrays
from gangsaw.tasks.sources.source import Described, Region

if TYPE_CHECKING:
    import h5py

UVH5 = {"visdata": "VISIBILITY", "flags": "FLAG", "nsamples": "WEIGHT", "uvw_array": "UVW"}
HEADER = (
    *("uvw_array", "integration_time", "lst_array", "phase_center_id_array"),
    *("phase_center_app_ra", "phase_center_app_dec", "phase_center_frame_pa"),
)
KEYS = {"time_array": "time", "ant_1_array": "ANTENNA1", "ant_2_array": "ANTENNA2"}
KAT = {
    "Data/correlator_data": "VISIBILITY",
    "Data/flags": "FLAG",
    "Markup/flags": "FLAG",
    "Data/weights": "WEIGHT",
    "Markup/weights": "WEIGHT",
    "Data/weights_channel": "WEIGHT_CHANNEL",
}
COMPLEX = {"f4": "c8", "f8": "c16"}  # complex dtype of a pair of floats
PARTS = ("r", "i")  # fields of visibilities that are integers


@dataclass(frozen=True, kw_only=True)
class RowsOfDataset(Described):
    """A dataset whose first axis is rows.

    Attributes
    ----------
    path, item : path of the file, and name of the dataset
    row_numbers : mapping of times and baselines to rows
    pairs : "complex" for real and imaginary part on the last axis, which the store lacks; "parts"
        for fields of the file that are an axis of the store; else ""
    """

    path: str
    item: str
    row_numbers: RowNumbers
    pairs: str = ""

    def read(self, region: Region) -> NumpyArray:
        """Return the values of a region of the array."""
        n = len(self.row_numbers.shape)
        with open_filtered_hdf5(self.path) as file:
            dataset = file[self.item]
            cells = region[n : n + dataset.ndim - 1]

            def rows(first: int, count: int) -> NumpyArray:
                return np.asarray(dataset[(slice(first, first + count), *cells)])

            values = self.row_numbers.read(rows, region[:n])
        if self.pairs == "complex":
            return _joined(values, self.dtype)
        if self.pairs == "parts":
            parts = values.view(np.recarray)
            return np.stack([parts[part] for part in PARTS], axis=-1)[..., region[-1]]
        return values


def _joined(pairs: NumpyArray, dtype: Dtype) -> NumpyArray:
    """Return pairs as complex numbers, bit for bit: (..., 2) -> (...)."""
    found = np.empty(pairs.shape[:-1], dtype)
    found.real, found.imag = pairs[..., 0], pairs[..., 1]
    return found


@contextmanager
def open_filtered_hdf5(path: str) -> Iterator[h5py.File]:
    """Open a file with the HDF5 filters that HERA's files need, if they are installed."""
    with open_hdf5(path) as file:
        yield file


def open_uvh5_reader(path: str, variables: Sequence[str]) -> IndependentReader:
    """Return an independent reader of the datasets of a uvh5 file, by times and baselines."""
    absolute = str(Path(path).absolute())
    with open_filtered_hdf5(absolute) as file:
        found = [*_uvh5(absolute, file)]
    return IndependentReader(library("h5py"), select_arrays(found, variables))


def open_kat_reader(path: str, variables: Sequence[str]) -> IndependentReader:
    """Return an independent reader of visibilities, flags and weights of a KAT file."""
    absolute = str(Path(path).absolute())
    with open_filtered_hdf5(absolute) as file:
        found = [*_kat(absolute, file)]
    return IndependentReader(library("h5py"), select_arrays(found, variables))


def _uvh5(path: str, file: h5py.File) -> Iterator[RowsOfDataset]:
    header = file["Header"]
    places = find_row_numbers(*(header[name][()] for name in KEYS))
    if places is None:
        return
    times, baselines = places.keys()
    for item, name in KEYS.items():
        yield _array(path, header[item], name, times if name == "time" else baselines)
    rows = {name: header[name] for name in HEADER if name in header}
    data = {UVH5.get(name, name): dataset for name, dataset in file["Data"].items()}
    for name, dataset in {**rows, **data}.items():
        if _is_column(dataset, len(header["time_array"])):
            yield _array(path, dataset, UVH5.get(name, name), places)


def _kat(path: str, file: h5py.File) -> Iterator[RowsOfDataset]:
    n = len(file["Data/correlator_data"])
    places = RowNumbers((n,), (1,))
    there = {item: name for item, name in KAT.items() if item in file and _is_column(file[item], n)}
    names = list(there.values())
    for item, name in there.items():
        is_second = names.count(name) > 1 and item.startswith("Markup/")
        yield _array(path, file[item], item.replace("/", "_") if is_second else name, places)
    if "Data/timestamps" in file:
        yield _array(path, file["Data/timestamps"], "time", places)


def _is_column(item: h5py.HLObject, n: int) -> bool:
    """Return True if an item has numbers for each of n rows."""
    dtype = getattr(item, "dtype", None)
    if dtype is None or not item.shape or item.shape[0] != n:
        return False
    kinds = {dtype[part].kind for part in PARTS} if dtype.names == PARTS else {dtype.kind}
    return kinds <= set("biufc")


def _array(path: str, dataset: h5py.Dataset, name: str, rows: RowNumbers) -> RowsOfDataset:
    dtype, cell, pairs = dataset.dtype, dataset.shape[1:], ""
    if dtype.names == PARTS:
        dtype, cell, pairs = dtype[PARTS[0]], (*cell, len(PARTS)), "parts"
    elif dataset.name == "/Data/correlator_data" and cell[-1:] == (2,) and dtype.str[1:] in COMPLEX:
        dtype, cell, pairs = np.dtype(COMPLEX[dtype.str[1:]]), cell[:-1], "complex"
    shape = rows.shape + cell
    return RowsOfDataset(
        name=name,
        shape=shape,
        dtype=dtype,
        dims=("",) * len(shape),
        chunks=None,
        path=path,
        item=dataset.name,
        row_numbers=rows,
        pairs=pairs,
    )
