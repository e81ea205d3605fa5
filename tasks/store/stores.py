"""Open Zarr stores under a name: what takes an address takes them, too."""

from __future__ import annotations

from typing import cast

from zarr.abc.store import Store
from zarr.storage import MemoryStore, StorePath

from gangsaw.tasks.store.address import Address


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
        base = f"{type(store).__name__.lower()}://{base}"
    made = cast("StoreAddress", StoreAddress.__new__(StoreAddress, f"{base}/{path}".rstrip("/")))
    made.place = StorePath(store, path)
    return made
