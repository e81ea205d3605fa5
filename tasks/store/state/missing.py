"""Detection of missing and damaged chunks in a store that a job wrote.

Zarr would return fill values for missing ones, and wrong samples for damaged ones of codecs without
a checksum: their stored bytes are compared with the manifest, as `verify` does.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from math import prod
from threading import Lock
from typing import Self, TypeVar

import numpy as np
from zarr.abc.store import ByteRequest, OffsetByteRequest, RangeByteRequest, Store
from zarr.core.buffer import Buffer, BufferPrototype
from zarr.core.metadata import ArrayV3Metadata
from zarr.storage import WrapperStore

from gangsaw.codecs.core.arrays import Dtype
from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.tasks.sources.source import Region
from gangsaw.tasks.store.arrays.chunks import METADATA as OWN_METADATA
from gangsaw.tasks.store.arrays.chunks import ChunkGrid, ZarrArray
from gangsaw.tasks.store.arrays.codec_pipeline import has_checksum
from gangsaw.tasks.store.arrays.grids import regular_chunks
from gangsaw.tasks.store.arrays.growth import growths_of
from gangsaw.tasks.store.arrays.keys import ChunkKeys
from gangsaw.tasks.store.objects.prefix import Prefix
from gangsaw.tasks.store.state.job_folder import FolderState, JobFolder
from gangsaw.tasks.store.state.journal import metadata_digest
from gangsaw.tasks.store.state.manifest import Manifest, open_manifest
from gangsaw.tasks.store.state.records import check_stored

METADATA = ("zarr.json", ".zarray", ".zattrs", ".zgroup", ".zmetadata")

Result = TypeVar("Result")


@dataclass(frozen=True)
class KnownChunks:
    """Chunks of an array whose stored bytes its manifest still describes.

    Attributes
    ----------
    manifest : manifest of the array; None if none is valid
    counts : number of chunks in the manifest along each axis
    known : number of these chunks along each axis that no other program may have rewritten
    """

    manifest: Manifest | None = None
    counts: tuple[int, ...] = ()
    known: tuple[int, ...] = ()

    def row(self, position: tuple[int, ...]) -> np.void | None:
        """Return the record of the chunk at this position, or None if there is no valid one."""
        if self.manifest is None or any(i >= n for i, n in zip(position, self.known, strict=True)):
            return None
        number = int(np.ravel_multi_index(position, self.counts)) if position else 0
        try:
            part = self.manifest.part(number // self.manifest.part_rows)
        except CorruptChunk:  # of the manifest, not of the chunk
            return None
        row: np.void = part.rows[number - part.first]
        return row


class RecordedChunks:
    """Chunks of a finished array, compared with its manifest, which is read at the first use.

    Parameters
    ----------
    array : array that a job wrote
    """

    def __init__(self, array: ZarrArray) -> None:
        self._place, self._dtype = _place(array), array.dtype
        self._keys = ChunkKeys(array, ChunkGrid(array.shape, array.shards or array.chunks))
        self._lock = Lock()
        self._found: KnownChunks | None = None

    @classmethod
    def for_array(cls, array: ZarrArray) -> Self | None:
        """Return the chunks of an array; None if a codec detects damage, or their sizes differ."""
        found = array.metadata
        if not isinstance(found, ArrayV3Metadata) or has_checksum(found.codecs):
            return None
        return None if regular_chunks(array) is None else cls(array)

    @property
    def is_in_memory(self) -> bool:
        """True if a comparison reads nothing from the store."""
        found = self._found
        return found is not None and (found.manifest is None or found.manifest.whole is not None)

    def check(self, key: str, stored: Buffer) -> None:
        """Raise CorruptChunk if the stored bytes of a chunk differ from its record.

        A chunk without a record is not checked.
        """
        if not self.is_same(key, stored):
            self.check_again(key, stored)

    def is_same(self, key: str, stored: Buffer) -> bool:
        """Return True if the stored bytes match the record of a chunk, or it has none."""
        if (row := self._row(key)) is None:
            return True
        with suppress(CorruptChunk):
            check_stored(stored, row)
            return True
        return False

    def check_again(self, key: str, stored: Buffer) -> None:
        """Do as `check` with a manifest read anew: another job may have replaced the store."""
        found = _known_chunks(self._place, self._keys.grid, self._dtype)
        self._found = found  # never None again: threads of zarr's pool must not read
        if (row := self._row(key)) is not None:
            check_stored(stored, row)

    def _row(self, key: str) -> np.void | None:
        if (number := self._keys.number(key)) is None:
            return None
        return self._known().row(self._keys.grid.position(number))

    def _known(self) -> KnownChunks:
        with self._lock:  # many threads begin at once
            if self._found is None:
                self._found = _known_chunks(self._place, self._keys.grid, self._dtype)
            return self._found


def _known_chunks(place: Prefix, grid: ChunkGrid, dtype: Dtype) -> KnownChunks:
    """Return the chunks of an array with a valid record; none without a job or a valid manifest.

    Coordinates, which have no job of their own, may be edited by other programs.
    """
    if not JobFolder(place).has_job:
        return KnownChunks()
    try:
        manifest = open_manifest(place)
    except CorruptChunk:
        return KnownChunks()
    if manifest is None:
        return KnownChunks()
    has_all = manifest.n_chunks == grid.n_chunks
    is_as_long = manifest.raw_bytes == prod(grid.shape) * dtype.itemsize
    if has_all and is_as_long and dtype.kind not in "OT":  # texts have bytes of any number
        return KnownChunks(manifest, grid.counts, grid.counts)
    return _known_if_grown(place, grid, dtype, manifest)


def _known_if_grown(
    place: Prefix, grid: ChunkGrid, dtype: Dtype, manifest: Manifest
) -> KnownChunks:
    """Return the chunks with a valid record of an array that another program may have extended.

    A growth is sure if the former metadata have the digest in the job. Otherwise the last chunks
    along each axis, which may have been written again, count as unknown; and all chunks if their
    number has changed.
    """
    digest = _digest_of_job(place)
    has_all = manifest.n_chunks == grid.n_chunks
    stored = place.get(OWN_METADATA)
    with suppress(ValueError):
        metadata = json.loads(b"" if stored is None else stored.to_bytes())
        if has_all and metadata_digest(metadata) == digest:
            return KnownChunks(manifest, grid.counts, grid.counts)
        for growth in growths_of(grid, dtype, manifest.n_chunks, manifest.raw_bytes):
            shape = list(grid.shape)
            shape[growth.axis] = growth.before or 0
            if metadata_digest({**metadata, "shape": shape}) == digest:
                return KnownChunks(manifest, growth.counts, growth.known)
    if not has_all:
        return KnownChunks()
    return KnownChunks(manifest, grid.counts, tuple(n - 1 for n in grid.counts))


def _digest_of_job(place: Prefix) -> str:
    """Return the digest of the array's metadata in its job; "" without a valid job."""
    try:
        return JobFolder(place).text("array")
    except CorruptChunk:
        return ""


