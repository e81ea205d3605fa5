"""Direct reader of whole chunks of an array of any writer, in the calling thread.

Zarr itself passes each chunk through its event loop and its threads, and copies it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Self, TypeAlias

import numpy as np
from zarr.core.buffer import Buffer
from zarr.core.metadata import ArrayV3Metadata

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import ChunkError, CorruptChunk
from gangsaw.tasks.sources.source import Region
from gangsaw.tasks.store.arrays.chunks import ChunkGrid, ZarrArray
from gangsaw.tasks.store.arrays.codec_pipeline import CodecChain
from gangsaw.tasks.store.arrays.grids import regular_chunks
from gangsaw.tasks.store.objects.prefix import Prefix

Span: TypeAlias = "slice[int, int, int | None]"
Check: TypeAlias = Callable[[str, Buffer], None]


@dataclass(frozen=True)
class WholeChunks:
    """Reader of whole chunks of an array, which decodes them without zarr.

    Attributes
    ----------
    metadata : zarr.json of the array
    place : store prefix of the array
    grid : chunk grid of the array
    chain : codecs of the array
    is_whole : True if every chunk must exist; else an absent chunk means fill values
    check : function of key and stored bytes that raises CorruptChunk for bytes other than those
        that the job stored, or None
    """

    metadata: ArrayV3Metadata
    place: Prefix
    grid: ChunkGrid
    chain: CodecChain
    is_whole: bool
    check: Check | None = None

    @classmethod
    def for_array(
        cls, array: ZarrArray, place: Prefix, *, is_whole: bool, check: Check | None = None
    ) -> Self | None:
        """Return the reader of an array, or None if only zarr can read its chunks."""
        if regular_chunks(array) is None:
            return None
        chain, metadata = CodecChain.for_array(array), array.metadata
        if chain is None or not isinstance(metadata, ArrayV3Metadata):
            return None
        grid = ChunkGrid(array.shape, array.chunks)
        return cls(metadata, place, grid, chain, is_whole, check)

    def covers(self, region: Region) -> bool:
        """Return True if a region consists of whole chunks; zarr reads other regions."""
        return all(
            self.grid.is_inside(position, region) for position in self.grid.overlapping(region)
        )

    def read(self, region: Region) -> NumpyArray:
        """Return the samples of a region that consists of whole chunks.

        Raises
        ------
        CorruptChunk : a chunk is damaged or missing; names store and chunk
        """
        out = np.empty([s.stop - s.start for s in region], self.chain.dtype)
        for position in self.grid.overlapping(region):
            self._read(position, out[tuple(self._spans(position, region))])
        return out

    def _read(self, position: tuple[int, ...], out: NumpyArray) -> None:
        key = self.metadata.encode_chunk_key(position)
        try:
            if (stored := self.place.get(key)) is not None:
                if self.check is not None:
                    self.check(key, stored)
                self.chain.decode_into(stored, out)
            elif self.is_whole:
                raise CorruptChunk("missing: Zarr would read fill values")
            else:
                out[...] = self.metadata.fill_value
        except ChunkError as error:
            raise error.at(store=str(self.place), chunk=key) from error

    def _spans(self, position: tuple[int, ...], region: Region) -> Iterator[Span]:
        steps = zip(position, self.grid.chunks, self.grid.shape, region, strict=True)
        return (slice(i * c - s.start, min((i + 1) * c, n) - s.start) for i, c, n, s in steps)
