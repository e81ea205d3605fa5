"""Whole chunks of an array of any writer, read and decoded in this thread.

Zarr itself hands each chunk through its event loop and its threads, and copies it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, TypeAlias

import numpy as np
from zarr.core.metadata import ArrayV3Metadata

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import ChunkError, CorruptChunk
from gangsaw.tasks.source import Region
from gangsaw.tasks.store.chain import CodecChain
from gangsaw.tasks.store.chunks import ChunkGrid, ZarrArray
from gangsaw.tasks.store.grids import regular_chunks
from gangsaw.tasks.store.place import Place

Span: TypeAlias = "slice[int, int, int | None]"


@dataclass(frozen=True)
class WholeChunks:
    """The chunks of an array.

    Attributes
    ----------
    metadata : of the array
    place : of the array
    grid : its chunks
    chain : its codecs
    is_whole : whether every chunk must be there; else an absent one means fill values
    """

    metadata: ArrayV3Metadata
    place: Place
    grid: ChunkGrid
    chain: CodecChain
    is_whole: bool

    @classmethod
    def of(cls, array: ZarrArray, place: Place, *, is_whole: bool) -> Self | None:
        """Return the chunks of an array; None where zarr itself must read them."""
        if regular_chunks(array) is None:
            return None
        chain, metadata = CodecChain.of(array), array.metadata
        if chain is None or not isinstance(metadata, ArrayV3Metadata):
            return None
        return cls(metadata, place, ChunkGrid(array.shape, array.chunks), chain, is_whole)

    def has(self, region: Region) -> bool:
        """Whether a region consists of whole chunks: of others a part may be all that is read."""
        return all(self.grid.is_inside(position, region) for position in self.grid.touched(region))

    def read(self, region: Region) -> NumpyArray:
        """Return the samples of a region that consists of whole chunks.

        Raises
        ------
        CorruptChunk : names store and chunk
        """
        out = np.empty([s.stop - s.start for s in region], self.chain.dtype)
        for position in self.grid.touched(region):
            self._read(position, out[tuple(self._spans(position, region))])
        return out

    def _read(self, position: tuple[int, ...], out: NumpyArray) -> None:
        key = self.metadata.encode_chunk_key(position)
        try:
            if (stored := self.place.get(key)) is not None:
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
