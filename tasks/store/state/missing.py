"""Missing chunks of a store that a job wrote: Zarr would silently read fill values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr.abc.store import ByteRequest, Store
from zarr.core.buffer import Buffer, BufferPrototype
from zarr.storage import WrapperStore

from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.tasks.source import Region
from gangsaw.tasks.store.chunks import ChunkGrid, ZarrArray
from gangsaw.tasks.store.place import Place
from gangsaw.tasks.store.state.target import state_of

if TYPE_CHECKING:
    pass

METADATA = ("zarr.json", ".zarray", ".zattrs", ".zgroup", ".zmetadata")


class WholeStore(WrapperStore[Store]):
    """A store that raises for objects that are not there, metadata apart: no request asks first.

    Parameters
    ----------
    store : the store
    path : of the array that is read, for messages
    """

    def __init__(self, store: Store, path: str = "") -> None:
        super().__init__(store)
        self.path = path

    def _with_store(self, store: Store) -> WholeStore:
        return type(self)(store, self.path)

    def __str__(self) -> str:
        """As the store itself, which messages name."""
        return str(self._store)

    async def get(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Return an object or a part of it; raise CorruptChunk for a chunk that is not there."""
        found = await self._store.get(key, prototype, byte_range)
        if found is None and key.rpartition("/")[2] not in METADATA:
            where, chunk = str(Place(self._store, self.path)), key.removeprefix(f"{self.path}/")
            raise CorruptChunk("missing: Zarr would read fill values", store=where, chunk=chunk)
        return found


def must_be_whole(array: ZarrArray) -> bool:
    """Return whether a finished job wrote the array, so that every chunk must be there.

    In the store of any other writer an absent chunk legally means fill values.

    Raises
    ------
    BadParams
        The job that writes it is not finished.
    """
    place = _place(array)
    began, finished = state_of(place)
    if began and not finished:
        raise BadParams(f"the job that writes {place} is not finished: run it with --resume first")
    return finished


def refuse_missing(array: ZarrArray, region: Region) -> None:
    """Raise CorruptChunk for the first chunk of the region that is not there."""
    place, grid = _place(array), ChunkGrid(array.shape, array.shards or array.chunks)
    for position in grid.touched(region):
        key = array.metadata.encode_chunk_key(position)
        if not place.has(key):
            raise CorruptChunk("missing: Zarr would read fill values", store=str(place), chunk=key)


def _place(array: ZarrArray) -> Place:
    return Place(array.store, array.path)
