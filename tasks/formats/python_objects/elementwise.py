"""Element-wise functions over NumPy, Dask and xarray arrays; the result has the same kind.

A function with several results per item returns records, whose fields become arrays.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.tasks.engine.run.mapped import BlockFunction, map_blocks

if TYPE_CHECKING:
    import dask.array as da
    import xarray as xr

Mapped: TypeAlias = "NumpyArray | da.Array | xr.DataArray"

TEXTS = "USOT"  # dtype kinds of texts


def is_labelled(value: object) -> bool:
    """Return True if an object is an xarray DataArray; does not import xarray."""
    found = getattr(sys.modules.get("xarray"), "DataArray", None)
    return isinstance(found, type) and isinstance(value, found)


def is_lazy(value: object) -> bool:
    """Return True if an object is a Dask array; does not import Dask."""
    found = getattr(sys.modules.get("dask.array"), "Array", None)
    return isinstance(found, type) and isinstance(value, found)


def is_array(value: object) -> bool:
    """Return True for a Dask array, an xarray DataArray, or a NumPy array of texts."""
    is_texts = isinstance(value, np.ndarray) and value.dtype.kind in TEXTS
    return is_texts or is_labelled(value) or is_lazy(value)


def apply_to_items(function: BlockFunction, *given: object, dtype: Dtype) -> Mapped:
    """Apply a function to the items of broadcast arrays.

    Parameters
    ----------
    function : function of NumPy arrays that returns an array of `dtype` with their broadcast shape
    given : arrays or scalars

    Returns
    -------
    A DataArray if any argument is one, else a Dask array if any argument is one, else a NumPy
    array.
    """
    if any(map(is_labelled, given)):
        import xarray as xr

        labelled: xr.DataArray = xr.apply_ufunc(
            function, *given, dask="parallelized", output_dtypes=[dtype]
        )
        return labelled
    if any(map(is_lazy, given)):
        return map_blocks(function, *given, dtype=dtype)
    return function(*map(np.asarray, given))


def field_of(records: Mapped, name: str, dims: Sequence[str] = ()) -> Mapped:
    """Return a field of records; `dims` names the axes that the field has besides the records'."""
    if not is_labelled(records):
        field: Mapped = records[name]  # type: ignore[call-overload]
        return field
    import xarray as xr

    assert isinstance(records, xr.DataArray)
    data = records.data[name]
    return xr.DataArray(data, records.coords, (*records.dims, *dims), name=name)


def fields_of(records: Mapped, dims: Mapping[str, Sequence[str]]) -> dict[str, Mapped]:
    """Return all fields of records by name; `dims` names the additional axes of each field."""
    names = records.dtype.names or ()
    return {name: field_of(records, name, dims.get(name, ())) for name in names}
