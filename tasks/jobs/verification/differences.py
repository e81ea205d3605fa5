"""Differences between the items of a store and of its source: absent, of another shape or type."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import numpy as np
import zarr

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.jobs.chunks.check import same_items
from gangsaw.tasks.jobs.verification.finished import FinishedArray
from gangsaw.tasks.sources.library_errors import convert_library_errors
from gangsaw.tasks.sources.source import Coordinate, Source, SourceArray
from gangsaw.tasks.store.arrays.chunks import ArrayCoder
from gangsaw.tasks.store.dataset.carried import (
    DTYPE,
    TEXTS,
    list_variables,
    restore_variable,
    to_string_array,
)
from gangsaw.tasks.store.dataset.unpacked import is_packed
from gangsaw.tasks.store.source import ROOT_NAME


def comparable_items(
    arrays: Sequence[FinishedArray], against: Source | None
) -> tuple[SourceArray | Coordinate, ...]:
    """Return arrays and coordinates of a source, as original items or as bytes like the store."""
    if against is None:
        return ()
    stored = arrays_by_name(arrays)
    found = list_variables(against)
    return tuple(
        _in_stored_form(one, stored[one.name]) if one.name in stored else one for one in found
    )


def arrays_by_name(arrays: Sequence[FinishedArray]) -> dict[str, FinishedArray]:
    """Return the arrays by name; an array at the root has the name `ROOT_NAME`."""
    return {array.name or ROOT_NAME: array for array in arrays}


def _in_stored_form(
    wanted: SourceArray | Coordinate, array: FinishedArray
) -> SourceArray | Coordinate:
    was = restore_variable(wanted)
    return was if _kind_of(was) == _kind(array.coder) else wanted


def find_differences(
    arrays: Sequence[FinishedArray], wanted: Sequence[SourceArray | Coordinate]
) -> list[str]:
    """Return a line for each array and coordinate that differs between store and source."""
    stored = arrays_by_name(arrays)
    pairs = ((one, stored.get(one.name)) for one in wanted)
    return [line for one, array in pairs for line in _lines(one, array)]


def _lines(wanted: SourceArray | Coordinate, array: FinishedArray | None) -> list[str]:
    try:
        if isinstance(wanted, Coordinate) and wanted.is_file and array is not None:
            return [f"{wanted.name}: {line}" for line in _of_file(wanted, array)]
        line = _difference(wanted, array)
    except CorruptChunk as error:  # raised for a coordinate, which is read whole
        line = str(error)
    return [line] if line else []


def _difference(wanted: SourceArray | Coordinate, array: FinishedArray | None) -> str:
    """Return a line on the difference of an array from its source, "" if there is none."""
    if array is None and isinstance(wanted, Coordinate) and wanted.is_mapping:
        return ""  # earlier versions derived no grid mapping
    if array is None:
        return f"{wanted.name}: in the source, not in the store"
    if _is_other_kind(array, wanted):
        return f"{wanted.name}: the store holds items of another type"
    if not isinstance(wanted, Coordinate):
        had, has = _kind(array.coder), _kind_of(wanted)
        if is_packed_in_store(array, wanted):
            had, has = (had[0], "items"), (has[0], "items")
        return "" if had == has else f"{wanted.name}: the store has {had}, the source {has}"
    is_same = array.coder.grid.shape == wanted.values.shape and same_items(
        _whole(array, wanted.values.dtype), np.asarray(wanted.values), array.coder.array.attrs
    )
    return "" if is_same else f"{wanted.name}: the coordinate differs from the source's"


def is_packed_in_store(array: FinishedArray, wanted: SourceArray | Coordinate) -> bool:
    """Return True if the store has packed integers for the floats of a source."""
    of = wanted.values if isinstance(wanted, Coordinate) else wanted
    return is_packed(array.coder.array.attrs, array.coder.dtype, of.dtype)


def list_packed_notes(
    arrays: Sequence[FinishedArray], wanted: Sequence[SourceArray | Coordinate]
) -> Iterator[str]:
    """Yield a note for the user on each array of packed integers, compared by its values."""
    stored = arrays_by_name(arrays)
    for one in wanted:
        if (array := stored.get(one.name)) is not None and is_packed_in_store(array, one):
            yield f"{one.name} is packed as {array.coder.dtype.name}: its values are compared"


def _is_other_kind(array: FinishedArray, wanted: SourceArray | Coordinate) -> bool:
    """Return True if store and source both record an original dtype and these differ.

    Stores of earlier versions record none.
    """
    kinds = [attrs.get(DTYPE) for attrs in (array.coder.array.attrs, wanted.attrs)]
    return None not in kinds and kinds[0] != json.loads(json.dumps(kinds[1]))


def _of_file(coordinate: Coordinate, found: FinishedArray) -> list[str]:
    """Return a line for each difference in the remaining content of a file, stored as a coordinate.

    Files of different bytes may have the same content, since HDF5 chooses its own layout.
    """
    if coordinate.unlike is None:
        return []
    return coordinate.unlike(_whole(found, np.dtype(np.uint8)), np.asarray(coordinate.values))


def _kind(coder: ArrayCoder) -> tuple[tuple[int, ...], str]:
    return coder.grid.shape, coder.dtype.name


def _kind_of(variable: SourceArray | Coordinate) -> tuple[tuple[int, ...], str]:
    of = variable.values if isinstance(variable, Coordinate) else variable
    return of.shape, of.dtype.name


def _whole(array: FinishedArray, wanted: Dtype) -> NumpyArray:
    place = array.place
    with convert_library_errors(str(place), array.name):
        values = np.asarray(zarr.open_array(place.store, path=place.path, mode="r")[...])
    if wanted.kind != "T" or values.dtype.kind not in TEXTS:
        return values
    try:
        return to_string_array(values)  # for a single text, zarr returns str
    except UnicodeError:
        return values
