"""Open Zarr stores under a name: what takes an address takes them, too."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias, cast

import zarr
from zarr.abc.store import Store
from zarr.storage import LocalStore, MemoryStore, StorePath, ZipStore

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.store.address import Address
from gangsaw.tasks.store.strict import is_strict, strict_store

StoreLike: TypeAlias = "str | Path | Store | StorePath | zarr.Group"


class StoreAddress(Address):
    """The name of a place in an open store, which travels with it.

    Attributes
    ----------
    place : the store, and a path in it
    """

    place: StorePath

    def __eq__(self, other: object) -> bool:
        """Whether it is the same place of the same store."""
        return (
            isinstance(other, StoreAddress)
            and str.__eq__(self, other) is True
            and self.place.store == other.place.store
        )

    def __ne__(self, other: object) -> bool:
        """Whether it is another place."""
        return not self == other

    __hash__ = str.__hash__

    def __reduce__(self) -> tuple[object, ...]:
        """Survive pickling, where the store does."""
        return store_address, (self.place.store, self.place.path)


def store_address(store: Store, path: str = "") -> StoreAddress:
    """Return the name of a place in an open store."""
    base = f"memory://{id(store)}" if isinstance(store, MemoryStore) else str(store)
    if "://" not in base:
        base = f"{type(store).__name__.lower()}://{id(store):x}"
    made = cast("StoreAddress", StoreAddress.__new__(StoreAddress, f"{base}/{path}".rstrip("/")))
    made.place = StorePath(store, path)
    return made


def as_address(
    given: StoreLike,
    options: Mapping[str, object] | None = None,
    *,
    client: object = None,
    is_writable: bool = False,
) -> str:
    """Return what a store is opened by: a path or an address with its options, or it is open.

    Raises TypeError for what is no store, BadParams for one that is open in this process alone
    where a client's workers would need it, and for one that is open to read where it is to be
    written.
    """
    if isinstance(given, str | Path):
        is_address = isinstance(given, str) and "://" in given
        return Address(str(given), options) if options and is_address else str(given)
    place = _place_of(given)
    if place is None:
        kind = type(given).__name__
        raise TypeError(f"got {kind}: a store is a path, an address or an open Zarr store or group")
    store, path = place
    if isinstance(store, LocalStore):
        return str(store.root / path)
    if client is not None and (isinstance(store, MemoryStore) or is_strict(store)):
        kind = type(store).__name__
        raise BadParams(f"{kind} is open in this process alone: leave client= out")
    if isinstance(store, ZipStore):
        return str(store.path)
    if is_writable and store.read_only:
        raise BadParams(f"{type(store).__name__} is open to read: open it to write")
    return store_address(strict_store(store) if is_strict(store) else store, path)


def _place_of(given: object) -> tuple[Store, str] | None:
    """Return the store of what is open, and the path in it."""
    if isinstance(given, Store):
        return given, ""
    if isinstance(given, StorePath | zarr.Group):
        return given.store, given.path
    inner = getattr(given, "store", None)  # of a session
    return (inner, "") if isinstance(inner, Store) else None
