"""Which variables of a data set are chunked, and which are copied whole as coordinates."""

from __future__ import annotations

import base64
import struct
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import accumulate
from math import prod

import numpy as np

from gangsaw.codecs.core.arrays import Dtype
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.source import Coordinate, SourceArray
from gangsaw.tasks.store.dataset.carried import TEXTS, as_coordinate, by_bytes, is_carried
from gangsaw.tasks.store.dataset.paths import last, resolved, seen_from
from gangsaw.tasks.store.dataset.texts import TextArray, texts_of

SMALL = 16 << 20  # bytes: a larger coordinate is stored chunk by chunk, like data
MOST_WHOLE = 256 << 20  # bytes: at most so much is copied whole, in all and in one piece
NAMING = (
    "coordinates",
    "bounds",
    "grid_mapping",
    "ancillary_variables",
)  # CF: name other variables
NUMBERS = "biufcmM"
TEXT_BYTES = np.dtypes.StringDType().itemsize  # that a text takes in memory at least


def split(
    found: Sequence[SourceArray], wanted: Sequence[str] = (), chunked: Collection[str] = ()
) -> tuple[tuple[SourceArray, ...], tuple[Coordinate, ...]]:
    """Return the arrays and the coordinates of a data set, small texts included.

    `wanted` names the arrays to take, by path or by a last name that only one has, with the
    coordinates along their axes in any group; none takes all there is. A variable in `chunked` is
    no coordinate, however small.

    Raises BadParams where a wanted name or any array is missing, and for texts that are too many to
    be copied whole.
    """
    wanted = resolved(wanted, [v.name for v in found])
    near_others, taken = _named_by(found), {*wanted, *chunked}
    whole = [
        v for v in found if v.name not in taken and _is_whole(v, near_others, is_near=bool(wanted))
    ]
    if not wanted and len(whole) == len(found):  # only arrays of one axis: the data
        whole = [v for v in whole if not _is_series(v, near_others)]
    if not wanted and len(whole) == len(found):  # nor numbers: texts are
        whole = [v for v in whole if not _is_text_series(v, near_others)]
    whole = _within_memory(whole)
    _check_texts(found, wanted, {*chunked, *(v.name for v in whole if is_small(v))})
    arrays = tuple(v for v in found if v not in whole and (not wanted or v.name in wanted))
    _check_found(found, wanted, arrays)
    axes = {axis for array in arrays for axis in _axes(array)}
    near = [v for v in whole if not wanted or axes.issuperset(_axes(v))]
    return tuple(map(_in_chunks, arrays)), tuple(map(as_coordinate, near))


def _within_memory(whole: Sequence[SourceArray]) -> list[SourceArray]:
    """Return the smallest of the variables, as many as may be copied whole.

    A file of a kilobyte may claim thousands of coordinates that are small each.
    """
    ordered = sorted(whole, key=_bytes)
    sums = accumulate(map(_bytes, ordered))
    names = {v.name for v, total in zip(ordered, sums, strict=True) if total <= MOST_WHOLE}
    return [v for v in whole if v.name in names]


def _in_chunks(array: SourceArray) -> SourceArray:
    """Return an array in the form that is stored chunk by chunk: of texts of one size, bytes."""
    if (
        array.dtype.kind in "OT"
        and not is_carried(array.attrs)
        and not isinstance(array, TextArray)
    ):
        return texts_of(array)
    return by_bytes(array) if array.dtype.kind in "SU" else array


def _check_texts(
    found: Iterable[SourceArray], wanted: Collection[str], free: Collection[str]
) -> None:
    """Raise BadParams for texts that are taken and too large; none of the `free` names is."""
    for v in found:
        is_large = not is_small(v) if v.name in wanted else not wanted and v.name not in free
        if v.dtype.kind in "OT" and is_large and not isinstance(v, TextArray):
            raise too_many_texts(v.name, v.shape)


def too_many_texts(name: str, shape: Sequence[int]) -> BadParams:
    """Return the error of texts that are too many to be copied whole."""
    return BadParams(
        f"{name} holds {prod(shape)} texts, which are copied whole, but no more than "
        f"{SMALL >> 20} MiB: name the arrays to take by --variable"
    )


