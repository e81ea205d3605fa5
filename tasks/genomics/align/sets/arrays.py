"""Pairs of strings in arrays of NumPy, Dask and xarray: one result per pair, in the same type."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.python_objects.elementwise import (
    Mapped,
    apply_to_items,
    field_of,
    fields_of,
    is_array,
    is_labelled,
)
from gangsaw.tasks.genomics.align.sets.alignments import Alignments

if TYPE_CHECKING:
    import dask.array as da
    import xarray as xr

Lazy: TypeAlias = "da.Array"
Labelled: TypeAlias = "xr.DataArray"
POSITION_FIELDS = tuple(name for name in Alignments._fields if name not in ("score", "cigar"))


def is_any_array(*arguments: object) -> bool:
    """Return True if one argument is an array (NumPy, Dask, xarray) of strings."""
    return any(map(is_array, arguments))


def over_pairs(
    function: Callable[[list[str], list[str]], NumpyArray],
    queries: object,
    targets: object,
    dtype: Dtype,
) -> Mapped:
    """Apply a function of lists to the pairs of two arrays, which are broadcast.

    A single string is paired with all items of the other array.
    """
    for given in (queries, targets):
        if isinstance(given, tuple):
            raise BadParams("an array of texts pairs with another one, a list or a text")
    return apply_to_items(
        partial(_on_texts, function, dtype), _items(queries), _items(targets), dtype=dtype
    )


def alignments_over(
    function: Callable[[list[str], list[str]], Alignments],
    queries: object,
    targets: object,
    *,
    cigar: bool,
) -> Alignments | xr.Dataset:
    """Align the pairs of two string arrays with `function`, lazily for lazy arrays.

    The result is a Dataset for DataArrays, else `Alignments` of arrays.
    """
    dtype = record_dtype(cigar=cigar)
    records = over_pairs(partial(_records, function, dtype), queries, targets, dtype)
    return alignments_of(records)


def alignments_of(records: Mapped) -> Alignments | xr.Dataset:
    """Split an array of alignment records into one array per field."""
    if is_labelled(records):
        import xarray as xr

        return xr.Dataset(fields_of(records, {}))
    names = records.dtype.names or ()
    found = {name: field_of(records, name) for name in names}
    return Alignments(**found)  # type: ignore[arg-type]


def record_dtype(*, cigar: bool = False) -> Dtype:
    """Return the structured dtype of one alignment: score, positions, and CIGAR if requested."""
    cigars = [("cigar", object)] if cigar else []
    return np.dtype([("score", np.int32), *((name, np.int64) for name in POSITION_FIELDS), *cigars])


def as_records(found: Alignments, dtype: Dtype) -> NumpyArray:
    """Return alignments as a structured array, one record per pair."""
    records = cast("NDArray[np.void]", np.empty(len(found.score), dtype))
    for name in dtype.names or ():
        records[name] = getattr(found, name)
    return records


def _records(
    function: Callable[[list[str], list[str]], Alignments],
    dtype: Dtype,
    queries: list[str],
    targets: list[str],
) -> NumpyArray:
    return as_records(function(queries, targets), dtype)


def _items(strings: object) -> object:
    """Return an array as it is, strings as an array."""
    if is_array(strings):
        return strings
    return np.array(strings, object if isinstance(strings, str | bytes) else None)


def _on_texts(
    function: Callable[[list[str], list[str]], NumpyArray],
    dtype: Dtype,
    queries: NumpyArray,
    targets: NumpyArray,
) -> NumpyArray:
    ours, theirs = np.broadcast_arrays(queries, targets)
    found = function(ours.ravel().tolist(), theirs.ravel().tolist())
    return np.asarray(found, dtype).reshape(ours.shape)
