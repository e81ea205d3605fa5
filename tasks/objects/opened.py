"""Stores as what xarray has: data sets, and trees where there are groups."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import zarr
from zarr.errors import UnknownCodecError

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.store.dataset.carried import DTYPE, plain_attrs
from gangsaw.tasks.store.dataset.kinds import dtype_of
from gangsaw.tasks.store.source import metadata_errors, open_at
from gangsaw.tasks.store.stores import StoreAddress
from gangsaw.tasks.store.strict import StrictStore
from gangsaw.tasks.store.zipped import zarr_at

if TYPE_CHECKING:
    import xarray as xr

FIXED = "SU"  # kinds of texts of one size, which Zarr has as texts of any


def open_as_xarray(
    address: str, group: str = "", options: Mapping[str, object] | None = None
) -> xr.Dataset | xr.DataTree:
    """Return a store or a group of it: a Dataset, or a DataTree where there are groups in it.

    `options` go to xarray. Raises BadParams for what is no group, arrays whose axes have no names,
    and codecs that are not there, CorruptChunk for damaged metadata.
    """
    node = open_at(address, group)
    if not isinstance(node, zarr.Group):
        raise BadParams(f"{address} is an array: xarray opens groups")
    where: dict[str, object] = {"group": group} if group else {}
    store: object = zarr_at(address)
    if isinstance(address, StoreAddress):
        own = address.place.store
        store = own._store if isinstance(own, StrictStore) else own
        where = {"group": f"{address.place.path}/{group}".strip("/") or None}
    is_copied = (
        node.metadata.consolidated_metadata is not None
    )  # xarray warns where it looks for it
    wanted = {"chunks": {}, "consolidated": is_copied, **where, **(options or {})}
    with _errors_in_a_line(f"{address}/{group}" if group else address):
        return _opened(store, wanted, is_tree=any(True for _ in node.group_keys()))


def _opened(
    store: object, wanted: Mapping[str, object], *, is_tree: bool
) -> xr.Dataset | xr.DataTree:
    import xarray as xr

    if not is_tree:
        return _as_it_was(xr.open_zarr(store, **wanted))  # type: ignore[arg-type]
    tree: xr.DataTree = xr.open_datatree(store, engine="zarr", **wanted)  # type: ignore[arg-type]
    found: xr.DataTree = tree.map_over_datasets(_as_it_was)
    found.set_close(tree.close)
    return found


@contextmanager
def _errors_in_a_line(where: str) -> Iterator[None]:
    """Raise what xarray says of a store as our errors, and what it says of options as it is."""
    try:
        yield
    except KeyError as error:
        if "dimension" not in str(error):
            raise
        raise BadParams(
            f"{where} holds an array whose axes have no names, which xarray asks for: "
            "gangsaw.compress gives it some, zarr.open reads it as it is"
        ) from error
    except (UnknownCodecError, json.JSONDecodeError):
        with metadata_errors(where):
            raise


def _as_it_was(data: xr.Dataset) -> xr.Dataset:
    """Return a data set whose texts of one size are such again."""
    fixed = {name: _fixed(v) for name, v in data.variables.items() if _is_fixed(v)}
    return data.assign(fixed) if fixed else data


def _is_fixed(variable: xr.Variable) -> bool:
    kind = variable.attrs.get(DTYPE)
    return isinstance(kind, str) and kind[1:2] in FIXED and variable.dtype.kind in "OT"


def _fixed(variable: xr.Variable) -> xr.Variable:
    import xarray as xr

    dtype = dtype_of(variable.attrs[DTYPE])

    def restored(texts: NumpyArray) -> NumpyArray:
        if dtype.kind == "U":
            return np.asarray(texts).astype(dtype)
        items = [str(text).encode() for text in np.asarray(texts).ravel()]
        return np.array(items, dtype).reshape(texts.shape)

    found: xr.Variable = xr.apply_ufunc(
        restored, variable, dask="parallelized", output_dtypes=[dtype]
    )
    found.attrs = plain_attrs(variable.attrs)
    return found
