"""Conversion of the supported Python objects to sources."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.python_objects.arrays_in_memory import ArrayInMemory
from gangsaw.tasks.formats.python_objects.blocks import make_block_array
from gangsaw.tasks.formats.python_objects.source import object_source
from gangsaw.tasks.sources.source import Source, SourceArray

if TYPE_CHECKING:
    from distributed import Client

SOURCE_VALUES = (
    "a path or address, a list of them, a NumPy or Dask array, a Zarr array, group or store, an "
    "xarray DataArray, Dataset or DataTree, or a Source or Stream"
)
ARRAY = "data"  # name of a bare array


def source_of(
    value: object,
    client: Client | None = None,
    variables: Sequence[str] = (),
    *,
    accept_loss: bool = False,
) -> Source | None:
    """Return a supported array or data set as a source, None for any other object.

    Raises BadParams for items that cannot be stored.
    """
    if (array := _array(value, client)) is not None:
        name = f"the {'Dask' if not isinstance(array, ArrayInMemory) else 'NumPy'} array"
        return object_source(name, [array], [ARRAY], variables=variables, accept_loss=accept_loss)
    if isinstance(value, _of("xarray", "DataArray", "Dataset", "DataTree")):
        from gangsaw.tasks.formats.python_objects.xarray_objects import from_xarray

        return from_xarray(value, client, variables, accept_loss=accept_loss)  # type: ignore[arg-type]
    if isinstance(value, _of("zarr", "Array", "Group")):
        from gangsaw.tasks.formats.python_objects.zarr_objects import from_zarr

        return from_zarr(value, client, variables, accept_loss=accept_loss)  # type: ignore[arg-type]
    return None


def build_source_error(value: object) -> TypeError:
    """Return the error for an object that is no source."""
    return TypeError(f"got {get_type_name(value)}: a source is {SOURCE_VALUES}")


def _array(value: object, client: Client | None) -> SourceArray | None:
    if isinstance(value, np.ma.MaskedArray):
        raise BadParams("a masked array has no form in a store: fill it by .filled(...) first")
    if isinstance(value, np.ndarray | np.generic):
        values = np.asarray(value)
        return ArrayInMemory(values, tuple(f"dim_{i}" for i in range(values.ndim)), ARRAY)
    if isinstance(value, _of("dask.array", "Array")):
        return make_block_array(value, client=client)  # type: ignore[arg-type]
    return None


def _of(module: str, *names: str) -> tuple[type, ...]:
    """Return classes of a module, () if it is not imported: then no object is an instance."""
    found = sys.modules.get(module)
    there = (getattr(found, name, None) for name in names)
    return tuple(one for one in there if isinstance(one, type))


def get_type_name(value: object) -> str:
    """Return the name of an object's type for messages, with its top-level module."""
    kind = type(value)
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__.partition('.')[0]}."
    return "None" if value is None else f"{module}{kind.__qualname__}"
