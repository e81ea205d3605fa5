"""Detection of missing chunks in a store that a job wrote: Zarr would return fill values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr.abc.store import ByteRequest, Store
from zarr.core.buffer import Buffer, BufferPrototype
from zarr.storage import WrapperStore

from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.tasks.sources.source import Region
from gangsaw.tasks.store.arrays.chunks import ChunkGrid, ZarrArray
from gangsaw.tasks.store.objects.prefix import Place
from gangsaw.tasks.store.state.target import state_of

if TYPE_CHECKING:
    pass

METADATA = ("zarr.json", ".zarray", ".zattrs", ".zgroup", ".zmetadata")


class WholeStore(WrapperStore[Store]):
    """Store that raises CorruptChunk for absent objects except metadata, without further requests.

    Parameters
    ----------
    store : the wrapped store
    path : path of the array, for messages
    """

    def __init__(self, store: Store, path: str = "") -> None:
        super().__init__(store)
        self.path = path

    def _with_store(self, store: Store) -> WholeStore:
        return type(self)(store, self.path)

    def __str__(self) -> str:
        """Return the name of the wrapped store, for messages."""
        return str(self._store)

    async def get(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Return an object or a range of its bytes; raise CorruptChunk for an absent chunk."""
        found = await self._store.get(key, prototype, byte_range)
        if found is None and key.rpartition("/")[2] not in METADATA:
            where, chunk = str(Place(self._store, self.path)), key.removeprefix(f"{self.path}/")
            raise CorruptChunk("missing: Zarr would read fill values", store=where, chunk=chunk)
        return found


def must_be_whole(array: ZarrArray) -> bool:
    """Return True if a finished job wrote the array, so that every chunk must exist.

    In the store of any other writer an absent chunk means fill values.

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
    """Raise CorruptChunk for the first chunk of the region that is absent."""
    place, grid = _place(array), ChunkGrid(array.shape, array.shards or array.chunks)
    for position in grid.touched(region):
        key = array.metadata.encode_chunk_key(position)
        if not place.has(key):
            raise CorruptChunk("missing: Zarr would read fill values", store=str(place), chunk=key)


def _place(array: ZarrArray) -> Place:
    return Place(array.store, array.path)
