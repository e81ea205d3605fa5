"""Journal of a job: records of its finished batches, stored in the target with their chunks.

It is a hidden folder below the array, which listings of the group and readers of the array ignore.
At the root of a group every reader would warn of an object unknown to Zarr.

The output of a task is one entry, named by its first chunk:

    .gangsaw/journal/PART/FOLDER/CHUNK    as 5, 3 and 12 digits

PART is the part of the manifest that will contain its chunks, so that all entries of a written part
are deleted at once. FOLDER has the entries of FOLDER_CHUNKS chunks: no folder becomes too large.
Earlier versions had one entry for each batch, by its number, in `.gangsaw/journal`.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice

from gangsaw.tasks.store.objects.prefix import Prefix
from gangsaw.tasks.store.state import manifest_shards
from gangsaw.tasks.store.state.records import FORMAT, Records, pack_batches, unpack_batches

FOLDER = manifest_shards.FOLDER
JOURNAL = f"{FOLDER}/journal"
BATCH_CHUNKS = 64  # chunks in a batch: amortises the cost per batch
BATCH_BYTES = 64 << 20  # largest batch, of raw samples: no task can end within one
ENTRY_BYTES = 1 << 10  # approximate size of a journal entry
ENTRIES_AT_ONCE = 256  # entries read concurrently
FOLDER_CHUNKS = 1 << 12  # chunks with entries in one folder
MIN_BATCHES = 256  # part of the identity of a job, unchanged since earlier versions
MIN_UNITS = 4096  # keeps a thousand threads busy to the end of a small job


@dataclass(frozen=True)
class Job:
    """Identity of a job: resume compares it field by field.

    Attributes
    ----------
    source : identity of the source and name of its array
    array : SHA-256 of the target array's metadata: shape, dtype, chunks, codec and parameters
    n_chunks : number of chunks
    batch_chunks : chunks per batch (consecutive chunks); in earlier versions the unit of journal
        entries and tasks
    """

    source: str
    array: str
    n_chunks: int
    batch_chunks: int

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the job: 64 hexadecimal digits."""
        return hashlib.sha256(self.to_json()).hexdigest()

    @property
    def batches(self) -> list[range]:
        """Numbers of the chunks of each batch."""
        step = self.batch_chunks
        return [range(i, min(i + step, self.n_chunks)) for i in range(0, self.n_chunks, step)]

    def to_json(self) -> bytes:
        """Return the job as canonical JSON."""
        return json.dumps({"format": FORMAT, **asdict(self)}, sort_keys=True).encode()


def metadata_digest(metadata: Mapping[str, object]) -> str:
    """Return the SHA-256 of an array's metadata as canonical JSON, in hexadecimal digits."""
    return hashlib.sha256(json.dumps(metadata, sort_keys=True).encode()).hexdigest()


