"""Open Zarr stores as addresses, for functions that accept addresses."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias, cast

import zarr
from zarr.abc.store import Store
from zarr.storage import FsspecStore, LocalStore, MemoryStore, StorePath, ZipStore

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.store.objects.address import Address
from gangsaw.tasks.store.objects.arrays_only import accepts_only_arrays, wrap_arrays_only_store
from gangsaw.tasks.store.objects.remote import RemoteStore

StoreLike: TypeAlias = "str | Path | Store | StorePath | zarr.Group"


class StoreAddress(Address):
    """Address of a path in a store that the caller opened, with a reference to that store.

    Attributes
    ----------
    place : the store, and a path in it
    """

    place: StorePath

    def __eq__(self, other: object) -> bool:
        """Return True if both name the same path of the same store."""
        return (
            isinstance(other, StoreAddress)
            and str.__eq__(self, other) is True
            and self.place.store == other.place.store
        )

    def __ne__(self, other: object) -> bool:
        """Return True if store or path differ."""
        return not self == other

    __hash__ = str.__hash__

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle store and path, if the store can be pickled."""
        return store_address, (self.place.store, self.place.path)


def store_address(store: Store, path: str = "") -> StoreAddress:
    """Return the address of a path in an open store."""
    base = f"memory://{id(store)}" if isinstance(store, MemoryStore) else str(store)
    if "://" not in base:
        base = f"{type(store).__name__.lower()}://{id(store):x}"
    if type(store) is FsspecStore:  # zarr would list it endlessly below the marker of a folder
        store = RemoteStore(store, base)
    made = cast("StoreAddress", StoreAddress.__new__(StoreAddress, f"{base}/{path}".rstrip("/")))
    made.place = StorePath(store, path)
    return made


def as_address(
    store_like: StoreLike,
    options: Mapping[str, object] | None = None,
    *,
    client: object = None,
    is_writable: bool = False,
) -> str:
    """Return the address of a store: a path, an address with options, or that of an open store.

    Raises
    ------
    TypeError : the argument is no store
    BadParams : the store is open in this process alone but a client's workers need it, or it is
        read-only but is to be written
    """
    if isinstance(store_like, str | Path):
        is_address = isinstance(store_like, str) and "://" in store_like
        return Address(str(store_like), options) if options and is_address else str(store_like)
    place = _place_of(store_like)
    if place is None:
        kind = type(store_like).__name__
        raise TypeError(f"got {kind}: a store is a path, an address or an open Zarr store or group")
    store, path = place
    if isinstance(store, LocalStore):
        return str(store.root / path)
    if client is not None and (isinstance(store, MemoryStore) or accepts_only_arrays(store)):
        kind = type(store).__name__
        raise BadParams(f"{kind} is open in this process alone: leave client= out")
    if isinstance(store, ZipStore):
        return str(store.path)
    if is_writable and store.read_only:
        raise BadParams(f"{type(store).__name__} is open to read: open it to write")
    return store_address(
        wrap_arrays_only_store(store) if accepts_only_arrays(store) else store, path
    )


def _place_of(opened: object) -> tuple[Store, str] | None:
    """Return store and path of an open Zarr store, `StorePath`, group or array; None for others."""
    if isinstance(opened, Store):
        return opened, ""
    if isinstance(opened, StorePath | zarr.Group):
        return opened.store, opened.path
    inner = getattr(opened, "store", None)  # of an Icechunk session
    return (inner, "") if isinstance(inner, Store) else None
