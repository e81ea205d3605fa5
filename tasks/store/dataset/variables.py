"""Division of a data set into chunked arrays and coordinates that are copied as a whole."""

from __future__ import annotations

import base64
import struct
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import accumulate
from math import prod

import numpy as np

from gangsaw.codecs.core.arrays import Dtype
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.options import nearest
from gangsaw.tasks.sources.source import Coordinate, SourceArray
from gangsaw.tasks.store.dataset.carried import TEXTS, is_carried, to_coordinate, view_as_bytes
from gangsaw.tasks.store.dataset.paths import last_component, resolve_paths, resolve_reference
from gangsaw.tasks.store.dataset.texts import TextArray, make_text_array

SMALL = 16 << 20  # bytes: larger coordinates are stored chunk by chunk, like data
MOST_WHOLE = 256 << 20  # bytes: limit of all variables copied as a whole, and of one chunk of them
NAMING = (
    "coordinates",
    "bounds",
    "grid_mapping",
    "ancillary_variables",
)  # CF attributes with the names of other variables
NUMBERS = "biufcmM"
TEXT_BYTES = np.dtypes.StringDType().itemsize  # least memory of a string


def split_variables(
    found: Sequence[SourceArray], wanted: Sequence[str] = (), chunked: Collection[str] = ()
) -> tuple[tuple[SourceArray, ...], tuple[Coordinate, ...]]:
    """Return the arrays and the coordinates of a data set, small string variables included.

    Parameters
    ----------
    wanted : arrays to select, by path or by a unique last component, with the coordinates along
        their axes in any group; () selects all
    chunked : names of variables that are arrays and not coordinates, however small

    Raises
    ------
    BadParams : a selected name is missing, there is no array, or string variables are too large
    """
    wanted = resolve_paths(wanted, [v.name for v in found])
    near_others, taken = _named_by(found), {*wanted, *chunked}
    texts: set[str] = set()
    whole = [
        v for v in found if v.name not in taken and _is_whole(v, near_others, is_near=bool(wanted))
    ]
    if not wanted and len(whole) == len(found):  # arrays of one axis only: they are the data
        whole = [v for v in whole if not _is_series(v, near_others)]
    if not wanted and len(whole) == len(found):  # no numbers either: strings are the data
        texts = {v.name for v in whole if _is_text_series(v, near_others)}
        whole = [v for v in whole if v.name not in texts]
    whole = _within_memory(whole)
    free = {*texts, *(v.name for v in whole)}
    small = {v.name for v in found if v.name in free and is_small_variable(v)}
    _check_texts(found, wanted, {*chunked, *small})
    names = {v.name for v in whole}
    arrays = tuple(v for v in found if v.name not in names and (not wanted or v.name in wanted))
    _check_found(found, wanted, arrays)
    axes = {axis for array in arrays for axis in _axes(array)}
    near = [v for v in whole if not wanted or axes.issuperset(_axes(v))]
    return tuple(map(_in_chunks, arrays)), tuple(map(to_coordinate, near))


def _within_memory(whole: Sequence[SourceArray]) -> list[SourceArray]:
    """Return the smallest of the variables to copy whole, up to MOST_WHOLE bytes in all.

    A file of a kilobyte may claim thousands of small coordinates.
    """
    ordered = sorted(whole, key=_bytes)
    sums = accumulate(map(_bytes, ordered))
    names = {v.name for v, total in zip(ordered, sums, strict=True) if total <= MOST_WHOLE}
    return [v for v in whole if v.name in names]


def _in_chunks(array: SourceArray) -> SourceArray:
    """Return an array in the form that is stored by chunks; fixed-size strings become bytes."""
    if (
        array.dtype.kind in "OT"
        and not is_carried(array.attrs)
        and not isinstance(array, TextArray)
    ):
        return make_text_array(array)
    return view_as_bytes(array) if array.dtype.kind in "SU" else array


def _check_texts(
    found: Iterable[SourceArray], wanted: Collection[str], free: Collection[str]
) -> None:
    """Raise BadParams for selected string variables that are too large to be copied whole.

    Parameters
    ----------
    free : names of variables that are not checked unless the user named them
    """
    for v in found:
        is_large = (
            not is_small_variable(v) if v.name in wanted else not wanted and v.name not in free
        )
        if v.dtype.kind in "OT" and is_large and not isinstance(v, TextArray):
            raise text_size_error(v.name, v.shape)


def text_size_error(name: str, shape: Sequence[int]) -> BadParams:
    """Return the error for string variables that are too large to be copied as a whole."""
    return BadParams(
        f"{name} holds {prod(shape)} texts, which are copied whole, but no more than "
        f"{SMALL >> 20} MiB: name the arrays to copy by --variable"
    )


