"""Stores behind a network: retried requests, read-ahead, write-behind, and errors with advice."""

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
from functools import lru_cache
from typing import TypeVar, cast
from weakref import WeakSet

from zarr.abc.store import ByteRequest
from zarr.core.buffer import Buffer, BufferPrototype, default_buffer_prototype
from zarr.core.common import concurrent_map
from zarr.core.sync import sync
from zarr.storage import FsspecStore, WrapperStore

from gangsaw.codecs.core.errors import BadParams, GangsawError, JobFailed, first_line
from gangsaw.codecs.core.plugins.extras import extras_named
from gangsaw.tasks.store import exclusive
from gangsaw.tasks.store.objects.address import options_of

READ_BYTES = 32 << 20  # per process, of objects read ahead: 160 MB/s at 0.2 s a request
WRITE_BYTES = 32 << 20  # per process, of objects not yet stored
REQUESTS = 64  # connections of a process to one store
PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)  # seconds between tries: a short outage passes unnoticed

# Options of file systems unless the user sets others. `max_concurrency` above 1 makes s3fs request
# the size of every object before it reads it; cached listings hide changes.
DEFAULTS: Mapping[str, Mapping[str, object]] = {
    "s3": {
        "max_concurrency": 1,
        "use_listings_cache": False,
        "config_kwargs": {
            "max_pool_connections": REQUESTS,
            "connect_timeout": 10,
            "read_timeout": 60,
            "retries": {"total_max_attempts": 1},  # retries are made here
        },
    }
}
# names that fsspec file systems give the time of the last change
WRITTEN = ("LastModified", "last_modified", "updated", "mtime", "created")
NO_CREDENTIALS = ("NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError")
FINAL = (GangsawError, FileExistsError, ImportError, NotImplementedError, MemoryError)

PATTERNS = frozenset("*?[")  # fsspec takes a path with one of these for a pattern

T = TypeVar("T")


@dataclass
class Allowance:
    """Limit of the bytes of concurrent reads or writes; a single object may be larger.

    Attributes
    ----------
    limit : largest number of bytes in flight
    used : bytes in flight now
    """

    limit: int
    used: int = 0
    changed: threading.Condition = field(default_factory=threading.Condition)

    def enter(self, n_bytes: int, *, wait: bool) -> bool:
        """Reserve bytes; return False if the limit is reached and `wait` is False."""
        with self.changed:
            while self.used and self.used + n_bytes > self.limit:
                if not wait:
                    return False
                self.changed.wait()
            self.used += n_bytes
            return True

    def leave(self, n_bytes: int) -> None:
        """Release reserved bytes."""
        with self.changed:
            self.used -= n_bytes
            self.changed.notify_all()


CLOSE_SECONDS = 2.0  # time limit for closing sessions at the end of a process
_file_systems: WeakSet[object] = WeakSet()  # fsspec file systems that this process opened


@atexit.register  # exit handlers run in reverse order: zarr's loop, imported earlier, still runs
def close_sessions() -> None:
    """Close the connections of this process: open ones would log errors at its end."""
    for one in list(_file_systems):
        with suppress(Exception):
            sync(_closed(one), timeout=CLOSE_SECONDS)


async def _closed(file_system: object) -> None:
    if (creator := getattr(file_system, "_s3creator", None)) is not None:
        await creator.__aexit__(None, None, None)
    if (session := getattr(file_system, "_session", None)) is not None:
        await session.close()


READS, WRITES = Allowance(READ_BYTES), Allowance(WRITE_BYTES)


