"""Source made of arrays in memory or Dask arrays, identified by a digest of its samples."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.python_objects.arrays_in_memory import ArrayInMemory, base_of
from gangsaw.tasks.formats.python_objects.blocks import BlockArray
from gangsaw.tasks.sources.source import Coordinate, GroupAttrs, SourceArray
from gangsaw.tasks.store.dataset.carried import TEXTS
from gangsaw.tasks.store.dataset.losses import Refused, left_out_attrs, notes_of, storable_variables
from gangsaw.tasks.store.dataset.paths import groups_with
from gangsaw.tasks.store.dataset.variables import is_small_variable, split_variables

HASHED_BYTES = 16 << 20  # bytes copied at once to hash an array that is not in C order


@dataclass(frozen=True)
class ObjectSource:
    """Source made of arrays in memory or Dask arrays.

    Attributes
    ----------
    name : display name in messages, such as "the DataArray"
    remarks : further notes for the user about the stored form
    """

    name: str
    arrays: tuple[SourceArray, ...]
    coords: tuple[Coordinate, ...] = ()
    groups: tuple[GroupAttrs, ...] = ()
    attrs: Mapping[str, object] = field(default_factory=dict, compare=False)
    left_out: tuple[Refused, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Descriptions of the items that are left out, and the remarks."""
        return (*notes_of(self.left_out), *self.remarks)

    def identity(self) -> str:
        """Return a digest of all samples; Dask arrays enter by `BlockArray.identity`."""
        lines = [f"{array.name} {_samples(array)}" for array in self.arrays]
        lines += [f"{coord.name} {coord.dims} {hash_array(coord.values)}" for coord in self.coords]
        return "objects " + hashlib.sha256("\n".join(lines).encode()).hexdigest()

    def versions(self) -> Mapping[str, str]:
        """Return no versions: the caller is responsible for changes to the arrays."""
        return {}


def object_source(
    name: str,
    found: Sequence[SourceArray],
    data: Sequence[str],
    groups: Sequence[GroupAttrs] = (),
    attrs: Mapping[str, object] | None = None,
    variables: Sequence[str] = (),
    *,
    accept_loss: bool = False,
) -> ObjectSource:
    """Return a source made of variables.

    Parameters
    ----------
    name : display name in messages
    found : all variables
    data : names of the variables that are data and no coordinates
    groups : attributes of the groups below the root
    attrs : attributes of the root
    variables : names of the variables to select; empty for all
    accept_loss : leave out unsupported variables instead of raising

    Raises BadParams for unsupported variables, by name.
    """
    found = [_texts_here(variable) for variable in found]
    refused = [one for one in map(_refused, found) if one is not None]
    without = {one.name for one in refused}
    able = [variable for variable in found if variable.name not in without]
    taken, lost = storable_variables(able, refused, variables, accept_loss=accept_loss)
    arrays, coords = split_variables(taken, variables, _chunked(taken, data))
    if variables:
        groups = groups_with(groups, [*(a.name for a in arrays), *(c.name for c in coords)])
    whole = {**(attrs or {}), **left_out_attrs(lost)}
    return ObjectSource(name, arrays, coords, tuple(groups), whole, lost)


def _chunked(found: Sequence[SourceArray], data: Sequence[str]) -> list[str]:
    """Return the names of the data to store chunk by chunk: arrays of numbers, else all data."""
    numbers = [v.name for v in found if v.name in data and v.shape and v.dtype.kind not in TEXTS]
    return numbers or [v.name for v in found if v.name in data]


def _texts_here(variable: SourceArray) -> SourceArray:
    """Return a small Dask array of objects computed in memory, any other variable unchanged.

    Texts are copied whole.
    """
    if variable.dtype.kind != "O" or not isinstance(variable, BlockArray):
        return variable
    if not is_small_variable(variable):
        return variable
    values = variable.read(tuple(slice(0, n) for n in variable.shape))
    attrs, fill = variable.attrs, variable.fill_value
    return ArrayInMemory(values, variable.dims, variable.name, attrs, fill_value=fill)


def _refused(variable: SourceArray) -> Refused | None:
    """Return the report that a variable cannot be stored, or None if it can."""
    if variable.dtype.itemsize == 0:
        return Refused(variable.name, f"holds items of no bytes ({variable.dtype})")
    if variable.dtype.kind != "O":
        return None
    if isinstance(variable, BlockArray):
        return Refused(variable.name, "has many objects in its blocks: give it a type")
    assert isinstance(variable, ArrayInMemory)
    kinds = {type(item) for item in variable.values.ravel()}
    if kinds <= {str} or kinds <= {bytes}:
        return None
    names = sorted(kind.__name__ for kind in kinds)
    return Refused(variable.name, f"holds objects ({', '.join(names[:4])}), not texts alone")


def _samples(array: SourceArray) -> str:
    base = base_of(array)
    if isinstance(base, BlockArray):
        return base.identity()
    if not isinstance(base, ArrayInMemory):
        raise BadParams(f"{array.name} is no array in memory")
    return hash_array(base.values)


def hash_array(values: NumpyArray) -> str:
    """Return the SHA-256 digest of an array: dtype, extents and bytes in C order."""
    said = hashlib.sha256(f"{values.dtype.str} {values.shape}".encode())
    if values.dtype.kind in TEXTS or values.dtype.hasobject:
        said.update(repr(values.tolist()).encode())
    elif values.flags.c_contiguous:
        said.update(values.reshape(-1).view(np.uint8).data)
    else:
        for part in _parts(values):
            said.update(np.ascontiguousarray(part).reshape(-1).view(np.uint8).data)
    return said.hexdigest()


def _parts(values: NumpyArray) -> Sequence[NumpyArray]:
    """Return slices of an array along its first axis, of about HASHED_BYTES each."""
    if not values.ndim or not values.size:
        return [values]
    rows = max(1, HASHED_BYTES * len(values) // max(1, values.nbytes))
    return [values[i : i + rows] for i in range(0, len(values), rows)]