def _itemsize(dtype: Dtype) -> int:
    return max(dtype.itemsize, TEXT_BYTES) if dtype.kind in TEXTS else dtype.itemsize


def is_small_variable(variable: SourceArray) -> bool:
    """Return True if a variable may be copied as a whole."""
    piece = prod(variable.chunks or ()) * variable.dtype.itemsize
    return _bytes(variable) <= SMALL and piece <= MOST_WHOLE


def _bytes(variable: SourceArray) -> int:
    return prod(variable.shape) * _itemsize(variable.dtype)


def _axes(variable: SourceArray) -> set[tuple[str, int]]:
    """Return the (dimension name, extent) pairs of a variable; groups may reuse a name."""
    return set(zip(variable.dims, variable.shape, strict=True))


def _named_by(found: Sequence[SourceArray]) -> frozenset[str]:
    """Return the paths of the variables that attributes of others name as their coordinates."""
    there = frozenset(v.name for v in found)
    said = ((v.name, str(v.attrs.get(key, "")).split()) for v in found for key in NAMING)
    means = (resolve_reference(path, name, there) for path, names in said for name in names)
    return frozenset(path for path in means if path is not None)


def _is_whole(variable: SourceArray, named: Collection[str], *, is_near: bool) -> bool:
    """Return True if a variable is copied as a whole, like a coordinate, and not stored by chunks.

    Parameters
    ----------
    named : paths of the variables that attributes name as coordinates
    is_near : True if the user selected arrays and this variable shares their axes
    """
    if isinstance(variable, TextArray):  # large, as strings go
        goes_along = is_near or _is_coordinate(variable, named)
        return goes_along and prod(variable.shape) * variable.item_bytes <= SMALL
    if variable.dtype.kind in "OT":
        return True
    if not is_small_variable(variable):
        return False
    if variable.dtype.kind in TEXTS or is_carried(variable.attrs):
        return True
    return len(variable.shape) < 2 or variable.name in named


def _is_text_series(variable: SourceArray, named: Collection[str]) -> bool:
    """Return True if a variable has strings and is data, not a coordinate."""
    is_text = variable.dtype.kind in TEXTS and not is_carried(variable.attrs)
    return is_text and 0 not in variable.shape and not _is_coordinate(variable, named)


def _is_coordinate(variable: SourceArray, named: Collection[str]) -> bool:
    return last_component(variable.name) in variable.dims or variable.name in named


def _is_series(variable: SourceArray, named: Collection[str]) -> bool:
    """Return True if a variable of one axis is data, not a coordinate."""
    if is_carried(variable.attrs):
        return variable.dtype.kind not in TEXTS
    is_number = variable.dtype.kind in NUMBERS and len(variable.dims) == 1
    return is_number and not _is_coordinate(variable, named)


def _check_found(
    found: Iterable[SourceArray], wanted: Sequence[str], arrays: Sequence[SourceArray]
) -> None:
    found = [*found]
    names = ", ".join(v.name for v in found) or "none"
    if missing := sorted(set(wanted) - {a.name for a in arrays}):
        near = nearest(missing[0], (v.name for v in found))
        raise BadParams(f"no variable {missing[0]!r}; there are: {names}{near}")
    if not arrays:
        raise BadParams(f"no array of two or more axes to work on; variables found: {names}")


def json_attrs(attrs: Mapping[str, object], dtype: Dtype) -> dict[str, object]:
    """Return attributes as JSON values; a float _FillValue as xarray writes it to Zarr format 3."""
    found = {str(key): plain_value(value) for key, value in attrs.items()}
    fill = found.get("_FillValue")
    if dtype.kind == "f" and isinstance(fill, int | float):
        found["_FillValue"] = base64.standard_b64encode(struct.pack("<d", fill)).decode()
    return found


def plain_value(value: object) -> object:
    """Return a value in JSON types; the dtype of numbers is lost."""
    if isinstance(value, np.ndarray):
        return plain_value(
            value.tolist() if value.dtype.char not in "gG" else value.astype(str).tolist()
        )
    if isinstance(value, np.generic):  # Python has no long double
        return plain_value(value.item()) if value.dtype.char not in "gG" else str(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, list | tuple):
        return [plain_value(part) for part in value]
    if isinstance(value, Mapping):
        return {str(key): plain_value(part) for key, part in value.items()}
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def fill_of(attrs: Mapping[str, object], dtype: Dtype) -> object:
    """Return the `_FillValue` of JSON attributes as a number; None if it does not fit the dtype.

    A file may have any value there, such as a string for numbers.
    """
    fill = attrs.get("_FillValue")
    if dtype.kind not in "biufc":
        return fill
    if isinstance(fill, str) and dtype.kind == "f":
        try:
            return struct.unpack("<d", base64.b64decode(fill, validate=True))[0]
        except (struct.error, ValueError):
            return None
    return None if isinstance(fill, str | list) else fill
