"""Objects of a Zarr store by plain calls: the only file here that knows kinds of stores."""

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
from gangsaw.tasks.store.address import is_far
from gangsaw.tasks.store.far import FarStore, far_store
from gangsaw.tasks.store.files import (
    create_file,
    file_stamp,
    keys_below,
    objects,
    partials,
    read_file,
    size_of,
    sync_files,
    write_file,
)
from gangsaw.tasks.store.stores import StoreAddress
from gangsaw.tasks.store.zipped import is_zip, zip_store

Read = TypeVar("Read")

AGAIN = 3  # damaged objects are read, of servers that send no checksums
READS_IN_FLIGHT = 64  # hides the latency of an object store
# what file systems of fsspec call what changes with an object
CHANGES = ("ETag", "etag", "LastModified", "last_modified", "updated", "mtime", "created")


# what tells of an array where an address lists nothing
UNLISTED = ("zarr.json", ".zarray", ".gangsaw/manifest")


class ObjectStamp(NamedTuple):
    """What shows that an object changed.

    Attributes
    ----------
    key : below the place
    size : bytes
    changed : time of change, ns since 1970; of an object store its ETag and time, as it has them
    number : inode; 0 where there is none
    """

    key: str
    size: int
    changed: str
    number: int


@dataclass(frozen=True)
class Place:
    """A prefix of a Zarr store; picklable where the store is.

    Attributes
    ----------
    store : any Zarr store
    path : prefix of every key, without slashes at its ends; "" is the root
    """

    store: Store
    path: str = ""

    def __truediv__(self, name: str) -> Place:
        """Return the place below this one."""
        return Place(self.store, self._key(name))

    def __str__(self) -> str:
        """Return the path or address, as a user would type it."""
        base = str(self.store)
        if isinstance(self.store, LocalStore):
            base = str(self.store.root)
        if isinstance(self.store, ZipStore):
            base = str(self.store.path)
        return f"{base}/{self.path}" if self.path else base

    def get(self, key: str) -> Buffer | None:
        """Return the object, or None where there is none."""
        if type(self.store) is LocalStore:  # zarr itself would go through two threads
            return read_file(self.store.root / self._key(key))
        return sync(self.store.get(self._key(key), default_buffer_prototype()))

    def has(self, key: str) -> bool:
        """Return whether the object is there."""
        if type(self.store) is LocalStore:
            return (self.store.root / self._key(key)).is_file()
        return sync(self.store.exists(self._key(key)))

    def put(self, key: str, data: Buffer | bytes) -> None:
        """Write the object atomically: readers see the old or the new one."""
        if type(self.store) is LocalStore and not self.store.read_only:
            write_file(self.store.root / self._key(key), data)
            return
        if isinstance(data, bytes):
            data = default_buffer_prototype().buffer.from_bytes(data)
        sync(self.store.set(self._key(key), data))

    def create(self, key: str, data: bytes) -> bool:
        """Write the object where there is none; return whether it was this call that did.

        Of several that try at once one succeeds, on file systems and where the server can tell.
        """
        if (folder := self.folder) is not None:
            return create_file(folder / key, data)
        if isinstance(self.store, FarStore):
            return sync(self.store.create(self._key(key), data))
        if self.has(key):
            return False
        self.put(key, data)
        return True

    def modified(self, key: str) -> float | None:
        """Return when the object was written, in seconds by the store's clock; None if unknown."""
        if (folder := self.folder) is not None:
            path = folder / key
            return path.stat().st_mtime if path.exists() else None
        if not isinstance(self.store, FarStore):
            return None
        return sync(self.store.modified(self._key(key)))

    def put_soon(self, key: str, data: Buffer) -> None:
        """Begin to write the object; it is there when `settle` returns.

        A file is there at once: what takes time on a disk is to flush it.
        """
        if isinstance(self.store, FarStore):
            self.store.set_soon(self._key(key), data)
        else:
            self.put(key, data)

    def settle(self, keys: Iterable[str]) -> None:
        """Return when the objects that `put_soon` began are there; raise what prevented that."""
        if isinstance(self.store, FarStore):
            for key in keys:
                self.store.settle(self._key(key))

    def put_all(self, objects: Mapping[str, Buffer]) -> None:
        """Write objects side by side, each atomically."""
        for key, data in objects.items():
            self.put_soon(key, data)
        self.settle(objects)

    def begin(self, key: str, n_bytes: int) -> bool:
        """Begin to read an object of about so many bytes, for which `get` then waits.

        Returns False where too many bytes are on their way already, or nothing is gained by it.
        """
        return isinstance(self.store, FarStore) and self.store.begin(self._key(key), n_bytes)

    def ready(self, key: str) -> None:
        """Wait for an object that `begin` began."""
        if isinstance(self.store, FarStore):
            self.store.ready(self._key(key))

    def forget(self, key: str) -> None:
        """Let go of an object that `begin` began and nobody asked for."""
        if isinstance(self.store, FarStore):
            self.store.forget(self._key(key))

    def sizes(self, keys: Sequence[str]) -> list[int | None]:
        """Return the bytes of the objects, None for each that is absent; most stores read none."""
        if (folder := self.folder) is not None:
            return [size_of(folder / key) for key in keys]
        if not isinstance(self.store, FarStore):
            return [None if found is None else len(found) for found in self.get_many(keys)]
        found = sync(self.store.found(self.path))
        return [int(str(found[key]["size"])) if key in found else None for key in keys]

    def get_many(self, keys: Iterable[str]) -> list[Buffer | None]:
        """Return the objects in order, None for each that is absent, read side by side."""
        return sync(self._get_many([self._key(key) for key in keys]))

    def get_heads(self, keys: Iterable[str], n_bytes: int) -> list[Buffer | None]:
        """Return the first bytes of the objects, fewer where an object is shorter."""
        if type(self.store) is LocalStore:
            return [read_file(self.store.root / self._key(key), n_bytes) for key in keys]
        head = RangeByteRequest(0, n_bytes)
        return sync(self._get_many([self._key(key) for key in keys], head))

    def check_bucket(self) -> None:
        """Raise BadParams where the bucket of this place is not there: nothing can be below it."""
        if self.is_far and isinstance(self.store, FarStore):
            sync(self.store.check_bucket())

    def names(self) -> list[str]:
        """Return the sorted names directly below this place, [] where it does not exist."""
        return sorted(sync(self._list_dir()))

    def walk(self) -> Iterator[str]:
        """Yield the key of every object below this place, relative to it, in any order."""
        if type(self.store) is LocalStore:
            yield from keys_below(self.store.root / self.path)
            return
        prefix = f"{self.path}/" if self.path else ""
        for key in sync(self._list_prefix(prefix)):
            yield key.removeprefix(prefix)

    def stamps(self) -> Iterator[ObjectStamp]:
        """Yield what shows that an object changed, of all below this place; temporary files apart.

        No object is read, except of a store that tells no more than sizes, and metadata and
        manifest where an address lets nobody list what there is.
        """
        if isinstance(self.store, LocalStore):
            root, folder = self.store.root, self.store.root / self.path
            if root.is_file():  # a store in one file
                yield ObjectStamp("", *file_stamp(root))
            for path in objects(folder):
                yield ObjectStamp(path.relative_to(folder).as_posix(), *file_stamp(path))
        elif isinstance(self.store, FarStore):
            yield from sync(self._list_stamps(self.store)) or self._read_stamps(UNLISTED)
        else:
            yield from self._read_stamps(sorted(self.walk()))

    def _read_stamps(self, keys: Iterable[str]) -> Iterator[ObjectStamp]:
        for key in keys:
            if (data := self.get(key)) is not None:
                found = data.to_bytes()
                yield ObjectStamp(key, len(found), f"{crc32c(found):08x}", 0)

    def delete(self, key: str) -> None:
        """Remove the object if it is there."""
        sync(self.store.delete(self._key(key)))

    def delete_all(self) -> None:
        """Remove every object below this place, again where one came or went meanwhile.

        A batch that already ran when a job failed still writes what it has.
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
        """Return when the objects would survive a power cut.

        The reply of an object store means that. A file system is synced, since LocalStore renames
        but never syncs: otherwise a journal entry could outlive its chunks.
        """
        folder = self.folder
        if folder is None:
            return
        paths = [folder / key for key in keys]
        for batch in (paths, {path.parent for path in paths}):
            sync_files(batch)

    @property
    def folder(self) -> Path | None:
        """The directory on this machine's file system, or None for another kind of store."""
        return self.store.root / self.path if isinstance(self.store, LocalStore) else None

    @property
    def is_far(self) -> bool:
        """Whether each request goes over a network."""
        return isinstance(self.store, FarStore) and is_far(self.store.name)

    @property
    def is_empty(self) -> bool:
        """Whether no object is there; looking creates nothing, temporary files do not count."""
        if (folder := self.folder) is not None:
            return (folder.is_dir() and not any(objects(folder))) or not folder.exists()
        return sync(self.store.is_empty(self.path))

    def clean(self) -> int:
        """Remove the temporary files that killed writers left; return how many there were.

        A writer that is still alive loses at most one rename: that write fails, and is retried.
        """
        found = [] if self.folder is None else list(partials(self.folder))
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
        return await concurrent_map(calls, self.store.get, READS_IN_FLIGHT)

    async def _list_dir(self) -> list[str]:
        return [name async for name in self.store.list_dir(self.path)]

    async def _list_stamps(self, store: FarStore) -> list[ObjectStamp]:
        try:
            found = await store.found(self.path)
        except ConnectionError:
            if store.name.startswith("http"):  # those servers need not list
                return []
            raise  # in an outage it would look as if all objects had changed
        except Exception:  # of any library: not everyone may list, and not every server can
            return []
        return [
            ObjectStamp(
                key,
                int(str(info.get("size") or 0)),
                " ".join(str(info[name]) for name in CHANGES if info.get(name) is not None),
                0,
            )
            for key, info in found.items()
        ]

    async def _list_prefix(self, prefix: str) -> list[str]:
        return [key async for key in self.store.list_prefix(prefix)]


def read_again(place: Place, read: Callable[[], Read]) -> Read:
    """Return what is read; over a network again where it is damaged: a bit may flip on the way.

    What lies damaged in the store raises CorruptChunk as often.
    """
    for _ in range(AGAIN if place.is_far else 0):
        with suppress(CorruptChunk):
            return read()
    return read()


def open_place(target: str | Path | Store | StorePath, *, writable: bool = False) -> Place:
    """Return the place that a path, an address or a Zarr store names; create nothing."""
    if isinstance(target, StoreAddress):
        target = target.place
    if isinstance(target, StorePath):
        return Place(target.store, target.path)
    if isinstance(target, Store):
        return Place(target)
    if isinstance(target, str) and "://" in target and not target.startswith("file://"):
        return Place(far_store(target, read_only=not writable))
    if is_zip(str(target)) and not writable:
        return Place(zip_store(str(target)))
    path = Path(str(target).removeprefix("file://")).absolute()
    return Place(LocalStore(path, read_only=not writable))
