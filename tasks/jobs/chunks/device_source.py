"""Arrays of a store whose whole chunks are decoded in batches on the GPU of the reading process."""

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
from gangsaw.tasks.engine.scheduling.batches import may_use_gpu
from gangsaw.tasks.engine.scheduling.worker_pools import SLOTS
from gangsaw.tasks.jobs.chunks.device import DeviceCoder, process_or_split, runs_on_gpu
from gangsaw.tasks.sources.source import Region, Source, SourceArray
from gangsaw.tasks.store.arrays.chunks import ChunkGrid
from gangsaw.tasks.store.arrays.grids import regular_chunks
from gangsaw.tasks.store.objects.prefix import retry_read
from gangsaw.tasks.store.source import ZarrArray, ZarrSource

_slots = Semaphore(SLOTS)  # threads of this process that share its GPU

Position = tuple[int, ...]


@dataclass(frozen=True)
class DeviceDecodedArray(ZarrArray):
    """Array whose chunks are decoded on the GPU of the reading process, if it has one."""

    def read(self, region: Region) -> NumpyArray:
        """Return the samples of the region."""
        if not may_use_gpu() or self.mending is not None:  # only the CPU salvages damaged chunks
            return super().read(region)
        return retry_read(self._place, lambda: self._decoded(region))

    def _decoded(self, region: Region) -> NumpyArray:
        array, metadata = self.open(), _metadata(self)
        grid = ChunkGrid(array.shape, array.chunks)
        positions = list(grid.overlapping(region))
        if not all(grid.is_inside(position, region) for position in positions):
            return self._read(region)  # the CPU can decode a part of a chunk
        stored = [self._place.get(array.metadata.encode_chunk_key(p)) for p in positions]
        if any(data is None for data in stored):
            return self._read(region)  # fills or reports absent chunks
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
        """Decode whole chunks on the GPU; raise CorruptChunk with the key of a damaged chunk.

        Parameters
        ----------
        metadata : zarr.json of the array
        positions : index of each chunk along each axis
        stored : encoded bytes of each chunk
        """

        def failed(at: int, error: GangsawError) -> DeviceArray:
            key = self.open().metadata.encode_chunk_key(positions[at])
            if isinstance(error, CorruptChunk):
                raise error.at(store=str(self._place), chunk=key) from error
            raise error

        with _slots, own_stream() as copies:
            decoded = process_or_split(DeviceCoder(metadata).decode, stored, failed)
            return [copies.to_host(chunk) for chunk in decoded]


def _spans(position: Position, grid: ChunkGrid, region: Region) -> Iterator[slice[int, int, None]]:
    """Yield, for each axis, the range of a chunk relative to the begin of a region."""
    for i, extent, n, span in zip(position, grid.chunks, grid.shape, region, strict=True):
        yield slice(i * extent - span.start, min((i + 1) * extent, n) - span.start)


def decode_source_on_device(source: Source) -> Source:
    """Return a store source whose chunks are decoded on GPUs, if their codec has kernels.

    Raises BadParams if no array of the store has such a codec.
    """
    arrays = tuple(map(_on_device, source.arrays))
    if not (
        isinstance(source, ZarrSource) and any(isinstance(a, DeviceDecodedArray) for a in arrays)
    ):
        raise BadParams(f"{source.name} holds no array that a GPU decodes: leave --device gpu out")
    return replace(source, arrays=arrays)


def _on_device(array: SourceArray) -> SourceArray:
    if type(array) is not ZarrArray or regular_chunks(array.open()) is None:
        return array
    if not runs_on_gpu(_metadata(array), "decode"):
        return array
    return DeviceDecodedArray(**{field.name: getattr(array, field.name) for field in fields(array)})


def _metadata(array: ZarrArray) -> bytes:
    return json.dumps(array.open().metadata.to_dict()).encode()
