"""HDF5 files opened by h5netcdf, with the members hidden that h5netcdf cannot read.

Otherwise one committed number type or one dangling link makes h5netcdf refuse the whole file.
"""

from __future__ import annotations

from collections.abc import Iterator

import h5netcdf
import h5py

from gangsaw.tasks.formats.hdf5.filters import register_filters
from gangsaw.tasks.formats.netcdf.groups import NAMELESS
from gangsaw.tasks.formats.netcdf.records import can_grow, extent_of, get_object_address

LINK = "is a link that leads nowhere"


class PartlyNamed(h5py.Dataset):  # type: ignore[misc]
    """Data set with scales on some of its axes only, which h5netcdf refuses."""

    @property
    def dims(self) -> list[object]:
        """Empty list, so that h5netcdf ignores the axes."""
        return []


class KnownGroup(h5py.Group):  # type: ignore[misc]  # h5py has no types
    """Group that lists only members that h5netcdf can read, without links to its own ancestors."""

    path = "/"  # path by which the group was reached; links may give it several

    @classmethod
    def reached_by(cls, path: str, group: h5py.Group) -> KnownGroup:
        """Return a wrapped group with the path by which it was reached."""
        made = cls(group.id)
        made.path = path
        return made

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the members that h5netcdf can read."""
        around = [self.file[path] for path in _paths_above(self.path)]
        for name in super().__iter__():
            member = self.get(name)
            if _is_known(member) and member not in around and not _is_elsewhere(self, name):
                yield name

    def __getitem__(self, path: str) -> object:
        """Return a member, wrapped so that h5netcdf accepts it."""
        return _known(f"{self.path}/{path}", super().__getitem__(path))


def _is_elsewhere(group: h5py.Group, name: str) -> bool:
    """Return True if a member is an external link to a group of another file."""
    is_link = isinstance(group.get(name, getlink=True), h5py.ExternalLink)
    return is_link and isinstance(group.get(name), h5py.Group)


def _paths_above(path: str) -> Iterator[str]:
    """Yield the paths of all ancestors of a group, from the root, and its own path."""
    parts = path.strip("/").split("/")
    yield from ("/" + "/".join(parts[:n]) for n in range(len(parts) + 1))


class KnownFile(h5py.File):  # type: ignore[misc]
    """HDF5 file whose groups list only members that h5netcdf can read."""

    def __getitem__(self, path: str) -> object:
        """Return a member, wrapped so that h5netcdf accepts it."""
        return _known(path, super().__getitem__(path))


def _known(path: str, member: object) -> object:
    """Return a member of a file, wrapped as `KnownGroup` or `PartlyNamed` if necessary."""
    if isinstance(member, h5py.Group):
        return KnownGroup.reached_by(path, member)
    if isinstance(member, h5py.Dataset) and "DIMENSION_LIST" in member.attrs:
        has_scale = {len(axis) > 0 for axis in member.dims}
        return PartlyNamed(member.id) if len(has_scale) > 1 else member
    return member


def _is_known(member: object) -> bool:
    """Return True if h5netcdf can read a member; None stands for a dangling link."""
    if not isinstance(member, h5py.Datatype):
        return member is not None
    known = h5py.h5t.TypeEnumID | h5py.h5t.TypeVlenID | h5py.h5t.TypeCompoundID
    return isinstance(member.id, known)


class NetcdfFile(h5netcdf.File):  # type: ignore[misc]
    """h5netcdf file that caches dimensions; unnamed axes are numbered across all groups."""

    def __init__(self, known: KnownFile, **options: object) -> None:
        self._known = known
        self._extents: dict[tuple[int, int], int] = {}
        self._names: dict[tuple[int, int], str] = {}
        super().__init__(known, "r", phony_dims="sort", **options)

    def extent(self, scale: h5py.Dataset) -> int:
        """Return the extent of a dimension, cached after the first look-up."""
        if (place := get_object_address(scale)) not in self._extents:
            self._extents[place] = extent_of(scale)
        return self._extents[place]

    def dimension(self, scale: h5py.Dataset) -> str:
        """Return the name of a dimension, cached after the first look-up."""
        if (place := get_object_address(scale)) not in self._names:
            self._names[place] = str(scale.name).rpartition("/")[2]
        return self._names[place]

    def close(self) -> None:
        """Close the h5netcdf file and the HDF5 file below, which h5netcdf does not close."""
        super().close()
        self._known.close()


def open_h5netcdf(path: str, mode: str = "r", **options: object) -> NetcdfFile:
    """Open an HDF5 file with h5netcdf, for reading by default."""
    register_filters()
    return NetcdfFile(KnownFile(path, mode), **options)


def get_axis_names(variable: h5netcdf.Variable) -> tuple[str, ...]:
    """Return the names of a variable's axes, also of unnamed ones."""
    data = h5py.Dataset(variable._h5ds.id)  # not `PartlyNamed`, which hides the axes
    if "DIMENSION_LIST" not in data.attrs:
        return tuple(map(str, variable.dimensions))
    scales = [axis[len(axis) - 1] if len(axis) else None for axis in data.dims]
    if not any(scales):
        return tuple(map(str, variable.dimensions))
    return tuple(
        f"{NAMELESS}{number}" if scale is None else variable._root.dimension(scale)
        for number, scale in enumerate(scales)
    )


def get_extents(variable: h5netcdf.Variable) -> tuple[int, ...]:
    """Return the extents of a variable's axes; an unlimited dimension may exceed the data set."""
    data, file = variable._h5ds, variable._root
    extents = (None if scale is None else file.extent(scale) for scale in _scales(variable))
    axes = zip(data.shape, extents, strict=True)
    return tuple(n if extent is None else max(n, extent) for n, extent in axes)


def _scales(variable: h5netcdf.Variable) -> list[h5py.Dataset | None]:
    """Return the scale of each axis with an unlimited dimension, None for the other axes."""
    data = h5py.Dataset(variable._h5ds.id)  # not `PartlyNamed`, which hides the axes
    found: list[h5py.Dataset | None] = [None] * data.ndim
    if "DIMENSION_LIST" in data.attrs:
        found = [axis[len(axis) - 1] if len(axis) else None for axis in data.dims]
    elif data.ndim and data.is_scale:
        dims = variable._parent._all_dimensions
        found = [data, *(dims[name]._h5ds for name in get_axis_names(variable)[1:])]
    return [None if scale is None or not can_grow(scale) else scale for scale in found]


def lost_links(path: str, group: str) -> dict[str, str]:
    """Return the links of a group that are not followed: the reason by name."""
    with h5py.File(path, "r") as file:
        own = file[group or "/"]
        told = {name: _describe_link(own, name) for name in own}
    return {name: reason for name, reason in told.items() if reason}


def _describe_link(group: h5py.Group, name: str) -> str:
    link, member = group.get(name, getlink=True), group.get(name)
    where = f"{link.path}, " if isinstance(link, h5py.SoftLink | h5py.ExternalLink) else ""
    if isinstance(link, h5py.ExternalLink):
        where = f"{link.path} of {link.filename}, "
    if member is None:
        return f"{LINK} ({where}which is not there)"
    if _is_elsewhere(group, name):
        return f"is a link to the group {where}a file to compress by itself"
    return ""