class CompleteStore(WrapperStore[Store]):
    """Store that raises CorruptChunk for absent and damaged objects except metadata.

    Parameters
    ----------
    store : the wrapped store
    path : path of the array, for messages
    records : comparison of its chunks with their records, or None
    """

    def __init__(self, store: Store, path: str = "", records: RecordedChunks | None = None) -> None:
        super().__init__(store)
        self.path, self.records = path, records

    def _with_store(self, store: Store) -> CompleteStore:
        return type(self)(store, self.path, self.records)

    def __str__(self) -> str:
        """Return the name of the wrapped store, for messages."""
        return str(self._store)

    async def get(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Return an object or a range of its bytes; raise CorruptChunk for a wrong chunk."""
        if key.rpartition("/")[2] in METADATA:
            return await self._store.get(key, prototype, byte_range)
        chunk = key.removeprefix(f"{self.path}/")
        try:
            return await self._chunk(key, chunk, prototype, byte_range)
        except CorruptChunk as error:
            raise error.at(store=str(Prefix(self._store, self.path)), chunk=chunk) from error

    async def _chunk(
        self, key: str, chunk: str, prototype: BufferPrototype, byte_range: ByteRequest | None
    ) -> Buffer:
        records = self.records
        wanted = byte_range if records is None else None  # a record is of all bytes
        found = await self._store.get(key, prototype, wanted)
        if found is None:
            raise CorruptChunk("missing: Zarr would read fill values")
        if records is None:
            return found
        if records.is_in_memory:
            is_same = await asyncio.to_thread(records.is_same, chunk, found)
        else:
            is_same = await _in_new_thread(records.is_same, chunk, found)
        if not is_same:
            await _in_new_thread(records.check_again, chunk, found)
        return found if byte_range is None else _cut(found, byte_range)


async def _in_new_thread(
    function: Callable[[str, Buffer], Result], key: str, stored: Buffer
) -> Result:
    """Return the result of a function that may read from the store.

    If all threads of zarr's pool waited for such reads, none would be left to read.
    """
    pool = ThreadPoolExecutor(1)
    try:
        return await asyncio.get_running_loop().run_in_executor(pool, function, key, stored)
    finally:
        pool.shutdown(wait=False)


def _cut(stored: Buffer, wanted: ByteRequest) -> Buffer:
    """Return the requested range of an object's bytes, as a store would."""
    if isinstance(wanted, RangeByteRequest):
        return stored[wanted.start : wanted.end]
    if isinstance(wanted, OffsetByteRequest):
        return stored[wanted.offset :]
    return stored[max(0, len(stored) - wanted.suffix) :]


def must_be_complete(array: ZarrArray) -> bool:
    """Return True if a finished job wrote the array, so that every chunk must exist.

    In the store of any other writer an absent chunk means fill values.

    Raises
    ------
    BadParams
        The job that writes it is not finished.
    """
    place = _place(array)
    state = JobFolder(place).state
    if state is FolderState.UNFINISHED:
        raise BadParams(f"the job that writes {place} is not finished: run it with --resume first")
    return state is FolderState.FINISHED


def refuse_missing(array: ZarrArray, region: Region) -> None:
    """Raise CorruptChunk for the first chunk of the region that is absent."""
    place, grid = _place(array), ChunkGrid(array.shape, array.shards or array.chunks)
    for position in grid.overlapping(region):
        key = array.metadata.encode_chunk_key(position)
        if not place.has(key):
            raise CorruptChunk("missing: Zarr would read fill values", store=str(place), chunk=key)


def _place(array: ZarrArray) -> Prefix:
    return Prefix(array.store, array.path)
