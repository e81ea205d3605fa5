"""All that NetCDF and HDF5 files hold, read by the libraries of these formats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import h5py
import netCDF4
import numpy as np


def netcdf_items(path: Path) -> dict[str, Any]:
    """Return all that a NetCDF file holds, read by netCDF4."""
    with netCDF4.Dataset(path) as file:
        return dict(_items(file))


def _items(group: Any) -> Iterator[tuple[str, Any]]:
    group.set_auto_maskandscale(False)
    yield group.path, _attrs({name: group.getncattr(name) for name in group.ncattrs()})
    for name, variable in group.variables.items():
        attrs = _attrs({key: variable.getncattr(key) for key in variable.ncattrs()})
        samples = variable[...].tobytes()
        yield f"{group.path}/{name}", (variable.dtype, variable.dimensions, attrs, samples)
    for inner in group.groups.values():
        yield from _items(inner)


def _attrs(attrs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of attributes; of which type a number is, JSON does not keep."""
    values = {key: np.ravel(value).tolist() for key, value in attrs.items()}
    plain = {
        key: [v.decode() if isinstance(v, bytes) else v for v in values[key]] for key in values
    }
    return {key: value for key, value in plain.items() if key != "_NCProperties"}


def hdf5_items(path: Path) -> dict[str, Any]:
    """Return all that an HDF5 file holds, read by h5py; attributes of the library are left out."""
    found: dict[str, Any] = {}

    def note(name: str, item: Any) -> None:
        samples = (item.dtype, item[...].tolist()) if isinstance(item, h5py.Dataset) else None
        found[name] = _attrs(item.attrs), samples

    with h5py.File(path) as file:
        file.visititems(note)
        attrs = _attrs(file.attrs)
    return {**found, "": attrs}
