"""What earlier runs of a job finished, by journal and manifest, and what remains."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property

from gangsaw.codecs.core.errors import CorruptChunk, JobFailed
from gangsaw.tasks.jobs.transcode import Transcode
from gangsaw.tasks.store.chunks import ArrayCoder
from gangsaw.tasks.store.place import Place
from gangsaw.tasks.store.state.journal import Job
from gangsaw.tasks.store.state.manifest import fold, read_manifest, split, write_manifest
from gangsaw.tasks.store.state.records import Records


class ArrayRun:
    """One array of a job, and the records of its finished batches.

    Parameters
    ----------
    function : writes a batch of the array
    job : what its journal belongs to

    Attributes
    ----------
    entries : records of the finished batches, by first chunk
    had_manifest : whether an earlier run had finished the array
    repaired : the batches that this run is to do
    """

    def __init__(self, function: Transcode, job: Job) -> None:
        self.function, self.job = function, job
        self.entries = function.journal.read_all(job.batches)
        manifest = _whole_manifest(function.target)
        self.had_manifest = self._is_finished = manifest is not None
        if manifest is not None:
            self._reopen(manifest, self._lost())
        elif self.entries:
            self._repeat(self._lost())
        self.repaired = self.left

    @cached_property
    def coder(self) -> ArrayCoder:
        """Of the target array."""
        return ArrayCoder(self.function.metadata)

    @property
    def left(self) -> list[range]:
        """The batches that remain."""
        if self._is_finished:
            return []
        return [batch for batch in self.job.batches if batch.start not in self.entries]

    def add(self, records: Records) -> None:
        """Take the records of a batch that this run finished."""
        self.entries[records.first] = records

    def finish(self) -> None:
        """Fold the journal into the manifest."""
        if not self._is_finished:
            records = fold(self.job.fingerprint, self.entries.values())
            write_manifest(self.function.target, records)
        self.function.journal.remove()

    def give_up(self) -> None:
        """Forget all batches; of a store that was finished, those that this run began to repair."""
        if self.had_manifest:
            for number in (number for batch in self.repaired for number in batch):
                self.function.target.delete(self.coder.key(number))
        self.function.journal.remove()

    def _reopen(self, manifest: Records, lost: set[int]) -> None:
        """Read finished batches from the manifest, and from a run that stopped while doing so."""
        self._is_finished = not lost and not self.entries
        if self._is_finished:
            self.entries = {0: manifest}
            return
        done = {records.first: records for records in split(manifest, self.job.batches, self.coder)}
        self.entries = {**done, **self.entries}
        self._repeat(lost)

    def _repeat(self, lost: set[int]) -> None:
        """Forget finished batches whose chunks are gone."""
        for batch in self.job.batches:
            if batch.start in self.entries and not lost.isdisjoint(batch):
                del self.entries[batch.start]
                self.function.journal.delete(batch)

    def _lost(self) -> set[int]:
        """Return the numbers of chunks that are not in the store; a listing tells, no chunk."""
        present = set(self.function.target.walk())
        key = self.coder.key
        return {number for number in range(self.job.n_chunks) if key(number) not in present}


@contextmanager
def can_be_resumed() -> Iterator[None]:
    """Add to a JobFailed what the user can do: journalled work is not lost."""
    try:
        yield
    except JobFailed as error:
        text = f"{error}; finished batches are safe: run again with --resume"
        raise JobFailed(text) from error


def _whole_manifest(array: Place) -> Records | None:
    """Return the manifest, or None where it is missing or damaged: then all is repeated."""
    try:
        return read_manifest(array)
    except CorruptChunk:
        return None
