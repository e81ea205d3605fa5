"""Restoration of carried variables in an exported Zarr store, and of an array at its root."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, overload

from zarr.dtype import parse_dtype

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.tasks.sources.source import (
    Coordinate,
    Described,
    GroupAttrs,
    Region,
    Source,
    SourceArray,
)
from gangsaw.tasks.store.dataset.attribute_types import BYTE_ORDER
from gangsaw.tasks.store.dataset.carried import DTYPE, list_variables, restore_variable
from gangsaw.tasks.store.dataset.kinds import enum_of
from gangsaw.tasks.store.source import ROOT


@dataclass(frozen=True)
class ZarrTypedSource:
    """Source whose converted variables have the types of the original file again.

    A store has types that Zarr readers lack as bytes or text; a plain copy can have them.

    Attributes
    ----------
    gives_back_axes : True, for the writer to use the axis names of the original file
    """

    name: str
    of: Source
    arrays: tuple[SourceArray, ...]
    coords: tuple[Coordinate, ...]
    attrs: Mapping[str, object] = field(default_factory=dict, compare=False)
    groups: tuple[GroupAttrs, ...] = ()
    gives_back_axes: ClassVar[bool] = True

    def identity(self) -> str:
        """Return the identity of the underlying source."""
        return self.of.identity()


@dataclass(frozen=True, kw_only=True)
class RootArray(Described):
    """Array without a name, stored at the root of a store."""

    array: SourceArray

    @classmethod
    def from_array(cls, array: SourceArray) -> RootArray:
        """Return a copy of an array without its name."""
        fields = (f for f in Described.__dataclass_fields__ if f not in ("name", "is_optional"))
        return cls(name="", array=array, **{name: getattr(array, name) for name in fields})

    def read(self, region: Region) -> NumpyArray:
        """Return the samples of the region."""
        return self.array.read(region)


def restore_zarr_types(source: Source) -> Source:
    """Return a source with every converted variable in its original type, if Zarr has that type."""
    arrays = tuple(_as_it_was(array) for array in source.arrays)
    coords = tuple(_as_it_was(coordinate) for coordinate in source.coords)
    if len(arrays) == 1 and not coords and arrays[0].name == source.attrs.get(ROOT):
        arrays = (RootArray.from_array(arrays[0]),)
    groups = getattr(source, "groups", ())
    return ZarrTypedSource(source.name, source, arrays, coords, source.attrs, groups)


@overload
def _as_it_was(variable: SourceArray) -> SourceArray: ...
@overload
def _as_it_was(variable: Coordinate) -> Coordinate: ...
def _as_it_was(variable: SourceArray | Coordinate) -> SourceArray | Coordinate:
    if not isinstance(variable, Described | Coordinate):  # the source is no store
        return variable
    own = {key: value for key, value in variable.attrs.items() if key != BYTE_ORDER}
    variable = replace(variable, attrs=own)
    found, kind = restore_variable(variable), variable.attrs.get(DTYPE)
    is_several = isinstance(kind, Mapping) and "shape" in kind  # an array in each item
    return found if _is_zarr(_dtype(found)) and not is_several else variable


def _dtype(variable: SourceArray | Coordinate) -> Dtype:
    return variable.values.dtype if isinstance(variable, Coordinate) else variable.dtype


def _is_zarr(dtype: Dtype) -> bool:
    """Return True if Zarr 3 has a data type for this dtype, with or without a specification."""
    if dtype.kind == "O":
        return True  # the only objects among restored variables are bytes of variable length
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parse_dtype(dtype, zarr_format=3).to_json(zarr_format=3)
    except (ValueError, TypeError, NotImplementedError):
        return False
    return True


def _is_swapped(variable: SourceArray | Coordinate) -> bool:
    """Return True if samples or fields were big-endian in the file, which Zarr 3 does not have."""
    return BYTE_ORDER in variable.attrs or _is_big(_dtype(_as_it_was(variable)))


def _is_big(dtype: Dtype) -> bool:
    fields = [field[0] for field in (dtype.fields or {}).values()]
    return any(map(_is_big, fields)) or dtype.base.str.startswith(">")


def describe_type_changes(source: Source) -> tuple[str, ...]:
    """Return a description of each variable whose stored form differs from the original.

    Such variables stay bytes or text because Zarr lacks their type, or change their byte order.
    """
    swapped = (v.name for v in list_variables(source) if _is_swapped(v))
    carried = (
        f"the {'names of values' if enum_of(v.attrs[DTYPE]) else 'type'} of {v.name}, "
        f"which stay{'' if enum_of(v.attrs[DTYPE]) else 's'} in its attribute {DTYPE}"
        for v in list_variables(source)
        if DTYPE in v.attrs and DTYPE in _as_it_was(v).attrs
    )
    return (
        *carried,
        *(f"the byte order of {name}, which becomes little-endian" for name in swapped),
    )
