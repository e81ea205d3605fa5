"""What earlier runs of a job finished, by journal and manifest, and what remains."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import chain

from gangsaw.codecs.core.errors import CorruptChunk, JobFailed
from gangsaw.tasks.engine.lazy import Units
from gangsaw.tasks.jobs.transcode import Transcode
from gangsaw.tasks.store.chunks import ArrayCoder
from gangsaw.tasks.store.keys import ChunkKeys
from gangsaw.tasks.store.place import Place
from gangsaw.tasks.store.state import parts
from gangsaw.tasks.store.state.journal import Job, unit_chunks
from gangsaw.tasks.store.state.ledger import Ledger
from gangsaw.tasks.store.state.manifest import Manifest, open_manifest
from gangsaw.tasks.store.state.records import Records


class ArrayRun:
    """One array of a job, and what is done of it.

    Parameters
    ----------
    function : writes a batch of the array
    job : what its journal belongs to

    Attributes
    ----------
    ledger : records of the finished chunks
    had_manifest : whether an earlier run had finished the array
    repaired : the chunks that this run is to do
    """

    def __init__(self, function: Transcode, job: Job) -> None:
        self.function, self.job = function, job
        self.ledger = Ledger(function.journal, job.n_chunks)
        manifest = _whole_manifest(function.target)
        self.had_manifest = manifest is not None
        if manifest is not None:
            self.ledger.take(manifest)
        else:
            self.ledger.find_written()
        n_journalled = self._read_journal()
        self._is_finished = self.had_manifest and not (n_journalled or self.ledger.gaps)
        self.repaired = self.ledger.gaps

    @cached_property
    def coder(self) -> ArrayCoder:
        """Of the target array."""
        return ArrayCoder(self.function.metadata)

    @property
    def batch_chunks(self) -> int:
        """Chunks of a batch at most: where workers share the job, there are more batches."""
        if not self.function.again:
            return self.job.batch_chunks
        return min(self.job.batch_chunks, unit_chunks(self.job.n_chunks, self.coder.chunk_bytes))

    @property
    def left(self) -> Units:
        """The batches that remain."""
        return Units(self.ledger.gaps, self.batch_chunks)

    def add(self, records: Records) -> None:
        """Take the records of a batch that this run finished."""
        self.ledger.add(records)

    def finish(self) -> None:
        """Fold the journal into the manifest."""
        if not self._is_finished:
            self.ledger.finish()
        self.function.journal.remove()

    def give_up(self) -> None:
        """Forget all batches; of a store that was finished, those that this run began to repair."""
        if self.had_manifest:
            for number in (number for gap in self.repaired for number in gap):
                self.function.target.delete(self.coder.key(number))
        self.ledger.forget()

    def _read_journal(self) -> int:
        """Take what the journal has, as far as its chunks are there; return its batches."""
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
        """Yield runs of chunks of one part that are not in the store; a listing tells."""
        keys = ChunkKeys(self.coder.array, self.coder.grid)
        for run in keys.missing(self.function.target.walk()):
            yield from Units((run,), parts.PART_ROWS)


def _is_among(batch: range, lost: Sequence[range]) -> bool:
    """Whether a chunk of the batch is in one of these runs, which are in order."""
    at = bisect_right(lost, batch.start, key=lambda run: run.start)
    before = at > 0 and lost[at - 1].stop > batch.start
    return before or (at < len(lost) and lost[at].start < batch.stop)


@contextmanager
def can_be_resumed() -> Iterator[None]:
    """Add what the user can do to what ended a job: journalled work is not lost."""
    try:
        yield
    except (JobFailed, OSError) as error:
        text = f"{error}; finished batches are safe: run again with --resume"
        raise JobFailed(text) from error


def _whole_manifest(array: Place) -> Manifest | None:
    """Return the manifest, or None where it is missing or damaged: then all is repeated."""
    try:
        return open_manifest(array)
    except CorruptChunk:
        return None
