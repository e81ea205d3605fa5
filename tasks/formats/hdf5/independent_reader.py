"""Independent readers: h5py for NetCDF 4 and any HDF5, netCDF4 for NetCDF 3."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.tasks.formats.contract.independent_reader import IndependentReader, library
from gangsaw.tasks.formats.contract.signatures import hdf5_start
from gangsaw.tasks.formats.hdf5.filters import open_hdf5
from gangsaw.tasks.sources.source import Described, Region

if TYPE_CHECKING:
    import h5py

OTHER_NAME = "_nc4_non_coord_"  # prefix of a variable with the name of another's dimension
NO_VARIABLE = b"This is a netCDF dimension but not a netCDF variable"  # NAME of such a scale


@dataclass(frozen=True, kw_only=True)
class H5pyArray(Described):
    """Dataset of an HDF5 file."""

    path: str
    item: str

    def read(self, region: Region) -> NumpyArray:
        """Return the samples of the region."""

        with open_hdf5(self.path) as file:
            data = file[self.item]
            there = tuple(
                slice(min(s.start, n), min(s.stop, n))
                for s, n in zip(region, data.shape, strict=True)
            )
            values = self._read(data, there)
            if there == region:
                return values
            fill = np.zeros((), values.dtype)
            fill.fill(_unwritten(data, values.dtype))
        if values.dtype.names:  # NumPy would copy the members, and not the padding between them
            whole = np.empty([s.stop - s.start for s in region], f"V{values.dtype.itemsize}")
            whole.fill(np.void(fill.tobytes()))
            whole[tuple(map(slice, values.shape))] = np.ascontiguousarray(values).view(whole.dtype)
            return whole.view(values.dtype)
        whole = np.empty([s.stop - s.start for s in region], values.dtype)
        whole.fill(fill[()])
        whole[tuple(map(slice, values.shape))] = values
        return whole

    def _read(self, data: h5py.Dataset, region: Region) -> NumpyArray:
        import h5py

        if h5py.check_string_dtype(self.dtype) and self.dtype.hasobject:
            return _texts(data, region)
        values = np.asarray(data[region])
        if values.ndim == len(region):
            return values
        items = np.frombuffer(values.tobytes(), self.dtype)  # each item is an array
        return items.reshape(values.shape[: len(region)])


@dataclass(frozen=True, kw_only=True)
class NetcdfArray(Described):
    """Variable of a NetCDF 3 file, read without decoding."""

    path: str

    def read(self, region: Region) -> NumpyArray:
        """Return the samples of the region."""
        import netCDF4

        with netCDF4.Dataset(self.path) as file:
            file.set_auto_mask(False)
            file.set_auto_scale(False)
            file.set_auto_chartostring(False)
            return np.asarray(file.variables[self.name][region])


def _unwritten(data: h5py.Dataset, dtype: Dtype) -> object:
    """Return the value that the NetCDF library reads beyond the records of a variable."""
    import h5py
    from h5netcdf.legacyapi import default_fillvals

    if h5py.check_string_dtype(data.dtype) is not None and dtype.hasobject:
        return ""
    if (of := h5py.check_vlen_dtype(data.dtype)) is not None:
        return np.empty(0, of)
    kind, own = data.dtype.str[1:], data.id.get_create_plist().fill_value_defined()
    if own != h5py.h5d.FILL_VALUE_USER_DEFINED and data.dtype.kind in "iuf":
        return default_fillvals.get(kind, data.fillvalue)
    fill = data.fillvalue  # its bytes may be in another order
    item = fill if isinstance(fill, np.void) else np.array(fill, data.dtype)
    return np.frombuffer(item.tobytes(), dtype)[0]


def _of_items(dtype: Dtype) -> Dtype:
    """Return the dtype of items; array items, which NumPy turns into axes, become void bytes."""
    return dtype if dtype.subdtype is None else np.dtype(f"V{dtype.itemsize}")


def _texts(data: h5py.Dataset, region: Region) -> NumpyArray:
    """Return texts of variable length as str, or as bytes if any is no UTF-8."""
    try:
        return np.asarray(data.asstr("utf-8")[region], object)
    except UnicodeDecodeError:
        return np.asarray(data[region], object)


def open_netcdf_reader(
    path: str, group: str = "", variables: tuple[str, ...] = ()
) -> IndependentReader | None:
    """Return a reader of a file's variables, limited to one group or to these names.

    None for a NetCDF 3 file if netCDF4 is not installed.
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
    return IndependentReader(library("h5py" if is_hdf5 else "netCDF4"), wanted)


