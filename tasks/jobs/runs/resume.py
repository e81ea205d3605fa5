"""Finished and remaining batches of a job, by the journal and manifest of earlier runs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import chain

from gangsaw.codecs.core.errors import CorruptChunk, JobFailed
from gangsaw.tasks.engine.scheduling.lazy import BatchRanges
from gangsaw.tasks.jobs.chunks.transcode import Transcode
from gangsaw.tasks.store.arrays.chunks import ArrayCoder
from gangsaw.tasks.store.arrays.keys import ChunkKeys
from gangsaw.tasks.store.objects.prefix import Prefix
from gangsaw.tasks.store.state import manifest_shards
from gangsaw.tasks.store.state.journal import Job, unit_chunks
from gangsaw.tasks.store.state.lease import LeaseLost
from gangsaw.tasks.store.state.ledger import Ledger
from gangsaw.tasks.store.state.manifest import Manifest, open_manifest
from gangsaw.tasks.store.state.records import Records


class ArrayRun:
    """State of one array in a job: its batch function and the records of its finished chunks.

    Parameters
    ----------
    function : batch function that writes the array
    job : identity of the job, which the journal must match

    Attributes
    ----------
    ledger : records of the finished chunks
    had_manifest : True if an earlier run had finished the array
    repaired : ranges of the chunks that this run will write
    """

    def __init__(self, function: Transcode, job: Job) -> None:
        self.function, self.job = function, job
        self.ledger = Ledger(function.journal, job.n_chunks)
        manifest = _whole_manifest(function.target)
        self.had_manifest = manifest is not None
        if manifest is not None:
            self.ledger.add_manifest(manifest)
        else:
            self.ledger.find_written()
        n_journalled = self._read_journal()
        self._is_finished = self.had_manifest and not (n_journalled or self.ledger.gaps)
        self.repaired = self.ledger.gaps

    @cached_property
    def coder(self) -> ArrayCoder:
        """Coder of the target array."""
        return ArrayCoder(self.function.metadata)

    @property
    def batch_chunks(self) -> int:
        """Upper bound of the chunks of a batch; with workers, batches are smaller."""
        if not self.function.again:
            return self.job.batch_chunks
        return min(self.job.batch_chunks, unit_chunks(self.job.n_chunks, self.coder.chunk_bytes))

    @property
    def left(self) -> BatchRanges:
        """Remaining batches."""
        return BatchRanges(self.ledger.gaps, self.batch_chunks)

    def add(self, records: Records) -> None:
        """Add the records of a batch that this run finished."""
        self.ledger.add(records)

    def finish(self) -> None:
        """Write the manifest, since all chunks are done, and delete the journal."""
        if not self._is_finished:
            self.ledger.finish()
        self.function.journal.remove()

    def give_up(self) -> None:
        """Discard the journal of all batches; in a finished store, delete the repaired chunks."""
        if self.had_manifest:
            for number in (number for gap in self.repaired for number in gap):
                self.function.target.delete(self.coder.key(number))
        self.ledger.forget()

    def _read_journal(self) -> int:
        """Add the journal's records whose chunks exist; return the number of its batches."""
        ledger, journal = self.ledger, self.function.journal
        entries = journal.entries(() if self.had_manifest else ledger.written)
        first = next(entries, None)
        if first is None and not ledger.n_done:
            return 0
        lost = list(self._lost())
        for chunks in lost:
            ledger.drop(chunks, self.coder)
        n_batches = 0
        for records in chain(() if first is None else (first,), entries):
            n_batches += 1
            if _is_among(records.batch, lost):
                journal.delete(records.batch)
            else:
                ledger.add(records)
        return n_batches

    def _lost(self) -> Iterator[range]:
        """Yield ranges of finished chunks that the store has lost, each in one manifest part."""
        keys = ChunkKeys(self.coder.array, self.coder.grid)
        for run in keys.missing(self.function.target.walk()):
            yield from BatchRanges((run,), manifest_shards.PART_ROWS)


def _is_among(batch: range, lost: Sequence[range]) -> bool:
    """Return True if a chunk of the batch is in one of these ranges, which are sorted."""
    at = bisect_right(lost, batch.start, key=lambda run: run.start)
    before = at > 0 and lost[at - 1].stop > batch.start
    return before or (at < len(lost) and lost[at].start < batch.stop)


@contextmanager
def hint_at_resume() -> Iterator[None]:
    """Turn an error of the job into JobFailed with the hint to use `--resume`."""
    try:
        yield
    except LeaseLost:
        raise
    except (JobFailed, OSError) as error:
        text = f"{error}; finished batches are safe: run again with --resume"
        raise JobFailed(text) from error


def _whole_manifest(array: Prefix) -> Manifest | None:
    """Return an array's manifest; None if absent or damaged, so that all chunks are repeated."""
    try:
        return open_manifest(array)
    except CorruptChunk:
        return None
