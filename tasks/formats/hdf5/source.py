"""NetCDF and HDF5 sources: NetCDF 4 and HDF5 read by h5py, NetCDF 3 by xarray.

Values stay as stored (no scale, offset, mask or time decoding), since decompression must restore
them bit for bit.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.extras import missing_module
from gangsaw.tasks.formats.contract.signatures import NETCDF3, hdf5_start, user_block
from gangsaw.tasks.formats.flat.flat_array import file_identity
from gangsaw.tasks.formats.hdf5.attributes import read_attributes
from gangsaw.tasks.formats.hdf5.filters import missing_filter, open_hdf5
from gangsaw.tasks.formats.hdf5.item_types import (
    find_special,
    lost_attribute,
    special_names,
    type_of,
)
from gangsaw.tasks.formats.hdf5.open import NetcdfFile, get_axis_names, get_extents, open_h5netcdf
from gangsaw.tasks.formats.hdf5.virtual import other_files
from gangsaw.tasks.formats.netcdf.groups import NAMELESS, describe_moved_dims
from gangsaw.tasks.formats.netcdf.layout import classic_form, group_notes, max_shape, unlimited_note
from gangsaw.tasks.formats.netcdf.records import fill_beyond, read_records
from gangsaw.tasks.sources.open_files import cache_open_files
from gangsaw.tasks.sources.source import Coordinate, Described, GroupAttrs, Region, SourceArray
from gangsaw.tasks.store.dataset.attribute_types import HDF5, UNUSED, USER_BLOCK, order_of, types_of
from gangsaw.tasks.store.dataset.carried import DTYPE
from gangsaw.tasks.store.dataset.losses import Refused, left_out_attrs, notes_of, storable_variables
from gangsaw.tasks.store.dataset.paths import groups_with
from gangsaw.tasks.store.dataset.variables import fill_of, json_attrs, split_variables
from gangsaw.tasks.store.objects.versions import file_versions, version_of

if TYPE_CHECKING:
    import h5netcdf
    import h5py

HDF5_ENGINE = "h5netcdf"


@dataclass(frozen=True)
class XarrayArray(Described):
    """Variable of a NetCDF or HDF5 file, read on the worker.

    Attributes
    ----------
    path : absolute path of the file
    engine : "h5netcdf", "netcdf4" or "scipy"
    key : path of the variable in the file
    version : identity of the file, so that a changed or replaced file is opened again
    """

    path: str
    engine: str
    key: str
    version: str

    def read(self, region: Region) -> NumpyArray:
        """Return the samples of the region."""
        if self.engine == HDF5_ENGINE:
            data = _hdf5(self.path, self.version)[self.key]
            if data.shape == self.shape:
                return np.asarray(data[region])
            beyond = np.array(fill_beyond(data), data.dtype)
            return read_records(data.__getitem__, region, data.shape, beyond)
        variables = _cached(self.path, self.engine, self.version).variables
        return np.asarray(variables[self.key][region].to_numpy())


@dataclass(frozen=True)
class XarraySource:
    """Source made of a NetCDF or HDF5 file, or of a group with all groups below.

    Attributes
    ----------
    others : paths of other files that contain samples
    moved : description of each dimension that an export moves to another group
    """

    name: str
    path: str
    arrays: tuple[SourceArray, ...]
    coords: tuple[Coordinate, ...] = ()
    groups: tuple[GroupAttrs, ...] = ()
    attrs: Mapping[str, object] = field(default_factory=dict, compare=False)
    left_out: tuple[Refused, ...] = ()
    others: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Descriptions of the items that are left out or moved."""
        return (*notes_of(self.left_out), *self.moved)

    def identity(self) -> str:
        """Return the path, size and modification time of all files that contain samples."""
        return file_identity(self.path, *self.others)

    def versions(self) -> Mapping[str, str]:
        """Return the versions of all files that contain samples."""
        return file_versions(self.path, *self.others)


def open_netcdf(
    path: str, group: str = "", variables: Sequence[str] = (), *, accept_loss: bool = False
) -> XarraySource:
    """Open a file; raise BadParams if it, or without `accept_loss` an item, is not supported."""
    return _open(path, _netcdf_engine(path), group, variables, accept_loss)


def _netcdf_engine(path: str) -> str:
    if hdf5_start(path) is not None:
        return HDF5_ENGINE
    with Path(path).open("rb") as file:
        start = file.read(4)
    if start not in NETCDF3:
        raise BadParams(f"{path} is neither NetCDF nor HDF5")
    for engine, module in (("netcdf4", "netCDF4"), ("scipy", "scipy")):
        if find_spec(module) is not None:
            return engine
    raise missing_module("netCDF4", f"{path} is NetCDF 3")


