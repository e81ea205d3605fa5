"""NetCDF and HDF5: versions 4 and HDF5 by h5py, older ones by xarray.

Values stay as stored (no scale, offset, mask or time decoding): what is compressed must come back
bit for bit.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.extras import missing
from gangsaw.tasks.formats.flat import file_identity
from gangsaw.tasks.formats.hdf5_attributes import attributes_of
from gangsaw.tasks.formats.hdf5_kinds import (
    lost_attribute,
    special,
    special_names,
    type_of,
)
from gangsaw.tasks.formats.hdf5_open import axes_of, opened
from gangsaw.tasks.formats.netcdf_groups import NAMELESS
from gangsaw.tasks.formats.netcdf_layout import classic_form, group_notes, max_shape, unlimited_note
from gangsaw.tasks.formats.signatures import NETCDF3, hdf5_start, user_block
from gangsaw.tasks.formats.virtual import other_files
from gangsaw.tasks.open_files import kept_open
from gangsaw.tasks.source import Coordinate, Described, GroupAttrs, Region, SourceArray
from gangsaw.tasks.store.dataset.attribute_types import HDF5, UNUSED, USER_BLOCK, order_of, types_of
from gangsaw.tasks.store.dataset.carried import DTYPE
from gangsaw.tasks.store.dataset.losses import Refused, kept, left_out_attrs, notes_of
from gangsaw.tasks.store.dataset.paths import groups_kept
from gangsaw.tasks.store.dataset.variables import fill_of, json_attrs, split
from gangsaw.tasks.store.stamps import file_stamps, version_of

if TYPE_CHECKING:
    import h5netcdf
    import h5py

HDF5_ENGINE = "h5netcdf"


@dataclass(frozen=True)
class XarrayArray(Described):
    """One variable of a file, read on the worker.

    Attributes
    ----------
    path : the file, absolute
    engine : "h5netcdf", "netcdf4" or "scipy"
    key : of the variable in the file
    version : of the file, so that one that was changed or replaced is opened again
    """

    path: str
    engine: str
    key: str
    version: str

    def read(self, region: Region) -> NumpyArray:
        """Return the samples of the region."""
        if self.engine == HDF5_ENGINE:
            return np.asarray(_hdf5(self.path, self.version)[self.key][region])
        data = _cached(self.path, self.engine, self.version)
        return np.asarray(data.variables[self.key][region].to_numpy())


@dataclass(frozen=True)
class XarraySource:
    """The variables of one file or one of its groups, and of the groups below.

    Attributes
    ----------
    others : further files in which samples lie
    """

    name: str
    path: str
    arrays: tuple[SourceArray, ...]
    coords: tuple[Coordinate, ...] = ()
    groups: tuple[GroupAttrs, ...] = ()
    attrs: Mapping[str, object] = field(default_factory=dict, compare=False)
    left_out: tuple[Refused, ...] = ()
    others: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What of the file is left out."""
        return notes_of(self.left_out)

    def identity(self) -> str:
        """Path, bytes and modification time of all files that samples lie in."""
        return file_identity(self.path, *self.others)

    def stamps(self) -> Mapping[str, str]:
        """What changes with these files."""
        return file_stamps(self.path, *self.others)


def open_netcdf(
    path: str, group: str = "", variables: Sequence[str] = (), *, accept_loss: bool = False
) -> XarraySource:
    """Describe a NetCDF or HDF5 file; raise BadParams where it cannot be read as one.

    What cannot be stored is refused by name, or left out where the user accepts that.
    """
    return _open(path, _netcdf_engine(path), group, variables, accept_loss)


def _netcdf_engine(path: str) -> str:
    if hdf5_start(path) is not None:
        return HDF5_ENGINE
    with Path(path).open("rb") as file:
        is_netcdf3 = file.read(4) in NETCDF3
    if not is_netcdf3:
        raise BadParams(f"{path} is neither NetCDF nor HDF5")
    for engine, module in (("netcdf4", "netCDF4"), ("scipy", "scipy")):
        if find_spec(module) is not None:
            return engine
    raise missing("netCDF4", f"{path} is NetCDF 3")


