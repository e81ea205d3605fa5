"""HDF5 files as h5netcdf sees them, without the members that these cannot stand.

One committed type of numbers, or one link that leads nowhere, refuses the whole file otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator

import h5netcdf
import h5py

from gangsaw.tasks.formats.netcdf_groups import NAMELESS

LINK = "is a link that leads nowhere"


class PartlyNamed(h5py.Dataset):  # type: ignore[misc]
    """A data set of which some axes have a scale and others none, which h5netcdf refuses."""

    @property
    def dims(self) -> list[object]:
        """No axes, so that h5netcdf passes over them."""
        return []

    def names(self) -> tuple[str, ...]:
        """Return the names of the axes' scales; the others are numbered as h5netcdf would."""
        return tuple(
            str(axis[-1].name).rpartition("/")[2] if len(axis) else f"{NAMELESS}{number}"
            for number, axis in enumerate(super().dims)
        )


class KnownGroup(h5py.Group):  # type: ignore[misc]  # h5py has no types
    """A group that lists only what h5netcdf knows, and no group that it lies in itself."""

    path = "/"  # by which it was reached: links may lead to it by others

    @classmethod
    def at(cls, path: str, group: h5py.Group) -> KnownGroup:
        """Return a group that was reached by a path."""
        made = cls(group.id)
        made.path = path
        return made

    def __iter__(self) -> Iterator[str]:
        """Yield the names of these members."""
        around = [self.file[path] for path in _paths_above(self.path)]
        for name in super().__iter__():
            member = self.get(name)
            if _is_known(member) and member not in around and not _is_elsewhere(self, name):
                yield name

    def __getitem__(self, path: str) -> object:
        """Return a member."""
        return _known(f"{self.path}/{path}", super().__getitem__(path))


def _is_elsewhere(group: h5py.Group, name: str) -> bool:
    """Whether a member is a group of another file."""
    is_link = isinstance(group.get(name, getlink=True), h5py.ExternalLink)
    return is_link and isinstance(group.get(name), h5py.Group)


def _paths_above(path: str) -> Iterator[str]:
    """Yield the paths of a group and of all that it lies in."""
    parts = path.strip("/").split("/")
    yield from ("/" + "/".join(parts[:n]) for n in range(len(parts) + 1))


class KnownFile(h5py.File):  # type: ignore[misc]
    """A file whose groups do so."""

    def __getitem__(self, path: str) -> object:
        """Return a member."""
        return _known(path, super().__getitem__(path))


def _known(path: str, member: object) -> object:
    """Return a member of a file in the form that h5netcdf stands."""
    if isinstance(member, h5py.Group):
        return KnownGroup.at(path, member)
    if isinstance(member, h5py.Dataset) and "DIMENSION_LIST" in member.attrs:
        has_scale = {len(axis) > 0 for axis in member.dims}
        return PartlyNamed(member.id) if len(has_scale) > 1 else member
    return member


def _is_known(member: object) -> bool:
    """Whether h5netcdf reads a member: None is a link that leads nowhere."""
    if not isinstance(member, h5py.Datatype):
        return member is not None
    known = h5py.h5t.TypeEnumID | h5py.h5t.TypeVlenID | h5py.h5t.TypeCompoundID
    return isinstance(member.id, known)


class NetcdfFile(h5netcdf.File):  # type: ignore[misc]
    """A file as h5netcdf reads it; axes without names are numbered through all groups."""

    def __init__(self, known: KnownFile, **options: object) -> None:
        self._known = known
        super().__init__(known, "r", phony_dims="sort", **options)

    def close(self) -> None:
        """Close it in HDF5, too, which h5netcdf leaves to whoever opened it."""
        super().close()
        self._known.close()


def opened(path: str, mode: str = "r", **options: object) -> NetcdfFile:
    """Open a file to read."""
    return NetcdfFile(KnownFile(path, mode), **options)


def axes_of(variable: h5netcdf.Variable) -> tuple[str, ...]:
    """Return the names of a variable's axes."""
    data = variable._h5ds
    return data.names() if isinstance(data, PartlyNamed) else tuple(map(str, variable.dimensions))


def lost_links(path: str, group: str) -> dict[str, str]:
    """Return the links of a group that are not followed, by name, with what is told of each."""
    with h5py.File(path, "r") as file:
        own = file[group or "/"]
        told = {name: _told(own, name) for name in own}
    return {name: reason for name, reason in told.items() if reason}


def _told(group: h5py.Group, name: str) -> str:
    link, member = group.get(name, getlink=True), group.get(name)
    where = f"{link.path}, " if isinstance(link, h5py.SoftLink | h5py.ExternalLink) else ""
    if isinstance(link, h5py.ExternalLink):
        where = f"{link.path} of {link.filename}, "
    if member is None:
        return f"{LINK} ({where}which is not there)"
    if _is_elsewhere(group, name):
        return f"is a link to the group {where}a file to compress by itself"
    return ""
