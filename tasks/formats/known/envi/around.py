"""The bytes of a data file around its samples: kept, and written back where they were.

Few are copied whole as coordinates, many are arrays.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from gangsaw.tasks.formats.flat import FlatArray
from gangsaw.tasks.formats.memory import MemoryArray
from gangsaw.tasks.source import Coordinate, SourceArray
from gangsaw.tasks.store.dataset.variables import SMALL

BEFORE, AFTER = "bytes_before_samples", "bytes_after_samples"
DIMS = {BEFORE: ("byte_before",), AFTER: ("byte_after",)}


def around(samples: FlatArray) -> tuple[FlatArray, ...]:
    """Return the bytes of the samples' file before the first and after the last, where some are."""
    size = Path(samples.path).stat().st_size
    places = {BEFORE: (0, samples.offset), AFTER: (samples.nbytes, size - samples.nbytes)}
    return tuple(
        FlatArray(samples.path, (n,), "|u1", DIMS[name], name, offset, is_rest_kept=True)
        for name, (offset, n) in places.items()
        if n > 0
    )


def is_small(part: FlatArray) -> bool:
    """Whether they are copied whole."""
    return part.shape[0] <= SMALL


def coordinate(part: FlatArray) -> Coordinate:
    """Return few bytes as a coordinate."""
    return Coordinate(part.name, part.dims, part.read((slice(0, part.shape[0]),)).copy())


def part_named(
    name: str, coords: Iterable[Coordinate], arrays: Iterable[SourceArray]
) -> SourceArray | None:
    """Return the bytes that a store kept under this name, or None."""
    for coord in coords:
        if coord.name == name and _is_bytes(coord.values.dtype.str, coord.dims):
            return MemoryArray(coord.values, coord.dims, name)
    return next((a for a in arrays if a.name == name and _is_bytes(a.dtype.str, a.dims)), None)


def _is_bytes(dtype: str, dims: tuple[str, ...]) -> bool:
    return np.dtype(dtype) == np.uint8 and len(dims) == 1
