"""Prefix of a Zarr store, with blocking methods; the only module that knows store types."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

from zarr.abc.store import ByteRequest, RangeByteRequest, Store
from zarr.core.buffer import Buffer, default_buffer_prototype
from zarr.core.sync import sync
from zarr.storage import LocalStore, StorePath, ZipStore

from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.store.objects.address import check_slashes, is_remote_address
from gangsaw.tasks.store.objects.files import (
    create_file,
    file_bytes,
    file_version,
    follow_link,
    keys_below,
    list_object_files,
    list_partial_files,
    read_file,
    sync_files,
    write_file,
)
from gangsaw.tasks.store.objects.remote import RemoteStore, is_marker, open_remote_store
from gangsaw.tasks.store.objects.stores import StoreAddress
from gangsaw.tasks.store.objects.zipped import is_zip, zip_store

Read = TypeVar("Read")

RETRIES = 3  # reads of a damaged object repeated, for servers that send no checksums
CONCURRENT_READS = 64  # hides the latency of an object store
# metadata of fsspec file systems that change with an object
CHANGES = ("ETag", "etag", "LastModified", "last_modified", "updated", "mtime", "created")


# objects that are checked where an address allows no listing
UNLISTED = ("zarr.json", ".zarray", ".gangsaw/manifest")


class ObjectVersion(NamedTuple):
    """Change stamp of an object, from which a modification is detected without reading the object.

    Attributes
    ----------
    key : key of the object, relative to the prefix
    size : size in bytes
    changed : time of change in ns since 1970; for an object store its ETag and time as reported
    number : inode, or 0 if there is none
    """

    key: str
    size: int
    changed: str
    number: int


@dataclass(frozen=True)
class Prefix:
    """Prefix of a Zarr store, under which objects are read and written; picklable if the store is.

    Attributes
    ----------
    store : any Zarr store
    path : prefix of every key, without leading or trailing slash; "" is the root
    """

    store: Store
    path: str = ""

    def __truediv__(self, name: str) -> Prefix:
        """Return the prefix `name` below this one."""
        return Prefix(self.store, self._key(name))

    def __str__(self) -> str:
        """Return the path or address, as a user would type it."""
        base = str(self.store)
        if isinstance(self.store, LocalStore):
            base = str(self.store.root)
        if isinstance(self.store, ZipStore):
            base = str(self.store.path)
        return f"{base}/{self.path}" if self.path else base

    def get(self, key: str) -> Buffer | None:
        """Return the object, or None if it is absent."""
        if type(self.store) is LocalStore:  # zarr itself would go through two threads
            return read_file(self.store.root / self._key(key))
        return sync(self.store.get(self._key(key), default_buffer_prototype()))

    def has(self, key: str) -> bool:
        """Return True if the object exists."""
        if type(self.store) is LocalStore:
            return (self.store.root / self._key(key)).is_file()
        return sync(self.store.exists(self._key(key)))

    def put(self, key: str, data: Buffer | bytes) -> None:
        """Write the object atomically: readers see the old or the new bytes."""
        if type(self.store) is LocalStore and not self.store.read_only:
            write_file(self.store.root / self._key(key), data)
            return
        if isinstance(data, bytes):
            data = default_buffer_prototype().buffer.from_bytes(data)
        sync(self.store.set(self._key(key), data))

    def create(self, key: str, data: bytes) -> bool:
        """Write the object unless it exists; return True if this call created it.

        If several writers with different bytes try at once, one succeeds. A store without
        conditional writes cannot guarantee that; then a warning is logged.
        """
        if (folder := self.folder) is not None:
            return create_file(folder / key, data)
        if isinstance(self.store, RemoteStore):
            return sync(self.store.create(self._key(key), data))
        buffer = default_buffer_prototype().buffer.from_bytes(data)
        sync(self.store.set_if_not_exists(self._key(key), buffer))
        found = self.get(key)
        return found is not None and found.to_bytes() == data

    def modified(self, key: str) -> float | None:
        """Return the time of the last write in seconds by the store's clock; None if unknown."""
        if (folder := self.folder) is not None:
            try:
                return (folder / key).stat().st_mtime
            except (FileNotFoundError, NotADirectoryError):
                return None
        if not isinstance(self.store, RemoteStore):
            return None
        return sync(self.store.modified(self._key(key)))

    def put_soon(self, key: str, data: Buffer) -> None:
        """Begin to write the object; `settle` waits for it.

        A file is written at once: only its flush to disk takes long.
        """
        if isinstance(self.store, RemoteStore):
            self.store.set_soon(self._key(key), data)
        else:
            self.put(key, data)

    def settle(self, keys: Iterable[str]) -> None:
        """Wait until the objects of `put_soon` are stored; raise the error if a write failed."""
        if isinstance(self.store, RemoteStore):
            for key in keys:
                self.store.settle(self._key(key))

    def put_all(self, objects: Mapping[str, Buffer]) -> None:
        """Write objects concurrently, each atomically."""
        for key, data in objects.items():
            self.put_soon(key, data)
        self.settle(objects)

    def begin(self, key: str, n_bytes: int) -> bool:
        """Begin to read ahead an object of about `n_bytes` bytes; `get` then waits for it.

        Return False if too many bytes are in flight or the store is local.
        """
        return isinstance(self.store, RemoteStore) and self.store.begin(self._key(key), n_bytes)

    def ready(self, key: str) -> None:
        """Wait until a read-ahead of `begin` has ended."""
        if isinstance(self.store, RemoteStore):
            self.store.ready(self._key(key))

    def forget(self, key: str) -> None:
        """Cancel a read-ahead of `begin` that is not needed."""
        if isinstance(self.store, RemoteStore):
            self.store.forget(self._key(key))

    def sizes(self, keys: Sequence[str]) -> list[int | None]:
        """Return the size of each object in bytes, or None if absent; few stores must read it."""
        if (folder := self.folder) is not None:
            return [file_bytes(folder / key) for key in keys]
        if not isinstance(self.store, RemoteStore):
            return [None if found is None else len(found) for found in self.get_many(keys)]
        found = sync(self.store.list_metadata(self.path))
        return [int(str(found[key]["size"])) if key in found else None for key in keys]

    def get_many(self, keys: Iterable[str]) -> list[Buffer | None]:
        """Return the objects in order, or None for absent ones; they are read concurrently."""
        return sync(self._get_many([self._key(key) for key in keys]))

    def get_heads(self, keys: Iterable[str], n_bytes: int) -> list[Buffer | None]:
        """Return the first `n_bytes` bytes of each object, fewer if the object is shorter."""
        if type(self.store) is LocalStore:
            return [read_file(self.store.root / self._key(key), n_bytes) for key in keys]
        head = RangeByteRequest(0, n_bytes)
        return sync(self._get_many([self._key(key) for key in keys], head))

    def check_bucket(self) -> None:
        """Raise BadParams if the bucket of this prefix does not exist."""
        if self.is_remote and isinstance(self.store, RemoteStore):
            sync(self.store.check_bucket())

    def names(self) -> list[str]:
        """Return the sorted names directly below this prefix; [] if it does not exist."""
        return sorted(name for name in sync(self._list_dir()) if name)

    def walk(self) -> Iterator[str]:
        """Yield the key of every object below this prefix, relative to it, in any order."""
        if type(self.store) is LocalStore:
            yield from keys_below(self.store.root / self.path)
            return
        prefix = f"{self.path}/" if self.path else ""
        for key in sync(self._list_prefix(prefix)):
            if not is_marker(key.removeprefix(prefix)):
                yield key.removeprefix(prefix)

    def versions(self) -> Iterator[ObjectVersion]:
        """Yield the change stamp of each object below this prefix, temporary files excepted.

        No object is read, with two exceptions: all of a store that reports only sizes, and UNLISTED
        where an address allows no listing.
        """
        if isinstance(self.store, LocalStore):
            root, folder = self.store.root, self.store.root / self.path
            if root.is_file():  # a store in one file
                yield ObjectVersion("", *file_version(root))
            for path in list_object_files(folder):
                yield ObjectVersion(path.relative_to(folder).as_posix(), *file_version(path))
        elif isinstance(self.store, RemoteStore):
            yield from sync(self._list_versions(self.store)) or self._read_versions(UNLISTED)
        else:
            yield from self._read_versions(sorted(self.walk()))

    def _read_versions(self, keys: Iterable[str]) -> Iterator[ObjectVersion]:
        for key in keys:
            if (data := self.get(key)) is not None:
                found = data.to_bytes()
                yield ObjectVersion(key, len(found), f"{crc32c(found):08x}", 0)

    def delete(self, key: str) -> None:
        """Remove the object if it exists."""
        sync(self.store.delete(self._key(key)))

    def delete_all(self) -> None:
        """Remove every object below this prefix; retry if objects appear or vanish meanwhile.

        A batch that was running when its job failed still writes its chunks.
        """
        for pause in (0.1, 0.4, 1.6, None):
            try:
                sync(self.store.delete_dir(self.path))
                break
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.ENOENT) or pause is None:
                    raise
                time.sleep(pause)

    def flush(self, keys: Iterable[str]) -> None:
        """Flush the objects to disk, so that they survive a power cut.

        The reply of an object store guarantees that. A file system is synced, because LocalStore
        renames but never syncs: otherwise a journal entry could outlive its chunks.
        """
        folder = self.folder
        if folder is None:
            return
        paths = [folder / key for key in keys]
        for batch in (paths, {path.parent for path in paths}):
            sync_files(batch)

    @property
    def folder(self) -> Path | None:
        """Directory of this prefix on a local file system, or None for other stores."""
        return self.store.root / self.path if isinstance(self.store, LocalStore) else None

    @property
    def is_remote(self) -> bool:
        """True if each request goes over a network."""
        return isinstance(self.store, RemoteStore) and is_remote_address(self.store.name)

    @property
    def can_list(self) -> bool:
        """True if the store lists its objects; HTTP servers need not."""
        return not (isinstance(self.store, RemoteStore) and self.store.name.startswith("http"))

    @property
    def is_empty(self) -> bool:
        """True if no object is below the prefix; temporary files do not count."""
        if (folder := self.folder) is not None:
            return (folder.is_dir() and not any(list_object_files(folder))) or not folder.exists()
        return sync(self.store.is_empty(self.path))

    def clean(self) -> int:
        """Remove the temporary files that killed writers left; return their number.

        A writer that is still alive loses at most one rename: that write fails, and is retried.
        """
        found = [] if self.folder is None else list(list_partial_files(self.folder))
        for path in found:
            path.unlink(missing_ok=True)
        return len(found)

    def _key(self, name: str) -> str:
        return f"{self.path}/{name}" if self.path else name

    async def _get_many(
        self, keys: list[str], part: ByteRequest | None = None
    ) -> list[Buffer | None]:
        from zarr.core.common import concurrent_map

        prototype = default_buffer_prototype()
        calls = [(key, prototype, part) for key in keys]
        return await concurrent_map(calls, self.store.get, CONCURRENT_READS)

    async def _list_dir(self) -> list[str]:
        return [name async for name in self.store.list_dir(self.path)]

    async def _list_versions(self, store: RemoteStore) -> list[ObjectVersion]:
        try:
            found = await store.list_metadata(self.path)
        except ConnectionError:
            if store.name.startswith("http"):  # HTTP servers need not support listings
                return []
            raise  # in an outage it would look as if all objects had changed
        except Exception:  # a library's own error: no permission or no support for listings
            return []
        return [
            ObjectVersion(
                key,
                int(str(info.get("size") or 0)),
                " ".join(str(info[name]) for name in CHANGES if info.get(name) is not None),
                0,
            )
            for key, info in found.items()
        ]

    async def _list_prefix(self, prefix: str) -> list[str]:
        return [key async for key in self.store.list_prefix(prefix)]


