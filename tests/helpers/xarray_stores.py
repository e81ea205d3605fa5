"""Stores as a user of xarray sees them."""

from __future__ import annotations

import xarray as xr
import zarr
from zarr.storage import StorePath

from gangsaw.tasks.store.objects.prefix import Prefix


def open_groups(place: Prefix) -> None:
    """Open every group of a store by plain xarray, with and without Dask; an array has no group."""
    node = zarr.open(StorePath(place.store, place.path), mode="r")
    if isinstance(node, zarr.Array):
        return
    inner = [
        path for path, member in node.members(max_depth=None) if isinstance(member, zarr.Group)
    ]
    for path in ["", *inner]:
        group = f"{place.path}/{path}".strip("/")
        for chunks in ({}, None):
            xr.open_zarr(place.store, group=group, chunks=chunks).close()
