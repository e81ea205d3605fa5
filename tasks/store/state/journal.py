"""The journal: which batches of a job are finished, stored in the target with their chunks. It is a
hidden folder below the array, which neither a listing of the group nor the array sees. At the root
of a group every reader would warn of an object unknown to Zarr.

What a task did is one entry, named by its first chunk:

    .gangsaw/journal/PART/FOLDER/CHUNK    as 5, 3 and 12 digits

PART is the part of the manifest that will have its chunks, so that all entries of a part that is
written go at once, and FOLDER has those of FOLDER_CHUNKS chunks: no folder becomes too large.
Earlier versions had one entry for each batch, by its number, in `.gangsaw/journal`.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice

from gangsaw.tasks.store.place import Place
from gangsaw.tasks.store.state import parts
from gangsaw.tasks.store.state.records import FORMAT, Records, pack_batches, unpack_batches

FOLDER = parts.FOLDER
JOURNAL = f"{FOLDER}/journal"
BATCH_CHUNKS = 64  # hides what each batch costs
BATCH_BYTES = 64 << 20  # of raw samples in a batch at most: no task can end within one
ENTRY_BYTES = 1 << 10  # of a journal entry, about
ENTRIES_AT_ONCE = 256  # are read side by side
FOLDER_CHUNKS = 1 << 12  # whose entries share a folder
MIN_BATCHES = 256  # what makes a job the same, as in earlier versions
MIN_UNITS = 4096  # small jobs keep a thousand threads busy to the end


@dataclass(frozen=True)
class Job:
    """What makes a job the same job: resume compares it field by field.

    Attributes
    ----------
    source : identity of the source and name of its array
    array : sha256 of the target array's metadata: shape, dtype, chunks, codec and parameters
    n_chunks : number of chunks
    batch_chunks : chunks per batch; earlier versions journalled and scheduled so many at once
    """

    source: str
    array: str
    n_chunks: int
    batch_chunks: int

    @property
    def fingerprint(self) -> str:
        """64 hexadecimal digits."""
        return hashlib.sha256(self.to_json()).hexdigest()

    @property
    def batches(self) -> list[range]:
        """Numbers of the chunks of each batch."""
        step = self.batch_chunks
        return [range(i, min(i + step, self.n_chunks)) for i in range(0, self.n_chunks, step)]

    def to_json(self) -> bytes:
        """Return canonical JSON."""
        return json.dumps({"format": FORMAT, **asdict(self)}, sort_keys=True).encode()


def batch_chunks(n_chunks: int, chunk_bytes: int) -> int:
    """Return the number of chunks per batch: from the data alone, so that any resume agrees."""
    return max(1, min(BATCH_CHUNKS, n_chunks // MIN_BATCHES, BATCH_BYTES // max(1, chunk_bytes)))


def unit_chunks(n_chunks: int, chunk_bytes: int) -> int:
    """Return how many chunks are given to tasks together: fewer than in a batch of a small job."""
    return max(1, min(batch_chunks(n_chunks, chunk_bytes), n_chunks // MIN_UNITS))


@dataclass(frozen=True)
class Journal:
    """The journal of one array.

    Attributes
    ----------
    array : place of the target array
    job : fingerprint; entries of another job do not count
    batch_chunks : chunks per entry of an earlier version
    """

    array: Place
    job: str
    batch_chunks: int

    def read(self, batch: range) -> Records | None:
        """Return the records of a batch; None where its entry is not there, torn or foreign.

        It stands in an entry that begins with it, or in the one that this thread read last: who
        does a task again asks for its batches in their order.
        """
        if (known := _LAST.found(self, batch)) is not None:
            return known
        stored = self.array.get(_key(batch.start))
        if stored is None:
            return None
        _LAST.keep(self, self._checked(stored.to_bytes(), batch.start))
        return _LAST.found(self, batch)

    def begin(self, batch: range) -> bool:
        """Begin to read an entry; False where nothing is gained by that. See `Place`, for all."""
        return self.array.begin(_key(batch.start), ENTRY_BYTES)

    def ready(self, batch: range) -> None:
        """Wait for an entry that `begin` began."""
        self.array.ready(_key(batch.start))

    def forget(self, batch: range) -> None:
        """Let go of an entry that `begin` began and nobody asked for."""
        self.array.forget(_key(batch.start))

    def write(self, *batches: Records) -> None:
        """Add what a task finished, in order; its chunks must be safe in the store already.

        Batches that follow each other in one part are one entry. An entry is not synced: if a
        power cut loses it, its batches are repeated.
        """
        for run in _runs(batches):
            self._add(run)

    def _add(self, run: Sequence[Records]) -> None:
        """Write an entry, unless a copy of the task was here before and did as much."""
        key, data = _key(run[0].first), pack_batches(run)
        if self.array.create(key, data):
            return
        stored = self.array.get(key)
        found = [] if stored is None else self._checked(stored.to_bytes(), run[0].first)
        if sum(len(records.rows) for records in found) < sum(len(one.rows) for one in run):
            self.array.put(key, data)

    def entries(self, written: Iterable[int] = ()) -> Iterator[Records]:
        """Yield the records of all batches that valid entries have; not of parts that are written.

        The entries of an earlier version come first.
        """
        there = self.array / JOURNAL
        names = there.names()
        yield from self._read(name for name in names if len(name) == OLD_DIGITS)
        of_written = {f"{number:05d}" for number in written}
        for part in names:
            if len(part) == PART_DIGITS and part not in of_written:
                yield from self._read(f"{part}/{key}" for key in sorted((there / part).walk()))

    def read_all(self, batches: Sequence[range]) -> dict[int, Records]:
        """Return the records of these batches, as far as they are journalled, by first chunk."""
        wanted = {batch.start: batch for batch in batches}
        return {one.first: one for one in self.entries() if wanted.get(one.first) == one.batch}

    def delete(self, batch: range) -> None:
        """Take a batch out of the entry that begins with it, if there is one: its chunks are gone.

        Of several the first comes first: an entry that would begin with it may come of another.
        """
        old = f"{JOURNAL}/{batch.start // self.batch_chunks:08d}"
        for key in (_key(batch.start), old):
            if (stored := self.array.get(key)) is not None:
                rest = self._checked(stored.to_bytes(), batch.start)[1:]
                self.array.delete(key)
                self.write(*rest)

    def remove(self, part: int | None = None) -> None:
        """Delete all entries, or those of a part: the manifest holds them now."""
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
        """Return the first chunk of an entry by its key, -1 where it is none."""
        name = key.rpartition("/")[2]
        if not name.isdecimal():
            return -1
        return int(name) * (1 if "/" in key else self.batch_chunks)

    def _checked(self, stored: bytes, first: int) -> list[Records]:
        """Return the records of an entry; none of one that is torn, foreign or misplaced."""
        found = unpack_batches(stored) or []
        valid = bool(found) and found[0].job == self.job and found[0].first == first
        return [replace(records, from_journal=True) for records in found] if valid else []


class _Last(threading.local):
    """The entry that a thread read last, by first chunk of its batches."""

    journal: Journal | None = None

    def keep(self, journal: Journal, found: Sequence[Records]) -> None:
        self.journal, self.records = journal, {one.first: one for one in found}

    def found(self, journal: Journal, batch: range) -> Records | None:
        """Return a batch, and forget it: it may be deleted, and asked for again."""
        if self.journal != journal:
            return None
        found = self.records.get(batch.start)
        return self.records.pop(batch.start) if found and found.batch == batch else None


_LAST = _Last()
PART_DIGITS, OLD_DIGITS = 5, 8


def _key(first: int) -> str:
    part, inside = divmod(first, parts.PART_ROWS)
    return f"{JOURNAL}/{part:05d}/{inside // FOLDER_CHUNKS:03d}/{first:012d}"


def _runs(batches: Iterable[Records]) -> Iterator[list[Records]]:
    """Yield batches that follow each other within a part together."""
    run: list[Records] = []
    for one in batches:
        follows = bool(run) and run[-1].batch.stop == one.first
        if run and not (follows and one.first % parts.PART_ROWS):
            yield run
            run = []
        run.append(one)
    if run:
        yield run
