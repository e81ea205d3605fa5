"""Open arrays and groups of Zarr, of either version, as sources: read where their store is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import zarr
from zarr.storage import LocalStore, MemoryStore

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.store.source import ZarrSource, open_zarr
from gangsaw.tasks.store.stores import store_address
from gangsaw.tasks.store.strict import is_strict, strict_store

if TYPE_CHECKING:
    from distributed import Client
    from zarr.types import AnyArray


def from_zarr(
    given: AnyArray | zarr.Group,
    client: Client | None = None,
    variables: Sequence[str] = (),
    *,
    accept_loss: bool = False,
) -> ZarrSource:
    """Return an open array or group as a source.

    Raises BadParams for what cannot be stored, and for a store in the memory of this process that
    workers would have to read.
    """
    if client is not None and isinstance(given.store, MemoryStore):
        raise BadParams("a MemoryStore is in this process alone: leave client= out")
    store, path = given.store, given.path
    if isinstance(store, LocalStore):
        address = str(store.root / path) if path else str(store.root)
        return open_zarr(address, "", variables, accept_loss=accept_loss)
    address = store_address(strict_store(store) if is_strict(store) else store)
    return open_zarr(address, path, variables, accept_loss=accept_loss)
