"""Functions of items over arrays of NumPy, Dask and xarray: the result is of the same kind.

A function that gives several values for an item gives records, whose fields become arrays.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.tasks.engine.mapped import BlockFunction, mapped

if TYPE_CHECKING:
    import dask.array as da
    import xarray as xr

Mapped: TypeAlias = "NumpyArray | da.Array | xr.DataArray"

TEXTS = "USOT"  # kinds of items that are texts


def is_labelled(given: object) -> bool:
    """Whether it is a DataArray."""
    found = getattr(sys.modules.get("xarray"), "DataArray", None)
    return isinstance(found, type) and isinstance(given, found)


def is_lazy(given: object) -> bool:
    """Whether it is a Dask array."""
    found = getattr(sys.modules.get("dask.array"), "Array", None)
    return isinstance(found, type) and isinstance(given, found)


def is_array(given: object) -> bool:
    """Whether it is an array of items: of Dask or xarray, or a NumPy array of texts."""
    is_texts = isinstance(given, np.ndarray) and given.dtype.kind in TEXTS
    return is_texts or is_labelled(given) or is_lazy(given)


def over_items(function: BlockFunction, *given: object, dtype: Dtype) -> Mapped:
    """Return what a function gives for the items of arrays, broadcast: a DataArray where one is
    given, else a Dask array where one is given, else a NumPy array.

    function : takes NumPy arrays, and returns one of `dtype` that has their common shape
    """
    if any(map(is_labelled, given)):
        import xarray as xr

        labelled: xr.DataArray = xr.apply_ufunc(
            function, *given, dask="parallelized", output_dtypes=[dtype]
        )
        return labelled
    if any(map(is_lazy, given)):
        return mapped(function, *given, dtype=dtype)
    return function(*map(np.asarray, given))


def field_of(records: Mapped, name: str, dims: Sequence[str] = ()) -> Mapped:
    """Return a field of records, with the names of its own axes where it has some."""
    if not is_labelled(records):
        field: Mapped = records[name]  # type: ignore[call-overload]
        return field
    import xarray as xr

    assert isinstance(records, xr.DataArray)
    data = records.data[name]
    return xr.DataArray(data, records.coords, (*records.dims, *dims), name=name)


def fields_of(records: Mapped, dims: Mapping[str, Sequence[str]]) -> dict[str, Mapped]:
    """Return all fields by name; `dims` are those of their own axes."""
    names = records.dtype.names or ()
    return {name: field_of(records, name, dims.get(name, ())) for name in names}
