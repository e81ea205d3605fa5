"""Stores that accept arrays alone, such as an Icechunk session: a journal cannot lie among them.

The other objects of a job are in the memory of this process: no later process can resume the job or
find a manifest. The user's commit decides which chunks count.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

from zarr.abc.store import ByteRequest, Store
from zarr.core.buffer import Buffer, BufferPrototype, default_buffer_prototype
from zarr.storage import MemoryStore, WrapperStore

STRICT = {"icechunk"}  # packages of stores that reject other keys than those of Zarr
METADATA = "zarr.json"
CHUNKS = "c"  # first part of chunk keys


def accepts_only_arrays(store: Store) -> bool:
    """Return True if a store, such as Icechunk's, accepts only Zarr metadata and chunks."""
    return type(store).__module__.partition(".")[0] in STRICT


class ArraysOnlyStore(WrapperStore[Store]):
    """Wrapper of a store that accepts only Zarr metadata and chunks; other objects stay in memory.

    Parameters
    ----------
    store : store of metadata and chunks
    in_memory : store of the other objects; None creates an empty one
    """

    def __init__(self, store: Store, in_memory: MemoryStore | None = None) -> None:
        super().__init__(store)
        self.in_memory = in_memory or MemoryStore()

    def _with_store(self, store: Store) -> ArraysOnlyStore:
        return type(self)(store, self.in_memory)

    def __eq__(self, other: object) -> bool:
        """Return True if both wrap the same store."""
        return isinstance(other, ArraysOnlyStore) and self._store == other._store

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        """Return the name of the store."""
        return f"{type(self._store).__name__.lower()}://{id(self._store):x}"

    def _store_of(self, key: str) -> Store:
        """Return the wrapped store or the in-memory store, whichever a key belongs to."""
        *above, name = key.split("/")
        is_array = name == METADATA or CHUNKS in (*above, name)
        is_ours = any(part.startswith(".") for part in above)
        return self._store if is_array and not is_ours else self.in_memory

    async def get(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Return an object or a range of its bytes; None if it is absent."""
        found: Buffer | None = None
        with _absent():
            found = await self._store_of(key).get(key, prototype, byte_range)
        return await self.in_memory.get(key, prototype, byte_range) if found is None else found

    async def exists(self, key: str) -> bool:
        """Return True if the object exists."""
        with _absent():
            if await self._store_of(key).exists(key):
                return True
        return await self.in_memory.exists(key)

    async def set(self, key: str, value: Buffer) -> None:
        """Write an object; a chunk is buffered until the metadata of its array is written."""
        try:
            await self._store_of(key).set(key, value)
        except Exception as error:
            if not _is_absence(error) or key.endswith(METADATA):
                raise
            await self.in_memory.set(key, value)
            return
        if key.endswith(METADATA):
            await self._settle(key.removesuffix(METADATA))

    async def _settle(self, array: str) -> None:
        """Write the buffered chunks of an array to the store."""
        prefix = f"{array}{CHUNKS}"
        for key in [key async for key in self.in_memory.list_prefix(prefix)]:
            value = await self.in_memory.get(key, default_buffer_prototype())
            if value is not None and self._store_of(key) is self._store:
                await self._store.set(key, value)
                await self.in_memory.delete(key)

    async def set_if_not_exists(self, key: str, value: Buffer) -> None:
        """Write an object unless it exists."""
        if not await self.exists(key):
            await self.set(key, value)

    async def delete(self, key: str) -> None:
        """Remove an object."""
        await self._store_of(key).delete(key)

    async def delete_dir(self, prefix: str) -> None:
        """Remove all objects below a prefix."""
        await self.in_memory.delete_dir(prefix)
        if not any(part.startswith(".") for part in prefix.split("/")):
            await self._store.delete_dir(prefix)

    async def is_empty(self, prefix: str) -> bool:
        """Return True if no object is below a prefix."""
        return await self.in_memory.is_empty(prefix) and await self._store.is_empty(prefix)

    async def list(self) -> AsyncIterator[str]:
        """Yield all keys."""
        for store in (self._store, self.in_memory):
            async for key in store.list():
                yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """Yield the keys with this prefix."""
        for store in self._with(prefix):
            async for key in store.list_prefix(prefix):
                yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """Yield the names directly below a prefix."""
        found: set[str] = set()
        for store in self._with(prefix):
            async for name in store.list_dir(prefix):
                if name not in found:
                    found.add(name)
                    yield name

    def _with(self, prefix: str) -> tuple[Store, ...]:
        is_ours = any(part.startswith(".") for part in prefix.split("/"))
        return (self.in_memory,) if is_ours else (self._store, self.in_memory)


@contextmanager
def _absent() -> Iterator[None]:
    """Suppress the exceptions by which a store reports an absent object."""
    try:
        yield
    except Exception as error:
        if not _is_absence(error):
            raise


def _is_absence(error: Exception) -> bool:
    is_theirs = type(error).__module__.partition(".")[0] in STRICT
    return isinstance(error, KeyError) or (is_theirs and "not found" in str(error))


_KNOWN: deque[ArraysOnlyStore] = deque(maxlen=8)


def wrap_arrays_only_store(store: Store) -> ArraysOnlyStore:
    """Wrap a store, with the in-memory objects that recent jobs of this process left for it."""
    for known in list(_KNOWN):
        if known._store == store:
            return ArraysOnlyStore(store, known.in_memory)
    _KNOWN.append(made := ArraysOnlyStore(store))
    return made
