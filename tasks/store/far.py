"""Stores at addresses: requests that are tried again, begun early, and told of in our words."""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache, partial
from typing import TypeVar, cast
from weakref import WeakSet

from zarr.abc.store import ByteRequest
from zarr.core.buffer import Buffer, BufferPrototype, default_buffer_prototype
from zarr.core.common import concurrent_map
from zarr.core.sync import sync
from zarr.storage import FsspecStore, WrapperStore

from gangsaw.codecs.core.errors import BadParams, GangsawError, first_line
from gangsaw.codecs.core.extras import extras_named
from gangsaw.tasks.store.address import options_of

READ_BYTES = 32 << 20  # begun and not asked for yet, of a process: 160 MB/s at 0.2 s a request
WRITE_BYTES = 32 << 20  # not yet stored, likewise
REQUESTS = 64  # connections of a process to one store
PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)  # seconds between tries: a short outage passes unseen

# What file systems are opened with unless the user says otherwise. `max_concurrency` above 1 makes
# s3fs ask for the size of every object before it is read; listings that are kept show no change.
DEFAULTS: Mapping[str, Mapping[str, object]] = {
    "s3": {
        "max_concurrency": 1,
        "use_listings_cache": False,
        "config_kwargs": {
            "max_pool_connections": REQUESTS,
            "connect_timeout": 10,
            "read_timeout": 60,
            "retries": {"total_max_attempts": 1},  # these are tried again here
        },
    }
}
# what file systems of fsspec call the time of the last change
WRITTEN = ("LastModified", "last_modified", "updated", "mtime", "created")
NO_CREDENTIALS = ("NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError")
FINAL = (GangsawError, FileExistsError, ImportError, NotImplementedError, MemoryError)

PATTERNS = frozenset("*?[")  # fsspec removes what matches a path with one of them

T = TypeVar("T")


@dataclass
class Allowance:
    """Bytes that may be in flight; one object always may, however large it is.

    Attributes
    ----------
    limit : bytes
    used : bytes
    """

    limit: int
    used: int = 0
    changed: threading.Condition = field(default_factory=threading.Condition)

    def enter(self, n_bytes: int, *, wait: bool) -> bool:
        """Take room; return False where there is none and nobody wants to wait for it."""
        with self.changed:
            while self.used and self.used + n_bytes > self.limit:
                if not wait:
                    return False
                self.changed.wait()
            self.used += n_bytes
            return True

    def leave(self, n_bytes: int) -> None:
        """Give it back."""
        with self.changed:
            self.used -= n_bytes
            self.changed.notify_all()


CLOSE_SECONDS = 2.0  # that sessions have at the end of a process
_file_systems: WeakSet[object] = WeakSet()  # of fsspec, that this process opened


@atexit.register  # zarr ends the loop later, as it was imported earlier
def close_sessions() -> None:
    """Close the connections of this process, which complain at its end where they are open."""
    for one in list(_file_systems):
        with suppress(Exception):
            sync(_closed(one), timeout=CLOSE_SECONDS)


async def _closed(file_system: object) -> None:
    if (creator := getattr(file_system, "_s3creator", None)) is not None:
        await creator.__aexit__(None, None, None)
    if (session := getattr(file_system, "_session", None)) is not None:
        await session.close()


READS, WRITES = Allowance(READ_BYTES), Allowance(WRITE_BYTES)


