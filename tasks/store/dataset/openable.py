"""Check that plain xarray opens a store, and removal of attributes that prevent it.

Attributes of HDF5 and NetCDF describe the encoding of an item there (`_Encoding` of characters).
A file may also have wrong ones (units of time for other numbers). Each variable is opened in xarray
with its first and last item. Attributes that fail are moved to the attribute of `as_read`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.sources.source import Coordinate, Description, Region
from gangsaw.tasks.store.dataset.original_form import set_aside
from gangsaw.tasks.store.dataset.paths import last_component

if TYPE_CHECKING:
    import xarray as xr

# attributes that xarray decodes, the most likely culprit first
DECODED = (
    "_Encoding",
    "units",
    "dtype",
    "_Unsigned",
    "missing_value",
    "_FillValue",
    "scale_factor",
    "add_offset",
    "calendar",
    "coordinates",
    "bounds",
    "grid_mapping",
    "cell_measures",
    "formula_terms",
    "ancillary_variables",
)
TIME_UNITS = frozenset(
    f"{unit}s"
    for unit in ("day", "hour", "minute", "second", "millisecond", "microsecond", "nanosecond")
)


@dataclass(frozen=True)
class Example:
    """Variable with only its first and last items, to test quickly if xarray opens it.

    Attributes
    ----------
    path : path of the variable in the store
    values : first and last item along each axis; all items if they form an index
    """

    path: str
    dims: tuple[str, ...]
    values: NumpyArray
    attrs: Mapping[str, object]

    def without(self, names: Iterable[str]) -> Example:
        """Return the example without some attributes."""
        gone = set(names)
        return replace(self, attrs={k: v for k, v in self.attrs.items() if k not in gone})


def select_openable_attrs(
    variables: Sequence[Description | Coordinate],
) -> Mapping[str, Mapping[str, object]]:
    """Return the attributes of each variable by path, without those on which xarray fails.

    Values of removed attributes are recorded in the attribute of `as_read`.
    """
    attrs = {variable.name: variable.attrs for variable in variables}
    asked = [_example(variable) for variable in variables if _is_decoded(variable.attrs)]
    for group in _by_group(asked):
        if not _opens(group):
            for path, names in _find_faulty_attrs(group).items():
                attrs[path] = set_aside(attrs[path], names)
    return attrs


def _is_decoded(attrs: Mapping[str, object]) -> bool:
    if any(name in attrs for name in DECODED if name != "units"):  # units matter for times only
        return True
    return _is_time(attrs.get("units"))


def _is_time(units: object) -> bool:
    return isinstance(units, str) and ("since" in units or units in TIME_UNITS)


def _by_group(examples: Iterable[Example]) -> list[list[Example]]:
    groups: dict[str, list[Example]] = {}
    for one in examples:
        groups.setdefault(one.path.rpartition("/")[0], []).append(one)
    return list(groups.values())


def _find_faulty_attrs(group: Sequence[Example]) -> dict[str, list[str]]:
    """Return by variable path the names of attributes to remove, so that xarray opens the group.

    Attributes that fail on a variable alone come first, then those that fail in combination.
    """
    blamed = {one.path: _find_faulty_names(one) for one in group}
    group = [one.without(blamed[one.path]) for one in group]
    for name in DECODED if not _opens(group) else ():
        for one in group:
            if name in one.attrs:
                blamed[one.path].append(name)
        group = [one.without([name]) for one in group]
        if _opens(group):
            break
    return {path: names for path, names in blamed.items() if names}


def _find_faulty_names(one: Example) -> list[str]:
    """Return the names of attributes to remove so that xarray opens this variable alone."""
    if _opens([one]):
        return []
    there = [name for name in DECODED if name in one.attrs]
    for name in there:
        if _opens([one.without([name])]):
            return [name]
    for n in range(2, len(there)):
        if _opens([one.without(there[:n])]):
            return there[:n]
    return there


def _opens(examples: Iterable[Example]) -> bool:
    """Return True if xarray opens and decodes the variables of a group."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.filterwarnings("error", message=".*Ignoring attribute")
            _decoded(examples).load()
    except Exception:
        return False
    return True


def _decoded(examples: Iterable[Example]) -> xr.Dataset:
    import xarray as xr
    import zarr
    from zarr.storage import MemoryStore

    store = MemoryStore()
    group = zarr.create_group(store)
    for number, one in enumerate(examples):
        axes = [f"{dim}.{number}" for dim in one.dims]  # extents of examples need not agree
        made = group.create_array(
            last_component(one.path),
            shape=one.values.shape,
            dtype=one.values.dtype,
            dimension_names=axes,
            attributes=dict(one.attrs),  # type: ignore[arg-type]  # JSON, or Zarr raises
        )
        made[...] = one.values
    return xr.open_dataset(store, engine="zarr", consolidated=False, chunks=None)  # type: ignore[arg-type]


def _example(variable: Description | Coordinate) -> Example:
    whole = variable.values if isinstance(variable, Coordinate) else _ends(variable)
    if isinstance(variable, Coordinate) and not _is_time(variable.attrs.get("units")):
        whole = whole[tuple(slice(0, 1) for _ in whole.shape)]
    native = whole if whole.dtype.kind in "OT" else whole.astype(whole.dtype.newbyteorder("="))
    return Example(variable.name, variable.dims, native, variable.attrs)


def _ends(array: Description) -> NumpyArray:
    """Return the first and the last item of an array of times, zeros for other arrays."""
    shape = tuple(min(n, 1) for n in array.shape)
    zeros = np.zeros(shape, array.dtype if array.dtype.kind != "O" else np.dtype("u1"))
    read = getattr(array, "read", None)
    if read is None or 0 in shape or not _is_time(array.attrs.get("units")):
        return zeros
    places: list[Region] = [
        tuple(slice(0, 1) for _ in shape),
        tuple(slice(n - 1, n) for n in array.shape),
    ]
    ends = [np.asarray(read(place)).reshape(shape) for place in places]
    return np.concatenate(ends) if shape else ends[0]
