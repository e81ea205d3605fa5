"""What a Zarr store of plain samples holds as it was: tables, byte strings, and an array alone."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field

from zarr.dtype import parse_dtype

from gangsaw.codecs.core.arrays import Dtype
from gangsaw.tasks.source import Coordinate, Source, SourceArray
from gangsaw.tasks.store.carried import DTYPE, restored
from gangsaw.tasks.store.kinds import enum_of


@dataclass(frozen=True)
class AsZarr:
    """A store whose variables are what they were before they were carried."""

    name: str
    of: Source
    arrays: tuple[SourceArray, ...]
    coords: tuple[Coordinate, ...]
    attrs: Mapping[str, object] = field(default_factory=dict, compare=False)
    groups: tuple[object, ...] = ()

    def identity(self) -> str:
        """Of the store."""
        return self.of.identity()


def as_zarr(source: Source) -> Source:
    """Return a source with every carried variable as it was, where Zarr has such a type."""
    arrays = tuple(_as_it_was(array) for array in source.arrays)
    coords = tuple(_as_it_was(coordinate) for coordinate in source.coords)
    groups = getattr(source, "groups", ())
    return AsZarr(source.name, source, arrays, coords, source.attrs, groups)  # type: ignore[arg-type]


def _as_it_was(variable: SourceArray | Coordinate) -> SourceArray | Coordinate:
    found = restored(variable)
    return found if _is_zarr(_dtype(found)) else variable


def _dtype(variable: SourceArray | Coordinate) -> Dtype:
    return variable.values.dtype if isinstance(variable, Coordinate) else variable.dtype


def _is_zarr(dtype: Dtype) -> bool:
    """Whether Zarr has such a type; zarr warns of those that have no specification yet."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parse_dtype(dtype, zarr_format=3).to_json(zarr_format=3)
    except (ValueError, TypeError, NotImplementedError):
        return False
    return True


def told(source: Source) -> tuple[str, ...]:
    """Return, in words, the variables that stay carried since Zarr has no such types."""
    return tuple(
        f"the type of {variable.name}, which stays carried by its attribute {DTYPE}"
        for variable in (*source.arrays, *source.coords)
        if DTYPE in variable.attrs
        and DTYPE in _as_it_was(variable).attrs
        and enum_of(variable.attrs[DTYPE]) is None
    )
