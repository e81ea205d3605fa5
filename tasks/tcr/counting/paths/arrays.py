"""Lazy path counts for Dask and xarray arrays of references, block by block."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.tasks.formats.python_objects.elementwise import (
    apply_to_items,
    field_of,
    is_labelled,
    is_lazy,
)
from gangsaw.tasks.tcr.counting.paths.dataset import (
    Variable,
    coordinates,
    describe_model,
    variables,
)
from gangsaw.tasks.tcr.model import Model

if TYPE_CHECKING:
    import xarray

REFERENCE = "reference"
Counted = Callable[[list[str], "str | list[str]", "str | list[str]"], "xarray.Dataset"]


@dataclass(frozen=True)
class CountTexts:
    """Chunk function: counts of an array of references, as structured records of its shape.

    Attributes
    ----------
    count : function of a list of references, and one V and J for all, or one for each
    v, j : part of all references, or None if further blocks have one for each
    dtype : dtype of the records
    """

    count: Counted
    v: str | None
    j: str | None
    dtype: Dtype

    def __call__(self, *blocks: NumpyArray) -> NumpyArray:
        """Return the counts of a block of references; further blocks have the V, then the J."""
        cdr3, *own = np.broadcast_arrays(*blocks)
        records = cast("NDArray[np.void]", np.empty(cdr3.size, self.dtype))
        if cdr3.size:
            each = iter([texts.ravel().tolist() for texts in own])
            v = next(each) if self.v is None else self.v
            j = next(each) if self.j is None else self.j
            found = self.count(cdr3.ravel().tolist(), v, j)
            for name in self.dtype.names or ():
                records[name] = found[name].to_numpy()
        return records.reshape(cdr3.shape)


def are_arrays(*values: object) -> bool:
    """Return True if an argument is a Dask array or a DataArray."""
    return any(is_lazy(one) or is_labelled(one) for one in values)


def count_arrays(
    count: Counted, cdr3: object, v: object, j: object, d: Mapping[str, str], model: Model
) -> xarray.Dataset:
    """Return the lazy counts of references in Dask or xarray arrays as a Dataset.

    `count` counts one block. The arrays `cdr3`, `v` and `j` are broadcast.

    The dimensions are those of the DataArrays; `reference` if there are only Dask arrays.
    """
    import xarray

    own = [part for part in (v, j) if not isinstance(part, str)]
    table, labels = variables(model, len(d)), coordinates(model, list(d))
    dtype = make_record_dtype(table, labels)
    texts = [part if isinstance(part, str) else None for part in (v, j)]
    labelled = [_labelled(one) for one in (cdr3, *own)]
    records = apply_to_items(CountTexts(count, texts[0], texts[1], dtype), *labelled, dtype=dtype)
    fields = {v.name: field_of(records, v.name, v.dims[1:]) for v in table}
    found = xarray.Dataset(fields, attrs=describe_model(model)).assign_coords(labels)
    for variable in table:
        found[variable.name].attrs.update(variable.attrs)
    return found


def _labelled(texts: object) -> object:
    """Return a list or a Dask array as a DataArray with the dimension `reference`."""
    import xarray

    if is_labelled(texts):
        return texts
    texts = texts if is_lazy(texts) else np.asarray(texts)
    return xarray.DataArray(texts, dims=(REFERENCE,))


def make_record_dtype(table: tuple[Variable, ...], labels: Mapping[str, NumpyArray]) -> Dtype:
    """Return the structured dtype of the counts of one reference: a field for each variable."""
    fields = [(v.name, v.dtype, tuple(len(labels[dim]) for dim in v.dims[1:])) for v in table]
    return np.dtype(fields)
