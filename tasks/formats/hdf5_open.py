"""HDF5 files as h5netcdf sees them, without the members that these cannot stand.

One committed type of numbers, or one link that leads nowhere, refuses the whole file otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator

import h5netcdf
import h5py

from gangsaw.tasks.formats.hdf5_kinds import NAMELESS

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
    """A group that lists only what h5netcdf knows."""

    def __iter__(self) -> Iterator[str]:
        """Yield the names of these members."""
        return (name for name in super().__iter__() if _is_known(self.get(name)))

    def __getitem__(self, path: str) -> object:
        """Return a member."""
        return _known(super().__getitem__(path))


class KnownFile(h5py.File):  # type: ignore[misc]
    """A file whose groups do so."""

    def __getitem__(self, path: str) -> object:
        """Return a member."""
        return _known(super().__getitem__(path))


def _known(member: object) -> object:
    """Return a member of a file in the form that h5netcdf stands."""
    if isinstance(member, h5py.Group):
        return KnownGroup(member.id)
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


def lost_links(path: str, group: str) -> list[str]:
    """Return the names of the members of a group that are links to what is not there."""
    with h5py.File(path, "r") as file:
        own = file[group or "/"]
        return [name for name in own if own.get(name) is None]
