"""Assignment of dimensions to the groups of a NetCDF file.

A group inherits the dimensions of the groups above it. Zarr stores only names and extents of axes,
so a dimension goes to the innermost group that contains all variables along it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.sources.source import Coordinate, SourceArray
from gangsaw.tasks.store.dataset.paths import parents_of

NAMELESS = "phony_dim_"  # h5netcdf's prefix, before a number, for unnamed axes of HDF5
OTHER = "_nc4_non_coord_"  # prefix of a variable with the name of another variable's dimension
_NAMELESS = re.compile(rf"{NAMELESS}\d+")


class VariableAxes(NamedTuple):
    """Axes of a variable.

    Attributes
    ----------
    path : path of the variable
    dims, shape : names and extents of the axes
    """

    path: str
    dims: tuple[str, ...]
    shape: tuple[int, ...]

    @property
    def group(self) -> str:
        """Path of the variable's group."""
        return self.path.rpartition("/")[0]

    @property
    def is_nameless(self) -> bool:
        """True if any axis is unnamed, as in a data set of plain HDF5."""
        return any(map(_NAMELESS.fullmatch, self.dims))

    @property
    def named(self) -> VariableAxes:
        """Axes with the unnamed ones left out."""
        pairs = zip(self.dims, self.shape, strict=True)
        own = {dim: n for dim, n in pairs if not _NAMELESS.fullmatch(dim)}
        return VariableAxes(self.path, tuple(own), tuple(own.values()))


def assign_dimensions(variables: Iterable[VariableAxes]) -> Mapping[str, Mapping[str, int]]:
    """Return the extents of the dimensions that each group defines, by group path and name.

    Raises BadParams if axes with the same name have different extents in one group.
    """
    defined: dict[str, dict[str, int]] = {}
    for name, extents in _uses(variables).items():
        for group, n in _choose_groups(extents).items():
            defined.setdefault(group, {})[name] = n
    return defined


def _uses(variables: Iterable[VariableAxes]) -> Mapping[str, Mapping[str, int]]:
    """Return axis name -> group with variables along that axis -> extent."""
    uses: dict[str, dict[str, int]] = {}
    for of in variables:
        for name, n in zip(of.dims, of.shape, strict=True):
            had = uses.setdefault(name, {}).setdefault(of.group, n)
            if had != n:
                where = f" in group {of.group}" if of.group else ""
                raise BadParams(f"axis {name} has extents {had} and {n}{where}; use Zarr")
    return uses


def _choose_groups(extents: Mapping[str, int]) -> Mapping[str, int]:
    """Return the groups that must define a dimension, with its extent, given that of each user.

    If all extents are equal, that is the innermost common group of the variables.
    """
    if len(set(extents.values())) == 1:
        return {_common(extents): next(iter(extents.values()))}
    homes: dict[str, int] = {}
    for group in sorted(extents):  # outer groups first
        seen = next((homes[place] for place in parents_of(group) if place in homes), None)
        if seen != extents[group]:
            homes[group] = extents[group]
    return homes


def _common(groups: Iterable[str]) -> str:
    """Return the innermost common ancestor of groups."""
    chains = [[group, *parents_of(group)] for group in groups]
    return next(place for place in chains[0] if all(place in chain for chain in chains))


def describe_moved_dims(
    dimensions: Iterable[tuple[str, str, int]], variables: Iterable[SourceArray | Coordinate]
) -> Iterator[str]:
    """Yield a description of each dimension that an export moves to a group below its original.

    An export defines a dimension in the innermost group that contains all variables along it.

    Parameters
    ----------
    dimensions : group path, name and extent of each dimension of the file
    """
    groups = defaultdict[str, list[str]](list)
    for group, name, _ in dimensions:
        if not name.startswith(NAMELESS):
            groups[name].append(group)
    users = defaultdict[tuple[str, str], list[list[str]]](list)
    for variable in variables:
        path = variable.name.split("/")[:-1]
        for name in variable.dims:
            around = [group for group in groups[name] if _is_within(path, group)]
            if around:
                users[max(around, key=len), name].append(path)
    for (group, name), paths in users.items():
        shared = [one for one, *others in zip(*paths, strict=False) if {one} >= set(others)]
        if len(shared) > len(group.split("/") if group else ()):
            owner = f"group {group}" if group else "the root"
            below = "/".join(shared)
            yield f"dimension {name} of {owner} moves to group {below}, which alone has it"


def _is_within(path: Sequence[str], group: str) -> bool:
    own = group.split("/") if group else []
    return list(path[: len(own)]) == own
