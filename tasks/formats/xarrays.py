"""Files that xarray opens: NetCDF and HDF5.

Values stay as stored (no scale, offset, mask or time decoding): what is compressed must come back
bit for bit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import xarray as xr

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.flat import file_identity
from gangsaw.tasks.source import Coordinate, Described, Region
from gangsaw.tasks.store.variables import (
    SMALL,
    TEXT_BYTES,
    fill_of,
    json_attrs,
    split,
    too_many_texts,
)

HDF5 = b"\x89HDF"
NETCDF3 = b"CDF"


@dataclass(frozen=True)
class XarrayArray(Described):
    """One variable of a file, read on the worker.

    Attributes
    ----------
    path : the file, absolute
    engine : "h5netcdf", "netcdf4" or "scipy"
    group : HDF5 group of the variable
    version : path, bytes and modification time of the file, so that a changed one is opened again
    """

    path: str
    engine: str
    group: str
    version: str

    def read(self, region: Region) -> NumpyArray:
        """Return the samples of the region."""
        data = _cached(self.path, self.engine, self.group, self.version)
        return np.asarray(data.variables[self.name][region].to_numpy())


@dataclass(frozen=True)
class XarraySource:
    """The variables of one file or one of its groups."""

    name: str
    path: str
    arrays: tuple[XarrayArray, ...]
    coords: tuple[Coordinate, ...] = ()
    attrs: Mapping[str, object] = field(default_factory=dict, compare=False)

    def identity(self) -> str:
        """Path, bytes and modification time."""
        return file_identity(self.path)


def open_netcdf(path: str, group: str = "", variables: Sequence[str] = ()) -> XarraySource:
    """Describe a NetCDF or HDF5 file; raise BadParams where it cannot be read as one."""
    return _open(path, _netcdf_engine(path), group, variables)


def _netcdf_engine(path: str) -> str:
    with Path(path).open("rb") as file:
        signature = file.read(4)
    if signature == HDF5:
        return "h5netcdf"
    if signature[:3] != NETCDF3:
        raise BadParams(f"{path} is neither NetCDF nor HDF5")
    for engine, module in (("netcdf4", "netCDF4"), ("scipy", "scipy")):
        if find_spec(module) is not None:
            return engine
    raise BadParams(f'{path} is NetCDF 3, which needs netCDF4: pip install "gangsaw[io]"')


def _open(path: str, engine: str, group: str, variables: Sequence[str]) -> XarraySource:
    absolute = str(Path(path).absolute())
    version = file_identity(absolute)
    try:
        texts = _large_texts(absolute, engine, group)
        for name in texts:
            if not variables or name in variables:
                raise too_many_texts(name, texts[name])
        data = _cached(absolute, engine, group, version)
        _check_offsets(path, engine, data)
    except BadParams:
        raise
    except (OSError, ValueError, KeyError) as error:
        if group and (names := _groups(absolute, engine)) is not None and group not in names:
            there = ", ".join(names) or "none"
            raise BadParams(f"{path} has no group {group!r}; there are: {there}") from None
        raise BadParams(f"{path} cannot be read: {str(error).splitlines()[0]}") from error
    found = [
        _describe(absolute, engine, group, version, str(name), variable)
        for name, variable in data.variables.items()
    ]
    arrays, coords = split(found, variables)
    attrs = json_attrs(data.attrs, np.dtype("u1"))
    return XarraySource(path, absolute, arrays, coords, attrs)


def _large_texts(path: str, engine: str, group: str) -> dict[str, tuple[int, ...]]:
    """Return the shapes of texts of any length, by name, that xarray must not see.

    It reads all of them to open a file.
    """
    if engine != "h5netcdf":
        return {}
    import h5py

    with h5py.File(path, "r") as file:
        own = file[group or "/"]
        found = (own.get(name) for name in own)  # None where a link leads nowhere
        return {
            item.name.rpartition("/")[2]: item.shape
            for item in found
            if isinstance(item, h5py.Dataset)
            and item.dtype.kind == "O"
            and item.size * TEXT_BYTES > SMALL
        }


def _check_offsets(path: str, engine: str, data: xr.Dataset) -> None:
    """Raise BadParams for a variable of NetCDF 3 that lies where no file reaches.

    The library looks at the offset of a variable only when samples are read.
    """
    if engine != "netcdf4":
        return
    for name, variable in data.variables.items():
        if not variable.size:
            continue
        try:
            variable[(-1,) * variable.ndim].to_numpy()
        except (OSError, RuntimeError) as error:
            raise BadParams(f"{path}: {name} cannot be read: {error}") from error


def _groups(path: str, engine: str) -> list[str] | None:
    """Return the groups of an HDF5 file, none of NetCDF 3; None for a damaged file."""
    if engine != "h5netcdf":
        return []
    import h5py

    found: list[str] = []
    try:
        with h5py.File(path, "r") as file:
            file.visititems(lambda name, item: _note(found, name, item))
    except (OSError, RuntimeError):
        return None
    return found


def _note(found: list[str], name: str, item: object) -> None:
    if hasattr(item, "keys"):
        found.append(name)


def _describe(
    path: str, engine: str, group: str, version: str, name: str, variable: xr.Variable
) -> XarrayArray:
    attrs = json_attrs(variable.attrs, variable.dtype)
    return XarrayArray(
        path=path,
        engine=engine,
        group=group,
        version=version,
        name=name,
        shape=variable.shape,
        dtype=variable.dtype,
        dims=tuple(str(dim) for dim in variable.dims),
        chunks=_pieces(variable),
        attrs=attrs,
        fill_value=fill_of(attrs, variable.dtype),
    )


def _pieces(variable: xr.Variable) -> tuple[int, ...] | None:
    """Extents of the file's own chunks, read whole by HDF5 and GDAL."""
    sizes = variable.encoding.get("chunksizes") or variable.encoding.get("preferred_chunks")
    if isinstance(sizes, Mapping):
        sizes = tuple(sizes.get(d, n) for d, n in zip(variable.dims, variable.shape, strict=True))
    return tuple(int(size) for size in sizes) if sizes else None


@lru_cache(maxsize=8)
def _cached(path: str, engine: str, group: str, version: str) -> xr.Dataset:
    """Return the data set, all of it still in the file; `version` only distinguishes files."""
    return xr.open_dataset(
        path,
        engine=engine,
        group=group or None,
        decode_cf=False,
        cache=False,
        drop_variables=list(_large_texts(path, engine, group)),
        create_default_indexes=False,  # which would read whole coordinates of any size
        backend_kwargs={"phony_dims": "sort"} if engine == "h5netcdf" else None,
    )