def _datasets(path: str, group: str) -> Iterator[H5pyArray]:
    """Yield the datasets of a group and of all groups below, with names joined by "/"."""
    import h5py

    with open_hdf5(path) as file:
        extents: dict[tuple[int, int], int] = {}
        groups = {"": file[group or "/"]}

        def note(name: str, item: object) -> None:
            if isinstance(item, h5py.Group):
                groups[f"{name}/"] = item

        groups[""].visititems(note)  # visits each group once, although links may form cycles
        for before, own in groups.items():
            yield from _of_group(path, own, before, extents)


def _of_group(
    path: str, group: h5py.Group, before: str, extents: dict[tuple[int, int], int]
) -> Iterator[H5pyArray]:
    import h5py

    for name in group:
        item = group.get(name)  # None for a dangling link
        if not isinstance(item, h5py.Dataset) or item.shape is None or _is_dimension(item):
            continue
        yield H5pyArray(
            name=before + name.removeprefix(OTHER_NAME),
            shape=_shape(item, extents),
            dtype=_of_items(item.dtype),
            dims=("",) * item.ndim,
            chunks=item.chunks,
            path=path,
            item=f"{group.name}/{name}",
        )


def _shape(item: h5py.Dataset, extents: dict[tuple[int, int], int]) -> tuple[int, ...]:
    """Return the extents of a variable's dimensions; `extents` caches the unlimited ones."""
    import h5py

    shape = list(item.shape)
    for axis, scale in enumerate(_scales(item)):
        if scale is not None and scale.shape and scale.maxshape[0] is None:
            at = h5py.h5o.get_info(scale.id)  # its name would need a search of the file
            if (at.fileno, at.addr) not in extents:
                extents[at.fileno, at.addr] = max(_records(scale))
            shape[axis] = max(shape[axis], extents[at.fileno, at.addr])
    return tuple(shape)


def _scales(item: h5py.Dataset) -> list[h5py.Dataset | None]:
    """Return the dimension scale of each axis; a coordinate variable lists others by number."""
    if "DIMENSION_LIST" in item.attrs or not item.is_scale or not item.ndim:
        return [axis[len(axis) - 1] if len(axis) else None for axis in item.dims]
    numbers = item.attrs.get("_Netcdf4Coordinates", ())
    return [item, *(_numbered(item.parent, number) for number in numbers[1 : item.ndim])]


def _numbered(group: h5py.Group, number: int) -> h5py.Dataset | None:
    """Return the dimension scale with a NetCDF number, from a group or the nearest group above."""
    import h5py

    for own in map(group.get, group):
        is_scale = isinstance(own, h5py.Dataset) and own.is_scale
        if is_scale and own.attrs.get("_Netcdf4Dimid") == number:
            return own
    return None if group.name == "/" else _numbered(group.parent, number)


def _records(scale: h5py.Dataset) -> Iterator[int]:
    """Yield the number of records of each variable along a dimension."""
    yield scale.shape[0]
    for reference, axis in scale.attrs.get("REFERENCE_LIST", ()):
        if reference and isinstance(user := scale.file[reference], type(scale)) and user.shape:
            yield user.shape[axis]


def _is_dimension(item: h5py.Dataset) -> bool:
    """Return True if a dataset is only a NetCDF dimension and no variable."""
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
