"""Arrays of a store whose whole chunks are decoded on GPUs, many at once, wherever there is one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from threading import Semaphore

import numpy as np
from zarr.core.buffer import Buffer

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.streams import own_stream
from gangsaw.codecs.core.errors import BadParams, CorruptChunk, GangsawError
from gangsaw.tasks.engine.batches import may_use_gpu
from gangsaw.tasks.engine.pools import SLOTS
from gangsaw.tasks.jobs.device import DeviceCoder, at_once_or_apart, runs_on_gpu
from gangsaw.tasks.source import Region, Source, SourceArray
from gangsaw.tasks.store.chunks import ChunkGrid
from gangsaw.tasks.store.grids import regular_chunks
from gangsaw.tasks.store.place import read_again
from gangsaw.tasks.store.source import ZarrArray, ZarrSource

_slots = Semaphore(SLOTS)  # threads of this process that share its GPU

Position = tuple[int, ...]


@dataclass(frozen=True)
class OnDevice(ZarrArray):
    """An array whose chunks are decoded on the GPU of the process that reads, if it has one."""

    def read(self, region: Region) -> NumpyArray:
        """Return the samples of the region."""
        if not may_use_gpu():
            return super().read(region)
        return read_again(self._place, lambda: self._decoded(region))

    def _decoded(self, region: Region) -> NumpyArray:
        array, metadata = self.opened(), _metadata(self)
        grid = ChunkGrid(array.shape, array.chunks)
        positions = list(grid.touched(region))
        if not all(grid.is_inside(position, region) for position in positions):
            return self._read(region)  # of others a part may be all that is read
        stored = [self._place.get(array.metadata.encode_chunk_key(p)) for p in positions]
        if any(data is None for data in stored):
            return self._read(region)  # which knows what that means
        out = np.empty([s.stop - s.start for s in region], self.dtype)
        whole = [data for data in stored if data is not None]
        for position, chunk in zip(
            positions, self._chunks(metadata, positions, whole), strict=True
        ):
            spans = list(_spans(position, grid, region))
            out[tuple(spans)] = chunk[tuple(slice(s.stop - s.start) for s in spans)]
        return out

    def _chunks(
        self, metadata: bytes, positions: Sequence[Position], stored: Sequence[Buffer]
    ) -> list[NumpyArray]:
        """Return whole chunks; CorruptChunk, with its key, for wrong bytes."""

        def failed(at: int, error: GangsawError) -> DeviceArray:
            key = self.opened().metadata.encode_chunk_key(positions[at])
            if isinstance(error, CorruptChunk):
                raise error.at(store=str(self._place), chunk=key) from error
            raise error

        with _slots, own_stream() as copies:
            decoded = at_once_or_apart(DeviceCoder(metadata).decode, stored, failed)
            return [copies.to_host(chunk) for chunk in decoded]


def _spans(position: Position, grid: ChunkGrid, region: Region) -> Iterator[slice[int, int, None]]:
    """Yield where the samples of a chunk lie in those of a region."""
    for i, extent, n, span in zip(position, grid.chunks, grid.shape, region, strict=True):
        yield slice(i * extent - span.start, min((i + 1) * extent, n) - span.start)


def on_device(source: Source) -> Source:
    """Return a store whose chunks are decoded on GPUs as far as kernels do it.

    Raises BadParams where they do it for no array.
    """
    arrays = tuple(map(_on_device, source.arrays))
    if not (isinstance(source, ZarrSource) and any(isinstance(a, OnDevice) for a in arrays)):
        raise BadParams(f"{source.name} holds no array that a GPU decodes: leave --device gpu out")
    return replace(source, arrays=arrays)


def _on_device(array: SourceArray) -> SourceArray:
    if type(array) is not ZarrArray or regular_chunks(array.opened()) is None:
        return array
    if not runs_on_gpu(_metadata(array), "decode"):
        return array
    return OnDevice(**{field.name: getattr(array, field.name) for field in fields(array)})


def _metadata(array: ZarrArray) -> bytes:
    return json.dumps(array.opened().metadata.to_dict()).encode()
