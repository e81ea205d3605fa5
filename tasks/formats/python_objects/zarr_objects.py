"""Sources made of open Zarr arrays and groups, versions 2 and 3, read from their own store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import zarr
from zarr.storage import LocalStore, MemoryStore

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.store.objects.arrays_only import accepts_only_arrays, wrap_arrays_only_store
from gangsaw.tasks.store.objects.stores import store_address
from gangsaw.tasks.store.source import ZarrSource, open_zarr

if TYPE_CHECKING:
    from distributed import Client
    from zarr.types import AnyArray


def from_zarr(
    value: AnyArray | zarr.Group,
    client: Client | None = None,
    variables: Sequence[str] = (),
    *,
    accept_loss: bool = False,
) -> ZarrSource:
    """Return an open Zarr array or group as a source.

    Raises BadParams for unsupported arrays, and for a store in the memory of this process if
    workers would have to read it.
    """
    if client is not None and isinstance(value.store, MemoryStore):
        raise BadParams("a MemoryStore is in this process alone: leave client= out")
    store, path = value.store, value.path
    if isinstance(store, LocalStore):
        address = str(store.root / path) if path else str(store.root)
        return open_zarr(address, "", variables, accept_loss=accept_loss)
    address = store_address(wrap_arrays_only_store(store) if accepts_only_arrays(store) else store)
    return open_zarr(address, path, variables, accept_loss=accept_loss)
