"""Bytes of an ENVI data file before and after its samples, stored so that an export restores them.

A few bytes are copied whole as a coordinate, many are stored as an array.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from gangsaw.tasks.formats.flat.flat_array import FlatArray
from gangsaw.tasks.formats.flat.memory_array import MemoryArray
from gangsaw.tasks.sources.source import Coordinate, SourceArray
from gangsaw.tasks.store.dataset.variables import SMALL

BEFORE, AFTER = "bytes_before_samples", "bytes_after_samples"
DIMS = {BEFORE: ("byte_before",), AFTER: ("byte_after",)}


def find_surrounding_bytes(samples: FlatArray) -> tuple[FlatArray, ...]:
    """Return the bytes of a data file before and after its samples, as up to two arrays."""
    size = Path(samples.path).stat().st_size
    places = {BEFORE: (0, samples.offset), AFTER: (samples.nbytes, size - samples.nbytes)}
    return tuple(
        FlatArray(samples.path, (n,), "|u1", DIMS[name], name, offset, is_rest_kept=True)
        for name, (offset, n) in places.items()
        if n > 0
    )


def is_small_array(part: FlatArray) -> bool:
    """Return True if the bytes are few enough to be copied whole as a coordinate."""
    return part.shape[0] <= SMALL


def to_coordinate(part: FlatArray) -> Coordinate:
    """Return an array of bytes as a coordinate."""
    return Coordinate(part.name, part.dims, part.read((slice(0, part.shape[0]),)).copy())


def find_part(
    name: str, coords: Iterable[Coordinate], arrays: Iterable[SourceArray]
) -> SourceArray | None:
    """Return the array or coordinate of bytes with this name as an array, or None."""
    for coord in coords:
        if coord.name == name and _is_bytes(coord.values.dtype.str, coord.dims):
            return MemoryArray(coord.values, coord.dims, name)
    return next((a for a in arrays if a.name == name and _is_bytes(a.dtype.str, a.dims)), None)


def _is_bytes(dtype: str, dims: tuple[str, ...]) -> bool:
    return np.dtype(dtype) == np.uint8 and len(dims) == 1