def batch_chunks(n_chunks: int, chunk_bytes: int) -> int:
    """Return the number of chunks per batch; it depends on the data alone, for resume."""
    return max(1, min(BATCH_CHUNKS, n_chunks // MIN_BATCHES, BATCH_BYTES // max(1, chunk_bytes)))


def unit_chunks(n_chunks: int, chunk_bytes: int) -> int:
    """Return the number of chunks that one task gets at least: in a small job less than a batch."""
    return max(1, min(batch_chunks(n_chunks, chunk_bytes), n_chunks // MIN_UNITS))


@dataclass(frozen=True)
class Journal:
    """Journal of one array: objects with the records of chunks that a job has finished.

    Attributes
    ----------
    array : store prefix of the target array
    job : fingerprint of the job; entries of other jobs are ignored
    batch_chunks : chunks per entry of an earlier version
    """

    array: Prefix
    job: str
    batch_chunks: int

    def read(self, batch: range) -> Records | None:
        """Return the records of a batch; None if its entry is absent, truncated or of another job.

        They are in an entry that begins with the batch, or in the entry that this thread read last.
        A repeated task reads its batches in order.
        """
        if (known := _LAST.found(self, batch)) is not None:
            return known
        stored = self.array.get(_key(batch.start))
        if stored is None:
            return None
        _LAST.keep(self, self._checked(stored.to_bytes(), batch.start))
        return _LAST.found(self, batch)

    def begin(self, batch: range) -> bool:
        """Begin to read ahead the entry of a batch; return False if that gains nothing."""
        return self.array.begin(_key(batch.start), ENTRY_BYTES)

    def ready(self, batch: range) -> None:
        """Wait for the read-ahead of an entry."""
        self.array.ready(_key(batch.start))

    def forget(self, batch: range) -> None:
        """Cancel the read-ahead of an entry that is not needed."""
        self.array.forget(_key(batch.start))

    def write(self, *batches: Records) -> None:
        """Add the records of a task's finished batches, in order; flush their chunks before.

        Consecutive batches in one part of the manifest are one entry. An entry is not synced: if a
        power cut loses it, its batches are repeated.
        """
        for run in _runs(batches):
            self._add(run)

    def _add(self, run: Sequence[Records]) -> None:
        """Write consecutive batches as one entry, unless an entry with as many records exists.

        A copy of a straggling task may have written it.
        """
        key, data = _key(run[0].first), pack_batches(run)
        if self.array.create(key, data):
            return
        stored = self.array.get(key)
        found = [] if stored is None else self._checked(stored.to_bytes(), run[0].first)
        if sum(len(records.rows) for records in found) < sum(len(one.rows) for one in run):
            self.array.put(key, data)

    def entries(self, written: Iterable[int] = ()) -> Iterator[Records]:
        """Yield the records of all batches in valid entries, those of an earlier version first.

        Parameters
        ----------
        written : numbers of manifest parts that are already written, whose entries are skipped
        """
        there = self.array / JOURNAL
        names = there.names()
        yield from self._read(name for name in names if len(name) == OLD_DIGITS)
        of_written = {f"{number:05d}" for number in written}
        for part in names:
            if len(part) == PART_DIGITS and part not in of_written:
                yield from self._read(f"{part}/{key}" for key in sorted((there / part).walk()))

    def read_all(self, batches: Sequence[range]) -> dict[int, Records]:
        """Return the journalled records of these batches by first chunk."""
        wanted = {batch.start: batch for batch in batches}
        return {one.first: one for one in self.entries() if wanted.get(one.first) == one.batch}

    def delete(self, batch: range) -> None:
        """Remove a batch from the entry that begins with it, if any: its chunks no longer exist.

        Several batches are deleted in ascending order, because an entry that begins with a later
        batch may be written here.
        """
        old = f"{JOURNAL}/{batch.start // self.batch_chunks:08d}"
        for key in (_key(batch.start), old):
            if (stored := self.array.get(key)) is not None:
                rest = self._checked(stored.to_bytes(), batch.start)[1:]
                self.array.delete(key)
                self.write(*rest)

    def remove(self, part: int | None = None) -> None:
        """Delete all entries, or those of one manifest part, by its number, that is written now."""
        place = self.array / JOURNAL
        (place if part is None else place / f"{part:05d}").delete_all()

    def _read(self, keys: Iterable[str]) -> Iterator[Records]:
        source = iter(keys)
        while some := list(islice(source, ENTRIES_AT_ONCE)):
            found = self.array.get_many(f"{JOURNAL}/{key}" for key in some)
            for key, stored in zip(some, found, strict=True):
                if stored is not None:
                    yield from self._checked(stored.to_bytes(), self._first(key))

    def _first(self, key: str) -> int:
        """Return the number of the first chunk of an entry from its key; -1 for other keys."""
        name = key.rpartition("/")[2]
        if not name.isdecimal():
            return -1
        return int(name) * (1 if "/" in key else self.batch_chunks)

    def _checked(self, stored: bytes, first: int) -> list[Records]:
        """Return the records of each batch in an entry; [] if it is damaged or of another job.

        Parameters
        ----------
        first : number of the first chunk by the key of the entry
        """
        found = unpack_batches(stored) or []
        valid = bool(found) and found[0].job == self.job and found[0].first == first
        return [replace(records, from_journal=True) for records in found] if valid else []


class _Last(threading.local):
    """Journal entry that a thread read last: its batches by their first chunk."""

    journal: Journal | None = None

    def keep(self, journal: Journal, found: Sequence[Records]) -> None:
        self.journal, self.records = journal, {one.first: one for one in found}

    def found(self, journal: Journal, batch: range) -> Records | None:
        """Return a batch and remove it here: it may be deleted in the store and read again."""
        if self.journal != journal:
            return None
        found = self.records.get(batch.start)
        return self.records.pop(batch.start) if found and found.batch == batch else None


_LAST = _Last()
PART_DIGITS, OLD_DIGITS = 5, 8


def _key(first: int) -> str:
    part, inside = divmod(first, manifest_shards.PART_ROWS)
    return f"{JOURNAL}/{part:05d}/{inside // FOLDER_CHUNKS:03d}/{first:012d}"


def _runs(batches: Iterable[Records]) -> Iterator[list[Records]]:
    """Yield lists of consecutive batches that lie within one part of the manifest."""
    run: list[Records] = []
    for one in batches:
        follows = bool(run) and run[-1].batch.stop == one.first
        if run and not (follows and one.first % manifest_shards.PART_ROWS):
            yield run
            run = []
        run.append(one)
    if run:
        yield run
