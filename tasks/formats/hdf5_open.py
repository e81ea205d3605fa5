"""HDF5 files as h5netcdf sees them, without the members that these cannot stand.

One committed type of numbers, or one link that leads nowhere, refuses the whole file otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator

import h5netcdf
import h5py

LINK = "is a link that leads nowhere"


class KnownGroup(h5py.Group):  # type: ignore[misc]  # h5py has no types
    """A group that lists only what h5netcdf knows."""

    def __iter__(self) -> Iterator[str]:
        """Yield the names of these members."""
        return (name for name in super().__iter__() if _is_known(self.get(name)))


class KnownFile(h5py.File):  # type: ignore[misc]
    """A file whose groups do so."""

    def __getitem__(self, path: str) -> object:
        """Return a member."""
        found = super().__getitem__(path)
        return KnownGroup(found.id) if type(found) is h5py.Group else found


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


def lost_links(path: str, group: str) -> list[str]:
    """Return the names of the members of a group that are links to what is not there."""
    with h5py.File(path, "r") as file:
        own = file[group or "/"]
        return [name for name in own if own.get(name) is None]
