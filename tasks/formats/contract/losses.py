"""Descriptions, for messages, of the items that an export leaves out."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator

import numpy as np

from gangsaw.tasks.sources.source import Coordinate, Source
from gangsaw.tasks.store.dataset.original_form import OURS

# attributes that only link variables, or describe the layout of a store
TIES = frozenset({"coordinates", "grid_mapping", "_ARRAY_DIMENSIONS", *OURS})


def lost_groups(source: Source) -> Iterator[str]:
    """Yield a description of each attribute of the groups that contain the arrays."""
    for group in getattr(source, "groups", ()):
        lost = (name for name in sorted(group.attrs) if name not in TIES)
        yield from (f"attribute {name} of group {group.path}" for name in lost)


def lost_attributes(source: Source, supported: Collection[str] = ()) -> Iterator[str]:
    """Yield a description of each attribute, of the root or an array, that a format cannot hold.

    `supported` contains the names of the array attributes that the format can hold.
    """
    yield from (f"attribute {name}" for name in source.attrs if name not in TIES)
    for array in source.arrays:
        lost = array.attrs.keys() - {*TIES, *supported}
        for name in sorted(lost):
            inner = _inner(array.attrs[name])
            if named := [key for key in inner if key not in supported]:
                yield f"attribute {name} ({', '.join(named)}) of {array.name}"
            elif not inner:
                yield f"attribute {name} of {array.name}"


def _inner(value: object) -> list[str]:
    """Return the keys of an attribute that is a dict or the JSON text of one, else []."""
    try:
        found = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return []
    return list(map(str, found)) if isinstance(found, dict) else []


def is_numbering(coord: Coordinate) -> bool:
    """Return True if a coordinate only numbers its axis from 1, as rioxarray numbers bands."""
    numbers = np.arange(1, coord.values.size + 1)
    return coord.dims == (coord.name,) and np.array_equal(coord.values, numbers)