class RemoteStore(WrapperStore[FsspecStore]):
    """Store behind a network, with read-ahead, concurrent writes and retries.

    Parameters
    ----------
    store : store as zarr opens it
    name : its address, as the user wrote it
    """

    def __init__(self, store: FsspecStore, name: str = "") -> None:
        super().__init__(store)
        self.name = name
        _file_systems.add(store.fs)
        self._begun: dict[str, tuple[Future[Buffer | None], int]] = {}
        self._writing: dict[str, Future[None]] = {}

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the store without its requests in flight."""
        return type(self), (self._store, self.name)

    def __str__(self) -> str:
        """Return the address."""
        return self.name

    def _with_store(self, store: FsspecStore) -> RemoteStore:
        return type(self)(store, self.name)

    def with_read_only(self, read_only: bool = False) -> RemoteStore:
        """Return the same store with this access mode."""
        return self._with_store(self._store.with_read_only(read_only))

    def begin(self, key: str, n_bytes: int) -> bool:
        """Begin to read an object ahead; return False if too many bytes are in flight."""
        if key in self._begun:
            return True
        if not READS.enter(n_bytes, wait=False):
            return False
        reading = self._fetch(key, default_buffer_prototype(), None)
        self._begun[key] = asyncio.run_coroutine_threadsafe(reading, _loop(os.getpid())), n_bytes
        return True

    def ready(self, key: str) -> None:
        """Wait until a read-ahead of an object has succeeded or failed."""
        if (begun := self._begun.get(key)) is not None:
            begun[0].exception()

    def forget(self, key: str) -> None:
        """Cancel a read-ahead of an object that is not needed."""
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
        """Wait until an object is stored; raise the error if the write failed."""
        if (writing := self._writing.pop(key, None)) is not None:
            writing.result()

    async def get(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Return an object or a range of its bytes; None if the object is absent."""
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
        return await self._retry(lambda: self._store.get(key, prototype, byte_range), key)

    async def exists(self, key: str) -> bool:
        """Return True if the object exists."""
        return await self._retry(lambda: self._store.exists(key), key)

    async def set(self, key: str, value: Buffer) -> None:
        """Write an object."""
        await self._retry(lambda: self._store.set(key, value), key)

    async def delete(self, key: str) -> None:
        """Remove an object if it exists."""
        await self._retry(lambda: self._remove(key), key)

    async def delete_dir(self, prefix: str) -> None:
        """Remove all objects below a prefix."""
        if PATTERNS.isdisjoint(f"{self._store.path}/{prefix}"):
            await self._retry(lambda: self._store.delete_dir(prefix), prefix)
            return
        keys = [(f"{prefix}/{key}".lstrip("/"),) for key in await self.list_metadata(prefix)]
        await concurrent_map(keys, self.delete, REQUESTS)

    async def _remove(self, key: str) -> None:
        with suppress(FileNotFoundError):  # `_rm` would take the key for a pattern
            await self._store.fs._rm_file(f"{self._store.path}/{key}")

    async def is_empty(self, prefix: str) -> bool:
        """Return True if no object is below a prefix; only direct children are listed."""
        return not [name async for name in self.list_dir(prefix)]

    async def list(self) -> AsyncIterator[str]:
        """Yield all keys."""
        for key in await self._listed(lambda _: self._store.list(), ""):
            if not is_marker(key):
                yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """Yield the keys with this prefix."""
        for key in await self._listed(self._store.list_prefix, prefix):
            if not is_marker(key):
                yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """Yield the names directly below a prefix, each once."""
        names = await self._listed(self._store.list_dir, prefix)
        for name in dict.fromkeys(name.strip("/") for name in names):
            if name:  # else it is the marker of this folder, which is no child of itself
                yield name

    async def list_metadata(self, prefix: str) -> dict[str, dict[str, object]]:
        """List the objects below a prefix; return the listed metadata of each by relative key."""
        root = f"{self._store.path}/{prefix}".rstrip("/")
        told = await self._retry(lambda: self._store.fs._find(root, detail=True), prefix)
        found = {path.removeprefix(root).lstrip("/"): info for path, info in told.items()}
        return {key: info for key, info in found.items() if not is_marker(key)}

    async def check_bucket(self) -> None:
        """Raise BadParams if the bucket does not exist; called when nothing was found below it."""
        bucket = self._store.path.strip("/").partition("/")[0]
        if not await self._retry(lambda: self._store.fs._exists(bucket), ""):
            raise BadParams(f"{self.name}: no such bucket or folder: make it first")

    async def create(self, key: str, data: bytes) -> bool:
        """Write an object unless it exists; return False if it exists or another writer was first.

        A lost reply looks like another writer, so the stored bytes decide.
        """
        fs = self._store.fs
        server = getattr(fs, "_fs_token", id(fs)), self._store.path.partition("/")[0]
        return await exclusive.create_exclusively(self, server, key, data)

    async def put_if_absent(self, key: str, data: bytes) -> bool:
        """Write an object on the condition that it does not exist; return False if it exists.

        Raises NotImplementedError if server or library do not know this condition.
        """

        async def write() -> None:
            try:
                await self._store.fs._pipe_file(f"{self._store.path}/{key}", data, mode="create")
            except Exception as error:
                if exclusive.is_unknown_condition(error):
                    raise NotImplementedError(str(error)) from error
                raise

        try:
            await self._retry(write, key)
        except FileExistsError:
            return False
        return True

    async def modified(self, key: str) -> float | None:
        """Return the time of the last write in seconds since 1970, or None if it is unknown."""

        async def described() -> Mapping[str, object]:
            try:
                return dict(await self._store.fs._info(f"{self._store.path}/{key}"))
            except FileNotFoundError:
                return {}

        info = await self._retry(described, key)
        found = next((info[name] for name in WRITTEN if info.get(name) is not None), None)
        if isinstance(found, datetime):
            return found.timestamp()
        return float(found) if isinstance(found, int | float) else None

    async def _listed(
        self, listing: Callable[[str], AsyncIterator[str]], prefix: str
    ) -> Iterable[str]:
        async def names() -> list_of_names:
            return [name async for name in listing(prefix)]

        return await self._retry(names, prefix)

    async def _retry(self, call: Callable[[], Awaitable[T]], key: str) -> T:
        """Return the reply to a request; transient errors are retried after each of PAUSES."""
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
    """Return zarr's event loop in this process, in which the connections live."""

    async def running() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    return sync(running())