class FarStore(WrapperStore[FsspecStore]):
    """A store behind a network.

    Parameters
    ----------
    store : as zarr opens it
    name : its address, as the user wrote it
    """

    def __init__(self, store: FsspecStore, name: str = "") -> None:
        super().__init__(store)
        self.name = name
        _file_systems.add(store.fs)
        self._begun: dict[str, tuple[Future[Buffer | None], int]] = {}
        self._writing: dict[str, Future[None]] = {}

    def __reduce__(self) -> tuple[object, ...]:
        """Survive pickling without what is in flight."""
        return type(self), (self._store, self.name)

    def __str__(self) -> str:
        """Return the address."""
        return self.name

    def _with_store(self, store: FsspecStore) -> FarStore:
        return type(self)(store, self.name)

    def with_read_only(self, read_only: bool = False) -> FarStore:
        """Return the same store, read-only or not."""
        return self._with_store(self._store.with_read_only(read_only))

    def begin(self, key: str, n_bytes: int) -> bool:
        """Begin to read an object that will be asked for; False where too much is in flight."""
        if key in self._begun:
            return True
        if not READS.enter(n_bytes, wait=False):
            return False
        reading = self._fetch(key, default_buffer_prototype(), None)
        self._begun[key] = asyncio.run_coroutine_threadsafe(reading, _loop(os.getpid())), n_bytes
        return True

    def ready(self, key: str) -> None:
        """Wait until an object that was begun is here, or failed."""
        if (begun := self._begun.get(key)) is not None:
            begun[0].exception()

    def forget(self, key: str) -> None:
        """Let go of an object that was begun and is not needed."""
        if (begun := self._begun.pop(key, None)) is not None:
            begun[0].cancel()
            READS.leave(begun[1])

    def set_soon(self, key: str, value: Buffer) -> None:
        """Begin to write an object; `settle` waits for it."""
        n_bytes = len(value)
        WRITES.enter(n_bytes, wait=True)

        async def write() -> None:
            try:
                await self.set(key, value)
            finally:
                WRITES.leave(n_bytes)

        self._writing[key] = asyncio.run_coroutine_threadsafe(write(), _loop(os.getpid()))

    def settle(self, key: str) -> None:
        """Wait until an object is stored; raise what prevented that."""
        if (writing := self._writing.pop(key, None)) is not None:
            writing.result()

    async def get(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Return an object or a part of it, None where there is none."""
        is_plain = byte_range is None and prototype == default_buffer_prototype()
        begun = self._begun.pop(key, None) if is_plain else None
        if begun is None:
            return await self._fetch(key, prototype, byte_range)
        try:
            return await asyncio.wrap_future(begun[0])
        finally:
            READS.leave(begun[1])

    async def _fetch(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None
    ) -> Buffer | None:
        return await self._tried(lambda: self._store.get(key, prototype, byte_range), key)

    async def exists(self, key: str) -> bool:
        """Return whether the object is there."""
        return await self._tried(lambda: self._store.exists(key), key)

    async def set(self, key: str, value: Buffer) -> None:
        """Write an object."""
        await self._tried(lambda: self._store.set(key, value), key)

    async def delete(self, key: str) -> None:
        """Remove an object if it is there."""
        await self._tried(lambda: self._removed(key), key)

    async def delete_dir(self, prefix: str) -> None:
        """Remove all objects below a prefix."""
        if PATTERNS.isdisjoint(f"{self._store.path}/{prefix}"):
            await self._tried(lambda: self._store.delete_dir(prefix), prefix)
            return
        keys = [(f"{prefix}/{key}".lstrip("/"),) for key in await self.found(prefix)]
        await concurrent_map(keys, self.delete, REQUESTS)

    async def _removed(self, key: str) -> None:
        with suppress(FileNotFoundError):  # no `_rm`, which would take the key for a pattern
            await self._store.fs._rm_file(f"{self._store.path}/{key}")

    async def is_empty(self, prefix: str) -> bool:
        """Return whether there is nothing below a prefix: one name is asked for, not all."""
        return not await self._listed(self._store.list_dir, prefix)

    def list(self) -> AsyncIterator[str]:
        """Yield all keys."""
        return self._each(lambda _: self._store.list(), "")

    def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """Yield the keys that begin so."""
        return self._each(self._store.list_prefix, prefix)

    def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """Yield the names directly below a prefix."""
        return self._each(self._store.list_dir, prefix)

    async def found(self, prefix: str) -> dict[str, dict[str, object]]:
        """Return what a listing tells of each object below a prefix, by key below it."""
        root = f"{self._store.path}/{prefix}".rstrip("/")
        told = await self._tried(lambda: self._store.fs._find(root, detail=True), prefix)
        return {path.removeprefix(root).lstrip("/"): info for path, info in told.items()}

    async def check_bucket(self) -> None:
        """Raise BadParams where not even the bucket is there: for who found nothing below it."""
        bucket = self._store.path.strip("/").partition("/")[0]
        if not await self._tried(lambda: self._store.fs._exists(bucket), ""):
            raise BadParams(f"{self.name}: no such bucket or folder: make it first")

    async def create(self, key: str, data: bytes) -> bool:
        """Write an object that is not there; False where it is, or another writer was first.

        A lost reply looks like another writer, so what is there decides.
        """
        path = f"{self._store.path}/{key}"
        write = partial(self._store.fs._pipe_file, path, data, mode="create")
        try:
            await self._tried(write, key)
        except FileExistsError:
            found = await self._fetch(key, default_buffer_prototype(), None)
            return found is not None and found.to_bytes() == data
        return True

    async def modified(self, key: str) -> float | None:
        """Return when an object was written, in seconds since 1970; None where nothing tells."""
        info = await self._tried(lambda: self._store.fs._info(f"{self._store.path}/{key}"), key)
        found = next((info[name] for name in WRITTEN if info.get(name) is not None), None)
        if isinstance(found, datetime):
            return found.timestamp()
        return float(found) if isinstance(found, int | float) else None

    async def _each(
        self, listing: Callable[[str], AsyncIterator[str]], prefix: str
    ) -> AsyncIterator[str]:
        for name in await self._listed(listing, prefix):
            yield name

    async def _listed(
        self, listing: Callable[[str], AsyncIterator[str]], prefix: str
    ) -> Iterable[str]:
        async def names() -> list_of_names:
            return [name async for name in listing(prefix)]

        return await self._tried(names, prefix)

    async def _tried(self, call: Callable[[], Awaitable[T]], key: str) -> T:
        """Return the reply; some errors pass, so that a few tries are made."""
        where = f"{self.name}/{key}".rstrip("/")
        for pause in PAUSES:
            try:
                return await call()
            except Exception as error:
                _check_final(error, self.name)
            await asyncio.sleep(pause)
        try:
            return await call()
        except Exception as error:
            _check_final(error, self.name)
            n, what = len(PAUSES) + 1, f"{type(error).__name__}: {first_line(error)}"
            raise ConnectionError(
                f"{where}: no answer in {n} tries: check address and network ({what})"
            ) from error


@lru_cache(maxsize=1)
def _loop(process: int) -> asyncio.AbstractEventLoop:
    """Return the event loop of zarr in this process, which the connections belong to."""

    async def running() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    return sync(running())


list_of_names = list[str]  # in the class, list is a method


def _check_final(error: Exception, name: str) -> None:
    """Raise an error that no other try would help against, in our words where we have some."""
    if isinstance(error, FINAL):
        raise error
    if isinstance(error, TypeError):  # a keyword that nothing takes
        raise BadParams(f"{name}: {first_line(error)}: check storage_options") from error
    if isinstance(error, FileNotFoundError):
        raise BadParams(f"{name}: no such bucket or folder: make it first") from error
    if isinstance(error, PermissionError):
        raise BadParams(
            f"{name}: access denied ({first_line(error)}): check the credentials and their rights"
        ) from error
    if type(error).__name__ in NO_CREDENTIALS:
        raise BadParams(
            f"{name}: no credentials: set them in the environment, such as AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY, in the files of the provider's tools, or in storage_options"
        ) from error


def far_store(address: str, *, read_only: bool) -> FarStore:
    """Open the store at an address; nothing is asked of it yet.

    Raises BadParams for an unknown protocol or a package that is not installed.
    """
    protocol = address.partition("://")[0]
    options = _merged(DEFAULTS.get(protocol, {}), options_of(address))
    try:
        with extras_named():
            store = FsspecStore.from_url(
                str.__str__(address), storage_options=dict(options), read_only=read_only
            )
    except ImportError as error:
        raise BadParams(f"{address}: {protocol}:// needs a package: {first_line(error)}") from error
    except ValueError as error:
        raise BadParams(f"{address}: {first_line(error)}") from error
    return FarStore(store, str.__str__(address).rstrip("/"))


def _merged(a: Mapping[str, object], b: Mapping[str, object]) -> dict[str, object]:
    """Return both, of what both have that of b, mappings merged likewise."""
    both = {k for k in a if isinstance(a[k], dict) and isinstance(b.get(k), dict)}
    inner = {k: _merged(_mapping(a[k]), _mapping(b[k])) for k in both}
    return {**a, **b, **inner}


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value)
