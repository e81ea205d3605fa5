"""Chunk function of `compress`: whole chunks from a source to a store, journalled by batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from zarr.core.buffer import Buffer

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.codecs.core.cuda.streams import own_stream
from gangsaw.codecs.core.errors import CorruptChunk, GangsawError
from gangsaw.tasks.engine.report.failure import name_failed_chunk
from gangsaw.tasks.jobs.chunks.device import DeviceCoder, process_or_split, runs_on_gpu
from gangsaw.tasks.sources.source import Region, RemoteArray, SourceArray
from gangsaw.tasks.store.arrays.chunks import (
    ArrayCoder,
    ChunkGrid,
    borrow_coder,
    chunk_key,
    chunk_region,
)
from gangsaw.tasks.store.dataset.texts import count_bytes
from gangsaw.tasks.store.objects.prefix import Prefix
from gangsaw.tasks.store.objects.remote import READ_BYTES, WRITE_BYTES
from gangsaw.tasks.store.state.journal import Journal
from gangsaw.tasks.store.state.records import ROW, Records

Encoded = tuple[Buffer, int]  # a chunk's stored form and its raw bytes


@dataclass(frozen=True)
class Transcode:
    """Batch function of `compress`, which reads, encodes and stores chunks; `commit` journals them.

    Attributes
    ----------
    source : array to read
    target : store prefix of the array to write
    metadata : zarr.json of the target array
    journal : journal of the target array
    peak_bytes : upper bound of the memory for one chunk, in bytes
    durable : True to sync chunks to the disk before they are journalled
    again : True if another worker, lost since, may have finished a batch: the journal is read
        first if `journals` is true
    journals : True if `commit` adds an entry per call; otherwise the client writes one entry for
        many results, since an entry costs a request
    """

    source: SourceArray
    target: Prefix
    metadata: bytes
    journal: Journal
    peak_bytes: int
    durable: bool = True
    again: bool = True
    journals: bool = True

    @property
    def reads_journal(self) -> bool:
        """True if the journal is read before a batch is processed."""
        return self.again and self.journals

    @property
    def is_remote(self) -> bool:
        """True if the source or the target is on a network."""
        source = self.source
        return self.target.is_remote or (isinstance(source, RemoteArray) and source.is_remote)

    def begin(self, batch: range) -> bool:
        """Start the reads of a batch; return False if too many are in flight or none would help."""
        reads, source = self.reads_journal and self.journal.begin(batch), self.source
        if not (isinstance(source, RemoteArray) and source.is_remote):
            return reads
        return all(source.begin(region) for region in self._regions(batch))

    def ready(self, batch: range) -> None:
        """Wait for the reads that `begin` started."""
        self.journal.ready(batch)
        if isinstance(self.source, RemoteArray):
            for region in self._regions(batch):
                self.source.ready(region)

    def forget(self, batch: range) -> None:
        """Discard the reads that `begin` started."""
        self.journal.forget(batch)
        if isinstance(self.source, RemoteArray):
            for region in self._regions(batch):
                self.source.forget(region)

    def __call__(self, batch: range) -> Records:
        """Store the chunks of a batch, unless they are journalled; return their records."""
        with name_failed_chunk(self.address(batch)):
            if self.reads_journal and (found := self.journal.read(batch)) is not None:
                return found  # written by a worker that was lost before it could report
            with borrow_coder(self.metadata) as coder:
                return self._put(coder, batch, (self._encoded(coder, number) for number in batch))

    def commit(self, done: Sequence[Records]) -> None:
        """Flush batches to the disk; then journal them if `journals` is true."""
        with name_failed_chunk(self.address(range(done[0].batch.start, done[-1].batch.stop))):
            new = self.flush(done)
            if self.journals:
                self.journal.write(*new)

    def flush(self, done: Sequence[Records]) -> list[Records]:
        """Flush chunks to the disk; return the records that are not journalled yet."""
        new = [records for records in done if not records.from_journal]
        keys = [chunk_key(self.metadata, number) for records in new for number in records.batch]
        for key in keys:
            with name_failed_chunk(f"{self.target}/{key}"):
                self.target.settle([key])
        if self.durable:
            self.target.flush(keys)
        return new

    def on_device(self, batches: Sequence[range]) -> list[Records]:
        """Store the chunks of several batches, encoded in one launch on the GPU of this process."""
        if not runs_on_gpu(self.metadata, "encode"):
            return [self(batch) for batch in batches]
        with name_failed_chunk(self.address(range(batches[0].start, batches[-1].stop))):
            found = {
                batch: self.journal.read(batch) if self.reads_journal else None for batch in batches
            }
            left = [batch for batch, records in found.items() if records is None]
            coder = DeviceCoder(self.metadata)
            encoded = iter(self._encoded_on_device(coder, [n for batch in left for n in batch]))
            for batch in left:
                found[batch] = self._put(coder.host, batch, encoded)
            return [records for records in found.values() if records is not None]

    def address(self, batch: range) -> str:
        """Return the name of the batch used in messages."""
        return f"{self.target}, {batch.start}..{batch.stop - 1}"

    def _encoded(self, coder: ArrayCoder, number: int) -> Encoded:
        with name_failed_chunk(f"{self.target}/{coder.key(number)}"):
            samples = self._read(coder.grid, number)
            return coder.encode(number, samples), count_bytes(samples)

    def _encoded_on_device(self, coder: DeviceCoder, numbers: Sequence[int]) -> list[Encoded]:
        def address(place: int) -> str:
            return f"{self.target}/{coder.host.key(numbers[place])}"

        def failed(place: int, error: GangsawError) -> Buffer:
            with name_failed_chunk(address(place)):
                raise error

        with own_stream() as copies:
            chunks, raw_bytes = [], []
            for place, number in enumerate(numbers):
                with name_failed_chunk(address(place)):
                    samples = self._read(coder.host.grid, number)
                    chunks.append(coder.upload(samples, copies))
                    raw_bytes.append(count_bytes(samples))
            stored = process_or_split(coder.encode, chunks, failed)
        return list(zip(stored, raw_bytes, strict=True))

    def _regions(self, batch: range) -> Iterator[Region]:
        return (chunk_region(self.metadata, number) for number in batch)

    def _read(self, grid: ChunkGrid, number: int) -> NumpyArray:
        region = grid.region(number)
        samples = self.source.read(region)
        if samples.shape != tuple(s.stop - s.start for s in region):
            raise CorruptChunk(f"the source gave samples of shape {samples.shape} for {region}")
        return samples

    def _put(self, coder: ArrayCoder, batch: range, encoded: Iterable[Encoded]) -> Records:
        """Store the encoded chunks of a batch; return their records."""
        rows, raw_bytes = np.empty(len(batch), ROW), 0
        for i, (number, (stored, n)) in enumerate(zip(batch, encoded, strict=False)):
            with name_failed_chunk(f"{self.target}/{coder.key(number)}"):
                self.target.put_soon(coder.key(number), stored)
            data = stored.as_numpy_array()
            rows[i] = len(data), crc32c(data)
            raw_bytes += n
        return Records(self.journal.job, batch.start, raw_bytes, rows)


def read_ahead_bytes(source: SourceArray | None, place: Prefix, chunk_bytes: int) -> int:
    """Return the memory for requests in flight to a remote array or store, in bytes.

    The result is 0 if both are local. One object may be in flight whatever its size.
    """
    reads = (
        max(READ_BYTES, chunk_bytes) if isinstance(source, RemoteArray) and source.is_remote else 0
    )
    return reads + (max(WRITE_BYTES, chunk_bytes) if place.is_remote else 0)
