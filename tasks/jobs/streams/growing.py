"""Arrays of a store that grow along their first axis in steps of chunks.

A step carries its samples, since workers cannot read a stream. The batch functions of `compress`
and `verify` store a step, or compare it with the chunks of an earlier run.
"""

from __future__ import annotations

import errno
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from zarr.core.buffer import Buffer

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.memory.returned import return_memory
from gangsaw.tasks.engine.report.failure import name_failed_chunk
from gangsaw.tasks.engine.scheduling.worker_pools import TASKS_PER_THREAD
from gangsaw.tasks.formats.flat.memory_array import MemoryArray
from gangsaw.tasks.jobs.chunks.check import CheckChunks
from gangsaw.tasks.jobs.chunks.transcode import Transcode
from gangsaw.tasks.jobs.runs.arrays import ArrayBatch
from gangsaw.tasks.sources.source import Description, Region
from gangsaw.tasks.store.arrays.chunks import METADATA, ArrayCoder, chunk_key
from gangsaw.tasks.store.arrays.layout import ArrayLayout
from gangsaw.tasks.store.objects.prefix import Prefix
from gangsaw.tasks.store.skeleton import digest
from gangsaw.tasks.store.state.job_folder import JOB, JobFolder
from gangsaw.tasks.store.state.journal import Job, Journal
from gangsaw.tasks.store.state.manifest import fold_parts, write_manifest
from gangsaw.tasks.store.state.records import Records


class StoredStep(NamedTuple):
    """Result of storing a step: rows of an array that fill whole chunks along the first axis.

    Attributes
    ----------
    records : records of the chunks of the step
    problems : differences between the chunks of an earlier run and the samples read now
    """

    records: Records
    problems: tuple[str, ...] = ()


StepBatch = ArrayBatch[range, StoredStep]


@dataclass(frozen=True, eq=False)
class RowsInMemory(MemoryArray):
    """Rows of a growing array in memory, from row `start` on, read by their row numbers in it."""

    start: int = 0

    def read(self, region: Region) -> NumpyArray:
        """Return the samples of the region, as a view."""
        rows, *rest = region
        return self.values[(slice(rows.start - self.start, rows.stop - self.start), *rest)]


@dataclass(frozen=True)
class StoreStep:
    """Batch function that stores a step (rows that fill chunks), or compares a stored one.

    Attributes
    ----------
    write : function that encodes and stores chunks; its source are the samples of the step
    """

    write: Transcode

    def address(self, batch: range) -> str:
        """Return the name of the step used in messages."""
        return self.write.address(batch)

    def __call__(self, batch: range) -> StoredStep:
        """Store a step; return the records of its chunks. Raises ChunkFailed if one fails."""
        try:
            return self._done(batch, partial(self.write, batch))
        finally:
            return_memory()  # a stream may be long: freed memory of each step would add up

    def on_device(self, batches: Sequence[range]) -> list[StoredStep]:
        """Store steps with the GPU of this process."""
        return [self._done(batch, partial(self._on_device, batch)) for batch in batches]

    def commit(self, done: Sequence[StoredStep]) -> None:
        """Flush the chunks to the disk; the client journals them, in order of the steps."""
        with name_failed_chunk(self.address(done[0].records.batch)):
            self.write.flush([step.records for step in done])

    def _done(self, batch: range, write: Callable[[], Records]) -> StoredStep:
        with name_failed_chunk(self.address(batch)):
            self._check_seen()
            known = self.write.journal.read(batch)
            if known is not None and self._is_whole(batch):
                return StoredStep(known, self._differences(known))
            if known is not None:  # journalled chunks have been lost since
                self.write.journal.delete(batch)
        return StoredStep(write())

    def _on_device(self, batch: range) -> Records:
        (records,) = self.write.on_device([batch])
        return records

    def _check_seen(self) -> None:
        """Raise OSError if this worker does not see the store that the client began."""
        if not JobFolder(self.write.target).has_job:
            unseen = "a worker does not see the store, which must be where all of them and you do"
            raise OSError(errno.ENOENT, unseen, str(self.write.target))

    def _is_whole(self, batch: range) -> bool:
        return all(self.write.target.has(chunk_key(self.write.metadata, n)) for n in batch)

    def _differences(self, known: Records) -> tuple[str, ...]:
        place, metadata = self.write.target, self.write.metadata
        return CheckChunks(place, metadata, self.write.source)(known).problems


class GrowingArray:
    """Array of a store that grows along its first axis by steps, with the records of these.

    Parameters
    ----------
    place : store prefix of the array
    job : identity of the job for the array without chunks; a batch is a step
    layout : chunks and codec
    sample : first rows of the array, as many as a chunk has
    metadata : zarr.json of the array without rows

    Attributes
    ----------
    metadata : JSON object of that zarr.json; `stored_metadata` has the present shape
    length : number of rows of a step
    entries : records of the stored steps
    """

    def __init__(
        self, place: Prefix, job: Job, layout: ArrayLayout, sample: Description, metadata: Buffer
    ) -> None:
        self.place, self.job, self.sample = place, job, sample
        self.metadata: dict[str, object] = json.loads(metadata.to_bytes())
        self.shape = [0, *sample.shape[1:]]
        self.coder = ArrayCoder(metadata.to_bytes())
        self.length = self.coder.grid.chunks[0]
        self.journal = Journal(place, job.fingerprint, job.batch_chunks)
        self.entries: list[Records] = []
        self.chunk_peak = layout.peak_bytes(sample)

    @property
    def n_rows(self) -> int:
        """Number of rows passed to `step` so far."""
        return self.shape[0]

    @property
    def step_bytes(self) -> int:
        """Bytes of the samples of a full step."""
        return self.length * max(1, math.prod(self.shape[1:])) * self.coder.dtype.itemsize

    @property
    def peak_bytes(self) -> int:
        """Upper bound of the memory of a thread in bytes, for encoding a step and queued steps."""
        return self.chunk_peak + TASKS_PER_THREAD * self.step_bytes

    @property
    def stored_metadata(self) -> bytes:
        """Bytes of the zarr.json with the rows so far."""
        return json.dumps({**self.metadata, "shape": self.shape}, indent=2).encode()

    def step(self, number: int, samples: NumpyArray) -> StepBatch:
        """Return the next rows as a work item of the engine.

        Parameters
        ----------
        number : index of the array in the job
        samples : rows of the step
        """
        start, self.shape[0] = self.n_rows, self.n_rows + len(samples)
        first = start // self.length * self.job.batch_chunks
        held = RowsInMemory(samples, self.sample.dims, self.sample.name, start=start)
        write = Transcode(
            held, self.place, self.stored_metadata, self.journal, self.peak_bytes, again=False
        )
        return ArrayBatch(number, StoreStep(write), range(first, first + self.job.batch_chunks))

    def note(self, records: Records) -> None:
        """Journal a stored step; steps must be journalled in order."""
        if not records.from_journal:
            self.journal.write(records)
        self.entries.append(records)

    def finish(self, source: str) -> None:
        """Write the final job identity, with that of the whole source, and the manifest."""
        metadata = self.place.get(METADATA)
        assert metadata is not None, "written before"
        n_chunks = sum(len(records.rows) for records in self.entries)
        whole = replace(self.job, source=source, n_chunks=n_chunks, array=digest(metadata))
        self.place.put(JOB, whole.to_json())
        write_manifest(self.place, fold_parts(whole.fingerprint, self.entries))
