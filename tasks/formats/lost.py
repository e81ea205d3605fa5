"""What an export leaves out, item by item, in the words of its messages."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator

import numpy as np

from gangsaw.tasks.source import Coordinate, Source

# attributes that only tie variables together, or say how a store is laid out
TIES = frozenset({"coordinates", "grid_mapping", "_ARRAY_DIMENSIONS"})


def lost_groups(source: Source) -> Iterator[str]:
    """Yield the groups below that of the arrays."""
    yield from (f"group {below.path}" for below in getattr(source, "below", ()))


def lost_attributes(source: Source, held: Collection[str] = ()) -> Iterator[str]:
    """Yield the attributes of the group and of its arrays, but those that the format holds."""
    yield from (f"attribute {name}" for name in source.attrs if name not in TIES)
    for array in source.arrays:
        lost = array.attrs.keys() - {*TIES, *held}
        names = (_named(name, array.attrs[name]) for name in sorted(lost))
        yield from (f"attribute {name} of {array.name}" for name in names)


def _named(name: str, value: object) -> str:
    """Return the name of an attribute, with the names in it where it is an object as JSON text."""
    try:
        inner = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return name
    return f"{name} ({', '.join(map(str, inner))})" if isinstance(inner, dict) else name


def is_numbering(coord: Coordinate) -> bool:
    """Whether a coordinate only numbers its axis from 1, as rioxarray does with bands."""
    numbers = np.arange(1, coord.values.size + 1)
    return coord.dims == (coord.name,) and np.array_equal(coord.values, numbers)