def _open(
    path: str, engine: str, group: str, variables: Sequence[str], accept_loss: bool
) -> XarraySource:
    absolute = str(Path(path).absolute())
    version = version_of(absolute)
    group = group.strip("/")
    try:
        parts = [
            _part(absolute, engine, group, below, version)
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
        refused.append(Refused("the user block", "before HDF5 is too large to be kept"))
    if not there and not refused:
        inner = ", ".join(part.path for part in groups) or "none"
        raise BadParams(f"{path}: no variables; groups in it: {inner}")
    found, lost = kept(there, refused, variables, accept_loss=accept_loss)
    arrays, coords = split(found, variables)
    if variables:
        groups = [*groups_kept(groups, [*(a.name for a in arrays), *(c.name for c in coords)])]
    attrs = {**top.attrs, **left_out_attrs(lost), **({USER_BLOCK: block} if block else {})}
    others = other_files(absolute)
    return XarraySource(path, absolute, arrays, coords, tuple(groups), attrs, lost, others)


def _with_dimensions(part: GroupAttrs, unused: Mapping[str, int]) -> GroupAttrs:
    return GroupAttrs(part.path, {**part.attrs, UNUSED: dict(unused)}) if unused else part


def _unused(
    path: str, engine: str, group: str, there: Sequence[SourceArray]
) -> dict[str, dict[str, int]]:
    """Return by group the extents of the dimensions that no variable has: a store has no others."""
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
    """Yield group, name and extent of each dimension of a file."""
    if engine == HDF5_ENGINE:
        groups = ["", *_groups(path, engine, group)]
        with opened(path) as file:
            for below in groups:
                inner = f"{group}/{below}".strip("/")
                own = (file[inner] if inner else file).dimensions
                yield from ((below, str(name), int(dim.size)) for name, dim in own.items())
    elif find_spec("netCDF4") is not None:
        import netCDF4

        with netCDF4.Dataset(path) as file:
            yield from (("", name, dim.size) for name, dim in file.dimensions.items())


def variables_of(path: str, group: str) -> list[XarrayArray]:
    """Describe the variables of one group of a file, by their paths; none where it is not there."""
    absolute, engine = str(Path(path).absolute()), _netcdf_engine(path)
    if group and group not in _groups(absolute, engine, ""):
        return []
    _, variables, _ = _part(absolute, engine, "", group, file_identity(absolute))
    return [variable for variable in variables if isinstance(variable, XarrayArray)]


def _part(
    path: str, engine: str, group: str, below: str, version: str
) -> tuple[GroupAttrs, list[SourceArray], list[Refused]]:
    """Return a group, its variables and those that cannot be carried.

    They are named by their paths from the group that was opened.
    """
    if engine == HDF5_ENGINE:
        return _hdf5_part(path, group, below, version)
    data = _cached(path, engine, version)
    _check_offsets(path, engine, data)
    variables = [
        _described(path, engine, version, str(name), variable)
        for name, variable in data.variables.items()
    ]
    can_grow = sorted(map(str, data.encoding.get("unlimited_dims", ())))
    notes = {**classic_form(path), **unlimited_note(can_grow)}
    attrs = {**_attrs_of(data.attrs, np.dtype("u1")), **notes}
    return GroupAttrs("", attrs), [*variables], []


def _attrs_of(attrs: Mapping[Hashable, object], dtype: Dtype) -> dict[str, object]:
    """Return attributes as JSON, with a note of the types that it does not keep."""
    named = {str(name): value for name, value in attrs.items()}
    return {**json_attrs(named, dtype), **types_of(named)}


def _hdf5_part(
    path: str, group: str, below: str, version: str
) -> tuple[GroupAttrs, list[SourceArray], list[Refused]]:
    """Return the same of HDF5. Names of axes are those of NetCDF, all else h5py reads by itself:
    a single attribute of an unusual type would hide the file from others.
    """
    inner, prefix = f"{group}/{below}".strip("/"), f"{below}/".lstrip("/")
    others, refused = special(path, inner, prefix)
    hidden = special_names(path, inner)
    with opened(path) as file:
        own = file[inner] if inner else file
        plain = [
            _hdf5_described(path, version, f"{prefix}{name}", variable)
            for name, variable in own.variables.items()
            if name not in hidden
        ]
        attrs, lost = attributes_of(own._h5group)
        notes = group_notes(own)
    refused += [lost_attribute(name, below or "the root") for name in lost]
    refused += [one for _, losses in plain for one in losses]
    found = [variable for variable, _ in plain]
    kept_attrs = {**json_attrs(attrs, np.dtype("u1")), **notes}
    return GroupAttrs(below, kept_attrs), [*found, *others], refused


def _hdf5_described(
    path: str, version: str, name: str, variable: h5netcdf.Variable
) -> tuple[XarrayArray, list[Refused]]:
    data = variable._h5ds
    own, lost = attributes_of(data)
    dims, is_enum = axes_of(variable), data.dtype.kind == "b"
    notes = {**order_of(data.dtype), **max_shape(data, dims)}
    notes |= {HDF5: type_of(data)} if is_enum else {}
    attrs = {**json_attrs(own, data.dtype), **notes}
    found = XarrayArray(
        path=path,
        engine=HDF5_ENGINE,
        key=variable._h5path,  # not the data set's name: a link may lead to it
        version=version,
        name=name,
        shape=data.shape,
        dtype=data.dtype,
        dims=dims,
        chunks=data.chunks,
        attrs=attrs,
        fill_value=fill_of(attrs, data.dtype) if "_FillValue" in attrs else fill_of_plain(data),
    )
    return found, [lost_attribute(one, name) for one in lost]


def fill_of_plain(data: h5py.Dataset) -> object:
    """Return the fill value that HDF5 itself keeps, None where nobody set one."""
    import h5py

    is_set = data.id.get_create_plist().fill_value_defined() == h5py.h5d.FILL_VALUE_USER_DEFINED
    return data.fillvalue if is_set else None


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


def _groups(path: str, engine: str, group: str) -> list[str]:
    """Return the groups below one of an HDF5 file, by their paths from it; none of NetCDF 3.

    Raises BadParams where there is no such group, OSError or RuntimeError for a damaged file.
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
    """Return the paths of all groups below one of an open HDF5 file, outer groups first."""
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
    """Extents of the file's own chunks, read whole by HDF5 and GDAL."""
    sizes = variable.encoding.get("chunksizes") or variable.encoding.get("preferred_chunks")
    if isinstance(sizes, Mapping):
        sizes = tuple(sizes.get(d, n) for d, n in zip(variable.dims, variable.shape, strict=True))
    return tuple(int(size) for size in sizes) if sizes else None


@kept_open(256)
def _hdf5(path: str, version: str) -> h5py.File:
    """Return the open file; `version` only distinguishes files."""
    import h5py

    return h5py.File(path, "r")


@kept_open(32)
def _cached(path: str, engine: str, version: str) -> xr.Dataset:
    """Return the data set, all of it still in the file; `version` only distinguishes files."""
    return xr.open_dataset(
        path,
        engine=engine,
        decode_cf=False,
        cache=False,
        create_default_indexes=False,  # which would read whole coordinates of any size
    )
