"""Ledger of an array: manifest rows of its finished chunks; complete parts are written at once.

So a job of any size has in memory only the parts that it is filling, and in the store only their
journal entries.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.store.arrays.chunks import ArrayCoder
from gangsaw.tasks.store.state import manifest_shards
from gangsaw.tasks.store.state.journal import Journal
from gangsaw.tasks.store.state.lease import LeaseLost
from gangsaw.tasks.store.state.manifest import Manifest, write_manifest, write_root
from gangsaw.tasks.store.state.manifest_shards import PART, read_part, write_part
from gangsaw.tasks.store.state.records import ROW, Records

ENTRY_SECONDS = 5.0  # between journal entries that a client writes: work that a kill may cost
ENTRY_CHUNKS = 4096  # upper bound of the finished chunks that wait for an entry
ENTRIES_AT_ONCE = 16  # entries written concurrently


@dataclass
class _FillingPart:
    """Part of the manifest, up to PART_ROWS rows, with rows of unfinished chunks still missing.

    Attributes
    ----------
    first : number of its first chunk
    rows : (n,) of dtype ROW
    is_done : (n,) bool, True for finished chunks
    raw_bytes, n_done : raw size and number of the finished chunks
    """

    first: int
    rows: NDArray[np.void]
    is_done: NDArray[np.bool_]
    raw_bytes: int = 0

    n_done: int = 0

    @classmethod
    def empty(cls, chunks: range) -> _FillingPart:
        """Return a part without finished chunks."""
        return cls(chunks.start, np.zeros(len(chunks), ROW), np.zeros(len(chunks), np.bool_))

    @property
    def is_whole(self) -> bool:
        """True if all chunks of the part are done."""
        return self.n_done == len(self.rows)

    def add(self, records: Records) -> tuple[int, int]:
        """Add records of finished chunks; return the number of new chunks and their raw bytes."""
        start = records.first - self.first
        at = slice(start, start + len(records.rows))
        n_new = len(records.rows) - int(np.count_nonzero(self.is_done[at]))
        raw_bytes = records.raw_bytes * n_new // max(1, len(records.rows))
        self.rows[at], self.is_done[at] = records.rows, True
        self.raw_bytes += raw_bytes
        self.n_done += n_new
        return n_new, raw_bytes

    def drop(self, chunks: range, coder: ArrayCoder) -> tuple[int, int, int]:
        """Mark chunks as not done; return number, raw and stored bytes of those that were done."""
        numbers = [number for number in chunks if self.is_done[number - self.first]]
        n_samples = coder.grid.n_samples
        known = int(sum(n_samples(self.first + i) for i in np.flatnonzero(self.is_done).tolist()))
        raw_bytes = self.raw_bytes * sum(map(n_samples, numbers)) // max(1, known)
        at = np.array(numbers, np.int64) - self.first
        stored_bytes = int(self.rows["stored"][at].sum())
        self.is_done[at] = False
        self.raw_bytes -= raw_bytes
        self.n_done -= len(numbers)
        return len(numbers), raw_bytes, stored_bytes

    def gaps(self) -> Iterator[range]:
        """Yield ranges of consecutive chunks that are not done."""
        edges = np.flatnonzero(np.diff(self.is_done.astype(np.int8), prepend=1, append=1))
        for start, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            yield range(self.first + start, self.first + stop)


class Ledger:
    """Records of the finished chunks of an array, which a job adds in any order and repeatedly.

    Each complete part of the manifest is written at once, and removed from memory and journal.

    Parameters
    ----------
    journal : journal of the array
    n_chunks : number of chunks of the array

    Attributes
    ----------
    written : rows of dtype PART of the parts that are written, by part number
    is_mending : True if an earlier run had finished the array
    n_done, raw_bytes, stored_bytes : number, raw size and stored size of the finished chunks
    """

    def __init__(self, journal: Journal, n_chunks: int) -> None:
        self.journal, self.n_chunks = journal, n_chunks
        self.n_parts = manifest_shards.n_parts(n_chunks)
        self.filling: dict[int, _FillingPart] = {}
        self.written: dict[int, np.void] = {}
        self.is_mending = False
        self.n_done = self.raw_bytes = self.stored_bytes = 0

    def find_written(self) -> None:
        """Add the manifest parts that an earlier run of this job wrote."""
        if self.n_parts == 1:
            return
        for number in manifest_shards.find_parts(self.journal.array):
            chunks = manifest_shards.part_range(number, self.n_chunks)
            found = read_part(self.journal.array, number)
            if found and found[0].job == self.journal.job and found[0].batch == chunks:
                self.written[number] = found[1]
                self._count(len(chunks), found[0].raw_bytes, found[0].stored_bytes)

    def add_manifest(self, manifest: Manifest) -> None:
        """Add the manifest of a finished job, whose lost chunks this job writes again.

        Its parts are replaced only when all chunks are done again.
        """
        self.is_mending = True
        if manifest.whole is not None:
            self.add(replace(manifest.whole, job=self.journal.job))
            return
        for number in range(self.n_parts):
            with suppress(CorruptChunk):  # the chunks of a damaged part are repeated
                part = manifest.checked_part(number)
                self.written[number] = manifest.table[number]
                self._count(len(part.rows), part.raw_bytes, part.stored_bytes)

    def add(self, records: Records) -> None:
        """Add the records of finished chunks, except those in manifest parts already written."""
        for number, inside in self._by_part(records):
            if number in self.written:
                continue
            part = self._filled(number)
            n_new, raw_bytes = part.add(inside)
            self._count(n_new, raw_bytes, inside.stored_bytes * n_new // len(inside.rows))
            if part.is_whole and self.n_parts > 1 and not self.is_mending:
                self._write(number)

    def drop(self, chunks: range, coder: ArrayCoder) -> None:
        """Mark chunks of one manifest part as not done, because the store has lost them."""
        number = chunks.start // manifest_shards.PART_ROWS
        if number in self.written:
            self._reopen(number)
        if number in self.filling:
            self._count(*(-n for n in self.filling[number].drop(chunks, coder)))

    @property
    def gaps(self) -> tuple[range, ...]:
        """Ranges of consecutive chunks that are not done, split at borders of manifest parts."""
        return tuple(gap for number in range(self.n_parts) for gap in self._gaps(number))

    def finish(self) -> None:
        """Write the manifest; raise ValueError if a chunk is not done."""
        if self.n_done != self.n_chunks:
            raise ValueError("the journal has a gap")
        array, job = self.journal.array, self.journal.job
        if self.n_parts == 1:
            part = self._filled(0)
            write_manifest(array, Records(job, 0, part.raw_bytes, part.rows))
            return
        for number in list(self.filling):
            self._write(number)
        rows = [self.written[number] for number in range(self.n_parts)]
        write_root(array, job, self.n_chunks, np.array(rows, PART))

    def forget(self) -> None:
        """Delete the journal and the parts that this job wrote; a manifest stays."""
        self.journal.remove()
        if not self.is_mending:
            (self.journal.array / manifest_shards.PARTS).delete_all()

    def _write(self, number: int) -> None:
        """Write a complete manifest part, by its number, and delete its journal entries."""
        part = self.filling.pop(number)
        records = Records(self.journal.job, part.first, part.raw_bytes, part.rows)
        self.written[number] = write_part(self.journal.array, number, records)
        self.journal.remove(number)

    def _reopen(self, number: int) -> None:
        found = read_part(self.journal.array, number)
        assert found is not None, "it was read before"
        records, row = found[0], self.written.pop(number)
        self._count(-len(records.rows), -int(row["raw"]), -int(row["stored"]))
        n_new, raw_bytes = self._filled(number).add(records)
        self._count(n_new, raw_bytes, records.stored_bytes)

    def _filled(self, number: int) -> _FillingPart:
        if number not in self.filling:
            self.filling[number] = _FillingPart.empty(
                manifest_shards.part_range(number, self.n_chunks)
            )
        return self.filling[number]

    def _gaps(self, number: int) -> Iterator[range]:
        if number in self.filling:
            yield from self.filling[number].gaps()
        elif number not in self.written and self.n_chunks:
            yield manifest_shards.part_range(number, self.n_chunks)

    def _by_part(self, records: Records) -> Iterator[tuple[int, Records]]:
        """Split records by manifest part; yield part number and records of each.

        Batches of an earlier version may lie in two parts.
        """
        size, whole = manifest_shards.PART_ROWS, records.batch
        if not whole:
            return
        for number in range(whole.start // size, -(-whole.stop // size)):
            start, stop = max(whole.start, number * size), min(whole.stop, (number + 1) * size)
            rows = records.rows[start - whole.start : stop - whole.start]
            raw_bytes = records.raw_bytes * len(rows) // len(whole)
            yield number, Records(records.job, start, raw_bytes, rows)

    def _count(self, n_done: int, raw_bytes: int, stored_bytes: int) -> None:
        self.n_done += n_done
        self.raw_bytes += raw_bytes
        self.stored_bytes += stored_bytes


class EntryWriter:
    """Writer of journal entries on the client, each with the records of many results.

    An entry costs a request to the store. A killed job repeats the chunks since the last entry. A
    job that succeeds writes no last entry, since the manifests follow.

    Parameters
    ----------
    ledgers : ledgers of the arrays
    """

    def __init__(self, ledgers: Sequence[Ledger]) -> None:
        self.ledgers = ledgers
        self._waiting: dict[int, list[Records]] = {}
        self._n_chunks = 0
        self._written = time.monotonic()

    def add(self, array: int, records: Records) -> None:
        """Add the records of stored chunks of an array by its index; write entries if due."""
        self._waiting.setdefault(array, []).append(records)
        self._n_chunks += len(records.rows)
        is_due = time.monotonic() - self._written >= ENTRY_SECONDS
        if is_due or self._n_chunks >= ENTRY_CHUNKS:
            self.write()

    def forget(self, array: int) -> None:
        """Discard the waiting records of an array (by index) whose manifest has been written."""
        self._waiting.pop(array, None)

    def write(self) -> None:
        """Write the waiting records, except those of manifest parts that are written."""
        with ThreadPoolExecutor(ENTRIES_AT_ONCE, "gangsaw-journal") as pool:
            list(pool.map(self._write, list(self._waiting)))
        self._waiting.clear()
        self._n_chunks, self._written = 0, time.monotonic()

    @contextmanager
    def write_on_failure(self) -> Iterator[None]:
        """Write the waiting records if the context fails, unless another job has the target."""
        try:
            yield
        except LeaseLost:
            raise
        except BaseException:
            with suppress(Exception):  # those chunks are repeated
                self.write()
            raise

    def _write(self, array: int) -> None:
        ledger = self.ledgers[array]
        of_written = {number * manifest_shards.PART_ROWS for number in ledger.written}
        left = [
            records
            for records in self._waiting[array]
            if records.first - records.first % manifest_shards.PART_ROWS not in of_written
        ]
        ledger.journal.write(*sorted(left, key=lambda records: records.first))
