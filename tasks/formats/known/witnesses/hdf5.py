"""NetCDF 4 and any HDF5 by h5py; NetCDF 3 by netCDF4."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.tasks.formats.signatures import hdf5_start
from gangsaw.tasks.formats.witness import Witness, library
from gangsaw.tasks.source import Described, Region

if TYPE_CHECKING:
    import h5py

NO_VARIABLE = b"This is a netCDF dimension but not a netCDF variable"  # the name of such a scale


@dataclass(frozen=True, kw_only=True)
class H5pyArray(Described):
    """A dataset of a file."""

    path: str
    item: str

    def read(self, region: Region) -> NumpyArray:
        """Return the samples of the region."""
        import h5py

        with h5py.File(self.path, "r") as file:
            data = file[self.item]
            if h5py.check_string_dtype(self.dtype) and self.dtype.hasobject:
                return _texts(data, region)
            values = np.asarray(data[region])
        if values.ndim == len(region):
            return values
        items = np.frombuffer(values.tobytes(), self.dtype)  # each of them is an array
        return items.reshape(values.shape[: len(region)])


@dataclass(frozen=True, kw_only=True)
class NetcdfArray(Described):
    """A variable of NetCDF 3, as stored."""

    path: str

    def read(self, region: Region) -> NumpyArray:
        """Return the samples of the region."""
        import netCDF4

        with netCDF4.Dataset(self.path) as file:
            file.set_auto_mask(False)
            file.set_auto_scale(False)
            file.set_auto_chartostring(False)
            return np.asarray(file.variables[self.name][region])


def _of_items(dtype: Dtype) -> Dtype:
    """Return the type of items: of arrays, which NumPy would make axes of, their bytes."""
    return dtype if dtype.subdtype is None else np.dtype(f"V{dtype.itemsize}")


def _texts(data: h5py.Dataset, region: Region) -> NumpyArray:
    """Return texts of any length as str, or as bytes where some are no UTF-8."""
    try:
        return np.asarray(data.asstr("utf-8")[region], object)
    except UnicodeDecodeError:
        return np.asarray(data[region], object)


def netcdf_witness(path: str, group: str = "", variables: tuple[str, ...] = ()) -> Witness | None:
    """Return the variables of a file, or those of one group or of these names.

    None where the library of NetCDF 3 is not installed.
    """
    absolute = str(Path(path).absolute())
    is_hdf5 = hdf5_start(path) is not None
    if is_hdf5:
        found: Iterator[H5pyArray | NetcdfArray] = _datasets(absolute, group)
    elif find_spec("netCDF4") is not None:
        found = _variables(absolute)
    else:
        return None
    wanted = tuple(array for array in found if not variables or array.name in variables)
    return Witness(library("h5py" if is_hdf5 else "netCDF4"), wanted)


def _datasets(path: str, group: str) -> Iterator[H5pyArray]:
    """Yield the datasets of a group and of those below, names apart by "/"."""
    import h5py

    with h5py.File(path, "r") as file:
        groups = {"": file[group or "/"]}

        def note(name: str, item: object) -> None:
            if isinstance(item, h5py.Group):
                groups[f"{name}/"] = item

        groups[""].visititems(note)  # each once: links may lead back
        for before, own in groups.items():
            yield from _of_group(path, own, before)


def _of_group(path: str, group: h5py.Group, before: str) -> Iterator[H5pyArray]:
    import h5py

    for name in group:
        item = group.get(name)  # None where a link leads nowhere
        if not isinstance(item, h5py.Dataset) or item.shape is None or _is_dimension(item):
            continue
        yield H5pyArray(
            name=before + name,
            shape=item.shape,
            dtype=_of_items(item.dtype),
            dims=("",) * item.ndim,
            chunks=item.chunks,
            path=path,
            item=f"{group.name}/{name}",
        )


def _is_dimension(item: h5py.Dataset) -> bool:
    """Whether a dataset stands for a dimension of NetCDF alone."""
    return bytes(item.attrs.get("NAME", b"")).startswith(NO_VARIABLE)


def _variables(path: str) -> Iterator[NetcdfArray]:
    import netCDF4

    with netCDF4.Dataset(path) as file:
        for name, found in file.variables.items():
            yield NetcdfArray(
                name=name,
                shape=found.shape,
                dtype=np.dtype(found.dtype),
                dims=("",) * found.ndim,
                chunks=None,
                path=path,
            )