def is_marker(key: str) -> bool:
    """Return True for the key of an empty object that marks a folder and is no object of a store.

    Consoles and tools of object stores write them: `t.zarr/` and `t.zarr/data/`.
    """
    return not key or key.endswith("/")


list_of_names = list[str]  # alias: inside the class, list is a method


def _check_final(error: Exception, name: str) -> None:
    """Raise an error that no retry would fix, with advice if there is any; return for others."""
    if isinstance(error, FINAL):
        raise error
    if isinstance(error, TypeError):  # an unknown keyword argument
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


def open_remote_store(address: str, *, read_only: bool) -> RemoteStore:
    """Open the store at an address; most file systems send no request yet.

    Raises BadParams for an unknown protocol or missing package, JobFailed if there is no reply.
    """
    protocol = address.partition("://")[0]
    options = _merge_options(DEFAULTS.get(protocol, {}), options_of(address))
    try:
        with extras_named():
            store = FsspecStore.from_url(
                str.__str__(address), storage_options=dict(options), read_only=read_only
            )
    except ImportError as error:
        raise BadParams(f"{address}: {protocol}:// needs a package: {first_line(error)}") from error
    except ValueError as error:
        raise BadParams(f"{address}: {first_line(error)}") from error
    except OSError as error:  # some file systems connect at once
        raise JobFailed(f"{address}: {first_line(error)}: check address and network") from error
    return RemoteStore(store, str.__str__(address).rstrip("/"))


def _merge_options(a: Mapping[str, object], b: Mapping[str, object]) -> dict[str, object]:
    """Merge two option mappings recursively; values of `b` override those of `a`."""
    both = {k for k in a if isinstance(a[k], dict) and isinstance(b.get(k), dict)}
    inner = {k: _merge_options(_mapping(a[k]), _mapping(b[k])) for k in both}
    return {**a, **b, **inner}


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value)