def _open(
    path: str, engine: str, group: str, variables: Sequence[str], accept_loss: bool
) -> XarraySource:
    absolute = str(Path(path).absolute())
    version = version_of(absolute)
    group = group.strip("/")
    try:
        with _opened(absolute, engine) as file:  # only once: opening reads all groups
            parts = [
                _part(absolute, engine, group, below, version, file)
                for below in ("", *_groups(absolute, engine, group))
            ]
    except BadParams:
        raise
    except (OSError, ValueError, KeyError) as error:
        raise BadParams(f"{path} cannot be read: {str(error).splitlines()[0]}") from error
    there = [variable for _, variables_of, _ in parts for variable in variables_of]
    refused = [one for _, _, refused_of in parts for one in refused_of]
    unused = {} if variables else _unused(absolute, engine, group, there)
    top, *groups = (_with_dimensions(part, unused.get(part.path, {})) for part, _, _ in parts)
    block = "" if group or engine != HDF5_ENGINE else user_block(absolute)
    if block is None:
        refused.append(Refused("the user block", "before HDF5 is too large to be stored"))
    if not there and not refused:
        inner = ", ".join(part.path for part in groups) or "none"
        raise BadParams(f"{path}: no variables; groups in it: {inner}")
    found, lost = storable_variables(there, refused, variables, accept_loss=accept_loss)
    arrays, coords = split_variables(found, variables)
    if variables:
        groups = [*groups_with(groups, [*(a.name for a in arrays), *(c.name for c in coords)])]
    attrs = {**top.attrs, **left_out_attrs(lost), **({USER_BLOCK: block} if block else {})}
    others = other_files(absolute)
    moved = tuple(describe_moved_dims(_dimensions(absolute, engine, group), (*arrays, *coords)))
    return XarraySource(path, absolute, arrays, coords, tuple(groups), attrs, lost, others, moved)


def _opened(path: str, engine: str) -> AbstractContextManager[NetcdfFile | None]:
    return open_h5netcdf(path) if engine == HDF5_ENGINE else nullcontext()


def _with_dimensions(part: GroupAttrs, unused: Mapping[str, int]) -> GroupAttrs:
    return GroupAttrs(part.path, {**part.attrs, UNUSED: dict(unused)}) if unused else part


def _unused(
    path: str, engine: str, group: str, there: Sequence[SourceArray]
) -> dict[str, dict[str, int]]:
    """Return the extents of the unused dimensions, which a store does not keep, by group."""
    used = {dim for variable in there for dim in variable.dims}
    used |= {
        str(of["char"])
        for v in there
        if isinstance(of := v.attrs.get(DTYPE), dict) and "char" in of
    }
    found: dict[str, dict[str, int]] = {}
    for below, name, extent in _dimensions(path, engine, group):
        if name not in used and not name.startswith(NAMELESS):
            found.setdefault(below, {})[name] = extent
    return found


def _dimensions(path: str, engine: str, group: str) -> Iterator[tuple[str, str, int]]:
    """Yield the group path, name and extent of each dimension of a file."""
    if engine == HDF5_ENGINE:
        groups = ["", *_groups(path, engine, group)]
        with open_h5netcdf(path) as file:
            for below in groups:
                inner = f"{group}/{below}".strip("/")
                own = (file[inner] if inner else file).dimensions
                yield from ((below, str(name), int(dim.size)) for name, dim in own.items())
    elif find_spec("netCDF4") is not None:
        import netCDF4

        with netCDF4.Dataset(path) as file:
            yield from (("", name, dim.size) for name, dim in file.dimensions.items())


def open_variables(path: str, group: str) -> list[XarrayArray]:
    """Return the variables of one group of a file, or [] if the file has no such group."""
    absolute, engine = str(Path(path).absolute()), _netcdf_engine(path)
    if group and group not in _groups(absolute, engine, ""):
        return []
    with _opened(absolute, engine) as file:
        _, variables, _ = _part(absolute, engine, "", group, file_identity(absolute), file)
    return [variable for variable in variables if isinstance(variable, XarrayArray)]


def _part(
    path: str, engine: str, group: str, below: str, version: str, file: NetcdfFile | None
) -> tuple[GroupAttrs, list[SourceArray], list[Refused]]:
    """Return the attributes, variables and unsupported items of one group of a file.

    Variables are named by their paths from the opened group.
    """
    if file is not None:
        return _hdf5_part(path, group, below, version, file)
    data = _cached(path, engine, version)
    _check_offsets(path, engine, data)
    variables = [
        _described(path, engine, version, str(name), variable)
        for name, variable in data.variables.items()
    ]
    grown = sorted(map(str, data.encoding.get("unlimited_dims", ())))
    notes = {**classic_form(path), **unlimited_note(grown)}
    attrs = {**_attrs_of(data.attrs, np.dtype("u1")), **notes}
    return GroupAttrs("", attrs), [*variables], []


def _attrs_of(attrs: Mapping[Hashable, object], dtype: Dtype) -> dict[str, object]:
    """Return attributes as JSON, with notes of the types that JSON cannot represent."""
    named = {str(name): value for name, value in attrs.items()}
    return {**json_attrs(named, dtype), **types_of(named)}


