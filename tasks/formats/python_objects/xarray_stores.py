"""Stores opened as xarray objects: a Dataset, or a DataTree if there are groups."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import zarr
from zarr.errors import UnknownCodecError

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.store.dataset.carried import (
    DTYPE,
    items_from_bytes,
    plain_attrs,
    to_fixed_size,
    unpack_items,
)
from gangsaw.tasks.store.dataset.kinds import dtype_of, enum_of, is_ragged
from gangsaw.tasks.store.objects.arrays_only import ArraysOnlyStore
from gangsaw.tasks.store.objects.stores import StoreAddress
from gangsaw.tasks.store.objects.zipped import zarr_argument_of
from gangsaw.tasks.store.source import metadata_errors, open_group_or_array

if TYPE_CHECKING:
    import xarray as xr

FIXED = "SU"  # dtype kinds of fixed-size texts, which Zarr stores with variable length
XARRAY_UNITS = {"s", "ms", "us", "ns"}  # units of times that xarray supports
LONG_UNITS = {"Y", "M", "W", "D", "h", "m"}  # units that are whole seconds


def open_as_xarray(
    address: str, group: str = "", options: Mapping[str, object] | None = None
) -> xr.Dataset | xr.DataTree:
    """Open a store or one of its groups: as a DataTree if it contains groups, else as a Dataset.

    `options` are passed to xarray. Raises BadParams if the address is no group, if the axes of an
    array have no names, or if a codec is missing, and CorruptChunk for damaged metadata.
    """
    node = open_group_or_array(address, group)
    if not isinstance(node, zarr.Group):
        raise BadParams(f"{address} is an array: xarray opens groups")
    where: dict[str, object] = {"group": group} if group else {}
    store: object = zarr_argument_of(address)
    if isinstance(address, StoreAddress):
        own = address.place.store
        store = own._store if isinstance(own, ArraysOnlyStore) else own
        where = {"group": f"{address.place.path}/{group}".strip("/") or None}
    is_copied = (
        node.metadata.consolidated_metadata is not None
    )  # xarray warns if it has to search for consolidated metadata
    wanted = {"chunks": {}, "consolidated": is_copied, **where, **(options or {})}
    with _errors_in_a_line(f"{address}/{group}" if group else address):
        return _open(store, wanted, is_tree=any(True for _ in node.group_keys()))


def _open(
    store: object, wanted: Mapping[str, object], *, is_tree: bool
) -> xr.Dataset | xr.DataTree:
    import xarray as xr

    if not is_tree:
        return _restore_variables(xr.open_zarr(store, **wanted))  # type: ignore[arg-type]
    tree: xr.DataTree = xr.open_datatree(store, engine="zarr", **wanted)  # type: ignore[arg-type]
    found: xr.DataTree = tree.map_over_datasets(_restore_variables)
    found.set_close(tree.close)
    return found


@contextmanager
def _errors_in_a_line(where: str) -> Iterator[None]:
    """Convert xarray's errors about a store to one-line errors, except those about options."""
    try:
        yield
    except KeyError as error:
        if "dimension" not in str(error):
            raise
        raise BadParams(
            f"{where} holds an array whose axes have no names, which xarray needs: "
            "gangsaw.compress gives it some, zarr.open reads it as it is"
        ) from error
    except (UnknownCodecError, json.JSONDecodeError):
        with metadata_errors(where):
            raise


def _restore_variables(data: xr.Dataset) -> xr.Dataset:
    """Return a data set whose converted variables have their original items again.

    The store has items of types that Zarr lacks as bytes or text, with the type in an attribute.
    """
    found = ((name, _restore_items(variable)) for name, variable in data.variables.items())
    changed = {name: variable for name, variable in found if variable is not None}
    return data.assign(changed) if changed else data


def _restore_items(variable: xr.Variable) -> xr.Variable | None:
    """Return a variable with the items that its bytes or texts stand for.

    None if it was not converted, or xarray has no type for its items.
    """
    kind = variable.attrs.get(DTYPE)
    if kind is None or enum_of(kind) is not None:
        return None
    if is_ragged(kind):
        inner = kind["vlen"] if isinstance(kind, Mapping) and "vlen" in kind else None
        is_flat = kind == "bytes" or (inner is not None and not is_ragged(inner))
        is_packed = is_flat and variable.dtype.kind in "OT"
        return (
            _mapped(variable, partial(_unpack, kind=kind), np.dtype(object)) if is_packed else None
        )
    dtype = dtype_of(kind)
    if variable.dtype.kind in "OT":
        is_fixed = isinstance(kind, str) and dtype.kind in FIXED
        return _mapped(variable, partial(to_fixed_size, dtype=dtype), dtype) if is_fixed else None
    is_bytes = variable.dtype == np.dtype("u1") and variable.shape[-1:] == (dtype.itemsize,)
    if not is_bytes or dtype.subdtype is not None or (target := _xarray_dtype(dtype)) is None:
        return None
    return _mapped(variable, partial(_items, dtype=dtype, target=target), target, n_axes=1)


def _xarray_dtype(dtype: Dtype) -> Dtype | None:
    """Return the dtype that xarray uses for items of a dtype; None for times in other units."""
    if dtype.kind not in "mM":
        return dtype
    unit = np.datetime_data(dtype)[0]  # type: ignore[arg-type]
    own = "s" if unit in LONG_UNITS else unit
    return np.dtype(f"{dtype.kind}8[{own}]") if own in XARRAY_UNITS else None


def _items(data: NumpyArray, dtype: Dtype, target: Dtype) -> NumpyArray:
    return items_from_bytes(np.asarray(data), dtype).astype(target, copy=False)


def _unpack(texts: NumpyArray, kind: object) -> NumpyArray:
    return unpack_items(np.asarray(texts), kind)


def _mapped(
    variable: xr.Variable,
    function: Callable[[NumpyArray], NumpyArray],
    dtype: Dtype,
    n_axes: int = 0,
) -> xr.Variable:
    """Apply a function to each block of a variable; it may drop the last `n_axes` axes."""
    import xarray as xr

    n = variable.ndim - n_axes
    if variable.chunks is None:
        data = function(np.asarray(variable.data))
    else:
        whole = variable.chunk(dict.fromkeys(variable.dims[n:], -1)).data
        meta = np.empty((0,) * n, dtype)
        data = whole.map_blocks(
            function, dtype=dtype, drop_axis=[*range(n, variable.ndim)], meta=meta
        )
    return xr.Variable(variable.dims[:n], data, plain_attrs(variable.attrs))
