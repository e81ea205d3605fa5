"""Dimension names: one name has one extent in a group and its parent groups, as xarray requires.

Files have their own names, which may have several extents or none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Protocol

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.sources.source import Coordinate, Description
from gangsaw.tasks.store.dataset.paths import last_component, parents_of

NO_AXIS = -1  # extent of a name that no axis may have


class HasDims(Protocol):
    """Object with a name and a name for each axis."""

    @property
    def name(self) -> str:
        """Path in the store."""

    @property
    def dims(self) -> tuple[str, ...]:
        """Name of each axis."""


def make_dims_agree(
    arrays: Iterable[Description], coords: Iterable[Coordinate]
) -> Mapping[str, tuple[str, ...]]:
    """Return consistent dimension names of every variable by its path.

    A name keeps the extent of its coordinate, else that of the first variable. An axis of another
    extent gets a name with the extent, such as "polarization_3". So does the second axis of one
    name in a variable, and an axis with the name of a scalar variable in its group.
    """
    variables = _with_shapes(arrays, coords)
    groups: dict[str, _AxisNames] = {}
    for variable, shape in variables:
        group = groups.setdefault(_group(variable), _AxisNames())
        group.reserve(last_component(variable.name), variable.dims, shape)
    names: dict[str, tuple[str, ...]] = {}
    for variable, shape in sorted(variables, key=_depth):  # outer groups first
        outer = [groups[path] for path in parents_of(_group(variable)) if path in groups]
        names[variable.name] = groups[_group(variable)].names(variable.dims, shape, outer)
    return names


def describe_renamed_dims(
    arrays: Iterable[Description], coords: Iterable[Coordinate]
) -> Iterator[str]:
    """Yield a note for each dimension that is renamed since a parent group has another extent."""
    arrays, coords = tuple(arrays), tuple(coords)
    agreed = make_dims_agree(arrays, coords)
    known: dict[str, dict[str, int]] = {}  # extents by group and name in the store
    renamed: dict[tuple[str, str, str], int] = {}
    for one, shape in _with_shapes(arrays, coords):
        known.setdefault(_group(one), {}).update(zip(agreed[one.name], shape, strict=True))
        pairs = zip(one.dims, agreed[one.name], shape, strict=True)
        renamed |= {(_group(one), dim, new): n for dim, new, n in pairs if dim != new}
    for (group, dim, new), extent in renamed.items():
        outer = [known[path][dim] for path in parents_of(group) if dim in known.get(path, {})]
        if outer and outer[0] != extent:
            yield (
                f"group {group}: its dimension {dim} has the extent {extent}, which is {outer[0]} "
                f"in a group around it: the store names it {new}"
            )


def _with_shapes(
    arrays: Iterable[Description], coords: Iterable[Coordinate]
) -> list[tuple[HasDims, tuple[int, ...]]]:
    """Return all variables, each with its shape."""
    variables: list[tuple[HasDims, tuple[int, ...]]] = [(a, a.shape) for a in arrays]
    return [*variables, *((c, np.shape(_values(c))) for c in coords)]


def _depth(variable: tuple[HasDims, tuple[int, ...]]) -> int:
    return variable[0].name.count("/")


def _values(coordinate: Coordinate) -> NumpyArray:
    return coordinate.values


def _group(variable: HasDims) -> str:
    return variable.name.rpartition("/")[0]


@dataclass
class _AxisNames:
    """Extents by dimension name in one group."""

    extents: dict[str, int] = field(default_factory=dict)

    def reserve(self, name: str, dims: Sequence[str], shape: Sequence[int]) -> None:
        """Record the extent that a coordinate variable gives to the dimension of its name.

        A scalar variable reserves its name, so that no dimension may have it.
        """
        if not shape:
            self.extents[name] = NO_AXIS
        elif tuple(dims) == (name,):
            self.extents[name] = shape[0]

    def names(
        self, dims: Sequence[str], shape: Sequence[int], outer: Sequence[_AxisNames] = ()
    ) -> tuple[str, ...]:
        """Choose dimension names of a variable that agree with its group and the parent groups.

        Parameters
        ----------
        dims, shape : dimension names and extents of the variable in its file
        outer : names in the parent groups
        """
        chosen: list[str] = []
        for dim, extent in zip(dims, shape, strict=True):
            names = (n for n in _candidates(dim, extent) if n not in chosen)
            name = next(n for n in names if all(g.allows(n, extent) for g in (self, *outer)))
            self.extents[name] = extent
            chosen.append(name)
        return tuple(chosen)

    def allows(self, name: str, extent: int) -> bool:
        """Return True if a dimension name has this extent in the group, or is unused there."""
        return self.extents.get(name, extent) == extent


def _candidates(dim: str, extent: int) -> Iterator[str]:
    yield dim
    yield f"{dim}_{extent}"
    yield from (f"{dim}_{extent}_{number}" for number in count(2))
