"""The main chunk function: source to store, whole chunks, with a journal entry per batch."""

from __future__ import annotations

from dataclasses import dataclass

import google_crc32c
import numpy as np

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.chunks import ArrayCoder
from gangsaw.tasks.failure import naming
from gangsaw.tasks.journal import Journal
from gangsaw.tasks.place import Place
from gangsaw.tasks.records import ROW, Records
from gangsaw.tasks.sources.base import SourceArray


@dataclass(frozen=True)
class Transcode:
    """Reads, encodes and stores the chunks of a batch, then journals it.

    Attributes
    ----------
    source : array to read
    target : place of the array to write
    metadata : the target array's zarr.json
    journal : of the target array
    peak_bytes : memory that one chunk needs at most
    durable : whether chunks are synced to the disk before they are journalled
    """

    source: SourceArray
    target: Place
    metadata: bytes
    journal: Journal
    peak_bytes: int
    durable: bool = True

    def __call__(self, batch: range) -> Records:
        """Return the records of the batch; one that is journalled is not done again."""
        with naming(f"{self.target}, {batch.start}..{batch.stop - 1}"):
            if (found := self.journal.read(batch)) is not None:
                return found  # by a worker that was lost before it could say so
            return self._run(ArrayCoder(self.metadata), batch)

    def _run(self, coder: ArrayCoder, batch: range) -> Records:
        rows, raw_bytes = np.empty(len(batch), ROW), 0
        for i, number in enumerate(batch):
            with naming(f"{self.target}/{coder.key(number)}"):
                rows[i], n = self._store_chunk(coder, number)
                raw_bytes += n
        if self.durable:
            self.target.flush(coder.key(number) for number in batch)
        records = Records(self.journal.job, batch.start, raw_bytes, rows)
        self.journal.write(records)
        return records

    def _store_chunk(self, coder: ArrayCoder, number: int) -> tuple[tuple[int, int], int]:
        region = coder.grid.region(number)
        samples = self.source.read(region)
        if samples.shape != tuple(s.stop - s.start for s in region):
            raise CorruptChunk(f"the source gave samples of shape {samples.shape} for {region}")
        stored = coder.encode(number, samples)
        self.target.put(coder.key(number), stored)
        data = stored.as_numpy_array()
        return (len(data), google_crc32c.value(data)), samples.nbytes