def retry_read(place: Prefix, read: Callable[[], Read]) -> Read:
    """Return the result of `read`; over a network, retry on CorruptChunk: bits may flip on the way.

    If the stored bytes are damaged, the last try raises CorruptChunk.
    """
    for _ in range(RETRIES if place.is_remote else 0):
        with suppress(CorruptChunk):
            return read()
    return read()


def open_prefix(target: str | Path | Store | StorePath, *, writable: bool = False) -> Prefix:
    """Return the prefix of a path, an address or a Zarr store, without creating anything.

    Raises BadParams if a symbolic link to be written to leads to a missing folder or to itself.
    """
    if isinstance(target, StoreAddress):
        target = target.place
    if isinstance(target, StorePath):
        return Prefix(target.store, target.path)
    if isinstance(target, Store):
        return Prefix(target)
    if isinstance(target, str) and "://" in target and not target.startswith("file://"):
        return Prefix(open_remote_store(target, read_only=not writable))
    if is_zip(str(target)) and not writable:
        return Prefix(zip_store(str(target)))
    check_slashes(target)
    path = Path(str(target).removeprefix("file://")).absolute()
    if writable and not path.exists():  # a folder cannot be created by the name of a link
        path = follow_link(path)
    return Prefix(LocalStore(path, read_only=not writable))
