"""The tree of a NetCDF file: which group defines which dimension, and what has no dimensions.

A group sees the dimensions of those above it. Zarr keeps names and extents of axes alone, so a
dimension goes to the innermost group that all who use it lie in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.store.dataset.paths import above

NAMELESS = "phony_dim_"  # what h5netcdf calls axes of HDF5 that have no name, before a number
_NAMELESS = re.compile(rf"{NAMELESS}\d+")


class Axes(NamedTuple):
    """The axes of a variable.

    Attributes
    ----------
    path : of the variable
    dims, shape : names and extents of its axes
    """

    path: str
    dims: tuple[str, ...]
    shape: tuple[int, ...]

    @property
    def group(self) -> str:
        """The path of its group."""
        return self.path.rpartition("/")[0]

    @property
    def is_nameless(self) -> bool:
        """Whether an axis has no name: a data set of plain HDF5."""
        return any(map(_NAMELESS.fullmatch, self.dims))

    @property
    def named(self) -> Axes:
        """The axes that have names."""
        pairs = zip(self.dims, self.shape, strict=True)
        own = {dim: n for dim, n in pairs if not _NAMELESS.fullmatch(dim)}
        return Axes(self.path, tuple(own), tuple(own.values()))


def dimensions(variables: Iterable[Axes]) -> Mapping[str, Mapping[str, int]]:
    """Return extents of the dimensions that each group defines, by its path and their names.

    Raises BadParams where axes of one name have several extents in one group.
    """
    defined: dict[str, dict[str, int]] = {}
    for name, extents in _uses(variables).items():
        for group, n in _homes(extents).items():
            defined.setdefault(group, {})[name] = n
    return defined


def _uses(variables: Iterable[Axes]) -> Mapping[str, Mapping[str, int]]:
    """Return by name of an axis its extent in each group that has variables along it."""
    uses: dict[str, dict[str, int]] = {}
    for of in variables:
        for name, n in zip(of.dims, of.shape, strict=True):
            had = uses.setdefault(name, {}).setdefault(of.group, n)
            if had != n:
                where = f" in group {of.group}" if of.group else ""
                raise BadParams(f"axis {name} has extents {had} and {n}{where}; use Zarr")
    return uses


def _homes(extents: Mapping[str, int]) -> Mapping[str, int]:
    """Return the groups that define a dimension, with its extent there."""
    if len(set(extents.values())) == 1:
        return {_common(extents): next(iter(extents.values()))}
    homes: dict[str, int] = {}
    for group in sorted(extents):  # outer groups first
        seen = next((homes[place] for place in above(group) if place in homes), None)
        if seen != extents[group]:
            homes[group] = extents[group]
    return homes


def _common(groups: Iterable[str]) -> str:
    """Return the innermost group that all of these lie in."""
    chains = [[group, *above(group)] for group in groups]
    return next(place for place in chains[0] if all(place in chain for chain in chains))