def _hdf5_part(
    path: str, group: str, below: str, version: str, file: NetcdfFile
) -> tuple[GroupAttrs, list[SourceArray], list[Refused]]:
    """Return the attributes, variables and unsupported items of one group of an HDF5 file.

    Axis names come from h5netcdf, all else from h5py, which takes attributes of unusual types.
    """
    inner, prefix = f"{group}/{below}".strip("/"), f"{below}/".lstrip("/")
    others, refused = find_special(path, inner, prefix)
    hidden = special_names(path, inner)
    own = file[inner] if inner else file
    readable, unknown = {}, []
    for name, variable in own.variables.items():
        if name not in hidden and (reason := missing_filter(variable._h5ds)):
            unknown.append(Refused(f"{prefix}{name}", reason))
        elif name not in hidden:
            readable[f"{prefix}{name}"] = variable
    plain = [_hdf5_described(path, version, *one) for one in readable.items()]
    attrs, lost = read_attributes(own._h5group)
    notes = group_notes(own)
    refused += unknown
    refused += [lost_attribute(name, below or "the root") for name in lost]
    refused += [one for _, losses in plain for one in losses]
    found = [variable for variable, _ in plain]
    kept_attrs = {**json_attrs(attrs, np.dtype("u1")), **notes}
    return GroupAttrs(below, kept_attrs), [*found, *others], refused


def _hdf5_described(
    path: str, version: str, name: str, variable: h5netcdf.Variable
) -> tuple[XarrayArray, list[Refused]]:
    data = variable._h5ds
    own, lost = read_attributes(data)
    dims, is_enum = get_axis_names(variable), data.dtype.kind == "b"
    notes = {**order_of(data.dtype), **max_shape(data, dims)}
    notes |= {HDF5: type_of(data)} if is_enum else {}
    attrs = {**json_attrs(own, data.dtype), **notes}
    found = XarrayArray(
        path=path,
        engine=HDF5_ENGINE,
        key=variable._h5path,  # not the data set's name: a link may point to the data set
        version=version,
        name=name,
        shape=get_extents(variable),
        dtype=data.dtype,
        dims=dims,
        chunks=data.chunks,
        attrs=attrs,
        fill_value=fill_of(attrs, data.dtype) if "_FillValue" in attrs else fill_of_plain(data),
    )
    return found, [lost_attribute(one, name) for one in lost]


def fill_of_plain(data: h5py.Dataset) -> object:
    """Return the user-defined fill value of an HDF5 data set, or None."""
    import h5py

    is_set = data.id.get_create_plist().fill_value_defined() == h5py.h5d.FILL_VALUE_USER_DEFINED
    return data.fillvalue if is_set else None


def _check_offsets(path: str, engine: str, data: xr.Dataset) -> None:
    """Raise BadParams for a NetCDF 3 variable that ends beyond the end of the file.

    The library checks the offset of a variable only when samples are read.
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


def _groups(path: str, engine: str, group: str) -> list[str]:
    """Return the relative paths of all groups below a group; [] for NetCDF 3.

    Raises BadParams if there is no such group, OSError or RuntimeError for a damaged file.
    """
    if engine != HDF5_ENGINE:
        return []
    import h5py

    with h5py.File(path, "r") as file:
        top = file.get(group or "/")
        if isinstance(top, h5py.Group):
            return groups_below(top)
        there = ", ".join(groups_below(file)) or "none"
        raise BadParams(f"{path} has no group {group!r}; there are: {there}")


def groups_below(top: h5py.Group) -> list[str]:
    """Return the relative paths of all groups below an open HDF5 group, outer groups first."""
    import h5py

    found: list[str] = []

    def note(name: str, item: object) -> None:
        if isinstance(item, h5py.Group):
            found.append(name)

    top.visititems(note)
    return sorted(found)


def _described(
    path: str, engine: str, version: str, name: str, variable: xr.Variable
) -> XarrayArray:
    attrs = _attrs_of(variable.attrs, variable.dtype)
    return XarrayArray(
        path=path,
        engine=engine,
        key=name,
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
    """Return the chunk extents of the file, which HDF5 and GDAL read whole, or None."""
    sizes = variable.encoding.get("chunksizes") or variable.encoding.get("preferred_chunks")
    if isinstance(sizes, Mapping):
        sizes = tuple(sizes.get(d, n) for d, n in zip(variable.dims, variable.shape, strict=True))
    return tuple(int(size) for size in sizes) if sizes else None


@cache_open_files(256)
def _hdf5(path: str, version: str) -> h5py.File:
    """Open an HDF5 file; `version` only distinguishes files in the cache."""
    return open_hdf5(path)


@cache_open_files(32)
def _cached(path: str, engine: str, version: str) -> xr.Dataset:
    """Open a file lazily with xarray; `version` only distinguishes files in the cache."""
    return xr.open_dataset(
        path,
        engine=engine,
        decode_cf=False,
        cache=False,
        create_default_indexes=False,  # default indexes would read whole coordinates of any size
    )
