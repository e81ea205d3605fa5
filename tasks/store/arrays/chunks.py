"""Chunks of an array: numbers, regions and keys, and encoding to the bytes that Zarr stores."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import TypeAlias

import numpy as np
import zarr
from zarr.core.buffer import Buffer, default_buffer_prototype
from zarr.core.metadata import ArrayV2Metadata, ArrayV3Metadata
from zarr.storage import MemoryStore

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.sources.source import Region
from gangsaw.tasks.store.arrays.codec_pipeline import CodecChain

ZarrArray: TypeAlias = "zarr.Array[ArrayV2Metadata] | zarr.Array[ArrayV3Metadata]"

METADATA = "zarr.json"
README = "README.md"  # next to METADATA
MOST_CHUNKS = 1 << 24  # chunks in an array: jobs and surveys list them; 512 TiB in chunks of 32 MiB


@dataclass(frozen=True)
class ChunkGrid:
    """Grid of the chunks of an array, numbered in C order.

    Attributes
    ----------
    shape : extents of the array, in samples
    chunks : extents of a chunk, in samples; of a shard if the array has shards
    """

    shape: tuple[int, ...]
    chunks: tuple[int, ...]

    @property
    def counts(self) -> tuple[int, ...]:
        """Number of chunks along each axis."""
        return tuple(-(-n // c) for n, c in zip(self.shape, self.chunks, strict=True))

    @property
    def n_chunks(self) -> int:
        """Number of chunks."""
        return math.prod(self.counts)

    def check_count(self, name: str) -> None:
        """Raise BadParams if `name` has more than MOST_CHUNKS chunks, which no job can list."""
        if self.n_chunks > MOST_CHUNKS:
            shape, chunks = (" x ".join(map(str, sizes)) for sizes in (self.shape, self.chunks))
            raise BadParams(
                f"{name}: {shape} samples are {self.n_chunks:,} chunks of {chunks}, more than the "
                f"{MOST_CHUNKS:,} that one array may have: use larger chunks, or divide it into "
                "several arrays, if its metadata are right"
            )

    def position(self, number: int) -> tuple[int, ...]:
        """Return the index of a chunk along each axis."""
        found = []
        for count in reversed(self.counts):
            number, i = divmod(number, count)
            found.append(i)
        return tuple(reversed(found))

    def region(self, number: int) -> Region:
        """Return the region of samples of a chunk, clipped to the array."""
        steps = zip(self.position(number), self.chunks, self.shape, strict=True)
        return tuple(slice(i * c, min((i + 1) * c, n)) for i, c, n in steps)

    def n_samples(self, number: int) -> int:
        """Return the number of samples in a chunk's region."""
        return math.prod(s.stop - s.start for s in self.region(number))

    def overlapping(self, region: Region) -> Iterator[tuple[int, ...]]:
        """Yield the position of each chunk that overlaps the region."""
        pairs = zip(region, self.chunks, strict=True)
        return product(*(range(s.start // c, -(-s.stop // c)) for s, c in pairs))

    def is_inside(self, position: tuple[int, ...], region: Region) -> bool:
        """Return True if all samples of the chunk at this position are in the region."""
        steps = zip(position, self.chunks, self.shape, region, strict=True)
        return all(s.start <= i * c and min((i + 1) * c, n) <= s.stop for i, c, n, s in steps)


class ArrayCoder:
    """Encoder and decoder of single chunks in memory, with the same bytes as Zarr writes.

    The journal's checksum is computed before the bytes are stored. Computed from bytes that are
    read back, it would certify the errors of a faulty disk or network.

    Parameters
    ----------
    metadata : the array's zarr.json

    Attributes
    ----------
    array : the array, in memory, without chunks
    grid : its chunks, or its shards if it has shards
    dtype : dtype of its samples
    chain : codecs of the array if they can be called without zarr, else None
    """

    def __init__(self, metadata: bytes) -> None:
        as_buffer = default_buffer_prototype().buffer.from_bytes
        self._objects: dict[str, Buffer] = {METADATA: as_buffer(metadata)}
        array = zarr.open_array(MemoryStore(self._objects), mode="r+")
        # an all-fill chunk is stored too: an absent key must always mean "not done"
        self.array: ZarrArray = array.with_config({"write_empty_chunks": True})
        self.grid = ChunkGrid(array.shape, array.shards or array.chunks)
        self.dtype: Dtype = array.dtype
        self.chain = CodecChain.for_array(self.array)

    @property
    def chunk_bytes(self) -> int:
        """Raw bytes of a whole chunk, padding included."""
        return math.prod(self.grid.chunks) * self.dtype.itemsize

    def key(self, number: int) -> str:
        """Return the key of a chunk, relative to the array."""
        return self.array.metadata.encode_chunk_key(self.grid.position(number))

    def encode(self, number: int, samples: NumpyArray) -> Buffer:
        """Return the encoded bytes of a chunk.

        Parameters
        ----------
        samples : samples of the chunk's region
        """
        if self.chain is not None:
            return self.chain.encode(samples)
        self.array[self.grid.region(number)] = samples
        return self._objects.pop(self.key(number))

    def decode(self, number: int, stored: Buffer) -> NumpyArray:
        """Return the samples of a chunk's region; the array may be read-only."""
        if self.chain is not None:
            shape = tuple(s.stop - s.start for s in self.grid.region(number))
            return self.chain.decode(stored, shape)
        key = self.key(number)
        self._objects[key] = stored
        try:
            return np.asarray(self.array[self.grid.region(number)], self.dtype)  # 0-d text is str
        finally:
            del self._objects[key]


@contextmanager
def borrow_coder(metadata: bytes) -> Iterator[ArrayCoder]:
    """Yield a cached coder of the array with this zarr.json, for one thread at a time.

    A coder has one in-memory store, in which two threads with the same chunk would use one key.
    Creating a coder opens the array, so coders are reused.
    """
    free = _free_coders(metadata)
    try:
        coder = free.pop()
    except IndexError:
        coder = ArrayCoder(metadata)
    yield coder
    free.append(coder)  # not after an error, which may leave an object in the coder


def chunk_key(metadata: bytes, number: int) -> str:
    """Return the key of a chunk, relative to its array."""
    return _keys(metadata).key(number)


def chunk_grid(metadata: bytes) -> ChunkGrid:
    """Return the chunk grid of the array with this zarr.json."""
    return _keys(metadata).grid


def chunk_region(metadata: bytes, number: int) -> Region:
    """Return the region of samples of a chunk, clipped to the array."""
    return _keys(metadata).grid.region(number)


@lru_cache(maxsize=256)
def _free_coders(_: bytes) -> deque[ArrayCoder]:
    return deque()


@lru_cache(maxsize=256)
def _keys(metadata: bytes) -> ArrayCoder:
    return ArrayCoder(metadata)  # keys are read-only: threads share this coder