def _itemsize(dtype: Dtype) -> int:
    return max(dtype.itemsize, TEXT_BYTES) if dtype.kind in TEXTS else dtype.itemsize


def is_small(variable: SourceArray) -> bool:
    """Whether a variable may be copied whole."""
    piece = prod(variable.chunks or ()) * variable.dtype.itemsize
    return _bytes(variable) <= SMALL and piece <= MOST_WHOLE


def _bytes(variable: SourceArray) -> int:
    return prod(variable.shape) * _itemsize(variable.dtype)


def _axes(variable: SourceArray) -> set[tuple[str, int]]:
    """Return names and extents of the axes: those of one name may differ from group to group."""
    return set(zip(variable.dims, variable.shape, strict=True))


def _named_by(found: Sequence[SourceArray]) -> frozenset[str]:
    """Return the paths of the variables that attributes of others name as their coordinates."""
    there = frozenset(v.name for v in found)
    said = ((v.name, str(v.attrs.get(key, "")).split()) for v in found for key in NAMING)
    means = (seen_from(path, name, there) for path, names in said for name in names)
    return frozenset(path for path in means if path is not None)


def _is_whole(variable: SourceArray, named: Collection[str], *, is_near: bool) -> bool:
    """Whether a variable is copied whole; `is_near`: it goes with others that the user named."""
    if isinstance(variable, TextArray):  # it is large, as texts go
        goes_along = is_near or _is_coordinate(variable, named)
        return goes_along and prod(variable.shape) * variable.item_bytes <= SMALL
    if variable.dtype.kind in "OT":
        return True
    if not is_small(variable):
        return False
    if variable.dtype.kind in TEXTS or is_carried(variable.attrs):
        return True
    return len(variable.shape) < 2 or variable.name in named


def _is_text_series(variable: SourceArray, named: Collection[str]) -> bool:
    """Whether a variable holds texts, and is no coordinate of its axis and named by none."""
    is_text = variable.dtype.kind in TEXTS and not is_carried(variable.attrs)
    return is_text and 0 not in variable.shape and not _is_coordinate(variable, named)


def _is_coordinate(variable: SourceArray, named: Collection[str]) -> bool:
    return last(variable.name) in variable.dims or variable.name in named


def _is_series(variable: SourceArray, named: Collection[str]) -> bool:
    """Whether a variable of one axis holds data: it is no coordinate of its axis, named by none."""
    if is_carried(variable.attrs):
        return variable.dtype.kind not in TEXTS
    is_number = variable.dtype.kind in NUMBERS and len(variable.dims) == 1
    return is_number and not _is_coordinate(variable, named)


def _check_found(
    found: Iterable[SourceArray], wanted: Sequence[str], arrays: Sequence[SourceArray]
) -> None:
    names = ", ".join(v.name for v in found) or "none"
    if missing := sorted(set(wanted) - {a.name for a in arrays}):
        raise BadParams(f"no variable {missing[0]!r}; there are: {names}")
    if not arrays:
        raise BadParams(f"no array of two or more axes to work on; variables found: {names}")


def json_attrs(attrs: Mapping[str, object], dtype: Dtype) -> dict[str, object]:
    """Return attributes as JSON holds them; a float _FillValue as xarray writes it to Zarr v3."""
    found = {str(key): plain(value) for key, value in attrs.items()}
    fill = found.get("_FillValue")
    if dtype.kind == "f" and isinstance(fill, int | float):
        found["_FillValue"] = base64.standard_b64encode(struct.pack("<d", fill)).decode()
    return found


def plain(value: object) -> object:
    """Return a value as JSON holds it, about: types of numbers are lost."""
    if isinstance(value, np.ndarray):
        return plain(value.tolist() if value.dtype.char not in "gG" else value.astype(str).tolist())
    if isinstance(value, np.generic):  # Python has no long double
        return plain(value.item()) if value.dtype.char not in "gG" else str(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def fill_of(attrs: Mapping[str, object], dtype: Dtype) -> object:
    """Return the number that a JSON _FillValue stands for; None where it is none of the samples'.

    A file may say anything, such as a text for numbers.
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
