"""What is done of an array: rows of the parts of its manifest; complete parts are written at once.

So a job of any number of chunks holds those parts that it fills, and its journal those entries.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.store.chunks import ArrayCoder
from gangsaw.tasks.store.state import parts
from gangsaw.tasks.store.state.journal import Journal
from gangsaw.tasks.store.state.manifest import Manifest, write_manifest, write_root
from gangsaw.tasks.store.state.parts import PART, read_part, write_part
from gangsaw.tasks.store.state.records import ROW, Records


@dataclass
class _FillingPart:
    """A part that is being filled.

    Attributes
    ----------
    first : number of its first chunk
    rows : (n,) of dtype ROW
    is_done : (n,) whether a chunk is done
    raw_bytes, n_done : of the chunks that are done
    """

    first: int
    rows: NDArray[np.void]
    is_done: NDArray[np.bool_]
    raw_bytes: int = 0

    n_done: int = 0

    @classmethod
    def empty(cls, chunks: range) -> _FillingPart:
        """Return a part of which nothing is done."""
        return cls(chunks.start, np.zeros(len(chunks), ROW), np.zeros(len(chunks), np.bool_))

    @property
    def is_whole(self) -> bool:
        """Whether all its chunks are done."""
        return self.n_done == len(self.rows)

    def add(self, records: Records) -> tuple[int, int]:
        """Take records of chunks; return how many are new, and the raw bytes of these."""
        start = records.first - self.first
        at = slice(start, start + len(records.rows))
        n_new = len(records.rows) - int(np.count_nonzero(self.is_done[at]))
        raw_bytes = records.raw_bytes * n_new // max(1, len(records.rows))
        self.rows[at], self.is_done[at] = records.rows, True
        self.raw_bytes += raw_bytes
        self.n_done += n_new
        return n_new, raw_bytes

    def drop(self, chunks: range, coder: ArrayCoder) -> tuple[int, int, int]:
        """Forget chunks; return how many were done, their raw bytes and their stored bytes."""
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
        """Yield the runs of chunks that are not done."""
        edges = np.flatnonzero(np.diff(self.is_done.astype(np.int8), prepend=1, append=1))
        for start, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            yield range(self.first + start, self.first + stop)


class Ledger:
    """Takes the records of finished batches of an array, in any order, each once or again.

    Parameters
    ----------
    journal : of the array
    n_chunks : of the array

    Attributes
    ----------
    written : rows of the parts that are complete and written, by number
    is_mending : whether an earlier run had finished the array
    n_done, raw_bytes, stored_bytes : of the chunks that are done
    """

    def __init__(self, journal: Journal, n_chunks: int) -> None:
        self.journal, self.n_chunks = journal, n_chunks
        self.n_parts = parts.n_parts(n_chunks)
        self.filling: dict[int, _FillingPart] = {}
        self.written: dict[int, np.void] = {}
        self.is_mending = False
        self.n_done = self.raw_bytes = self.stored_bytes = 0

    def find_written(self) -> None:
        """Take the parts that an earlier run of this job wrote."""
        if self.n_parts == 1:
            return
        for number in parts.parts_there(self.journal.array):
            chunks = parts.part_range(number, self.n_chunks)
            found = read_part(self.journal.array, number)
            if found and found[0].job == self.journal.job and found[0].batch == chunks:
                self.written[number] = found[1]
                self._count(len(chunks), found[0].raw_bytes, found[0].stored_bytes)

    def take(self, manifest: Manifest) -> None:
        """Take what a finished job had; its parts are only replaced when all is done again."""
        self.is_mending = True
        if manifest.whole is not None:
            self.add(replace(manifest.whole, job=self.journal.job))
            return
        for number in range(self.n_parts):
            with suppress(CorruptChunk):  # then its chunks are done again
                part = manifest.checked_part(number)
                self.written[number] = manifest.table[number]
                self._count(len(part.rows), part.raw_bytes, part.stored_bytes)

    def add(self, records: Records) -> None:
        """Take the records of finished chunks; those of a part that is written are known."""
        for number, inside in self._by_part(records):
            if number in self.written:
                continue
            part = self._filled(number)
            n_new, raw_bytes = part.add(inside)
            self._count(n_new, raw_bytes, inside.stored_bytes * n_new // len(inside.rows))
            if part.is_whole and self.n_parts > 1 and not self.is_mending:
                self._write(number)

    def drop(self, chunks: range, coder: ArrayCoder) -> None:
        """Forget chunks of one part, as far as they are done: they are not there any more."""
        number = chunks.start // parts.PART_ROWS
        if number in self.written:
            self._reopen(number)
        if number in self.filling:
            self._count(*(-n for n in self.filling[number].drop(chunks, coder)))

    @property
    def gaps(self) -> tuple[range, ...]:
        """The runs of chunks that are not done, none across parts."""
        return tuple(gap for number in range(self.n_parts) for gap in self._gaps(number))

    def finish(self) -> None:
        """Write the manifest; ValueError where a chunk is not done."""
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
        """Delete what stands for finished chunks of this job in the store, a manifest apart."""
        self.journal.remove()
        if not self.is_mending:
            (self.journal.array / parts.PARTS).delete_all()

    def _write(self, number: int) -> None:
        """Write a complete part; its journal is not needed any more."""
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
            self.filling[number] = _FillingPart.empty(parts.part_range(number, self.n_chunks))
        return self.filling[number]

    def _gaps(self, number: int) -> Iterator[range]:
        if number in self.filling:
            yield from self.filling[number].gaps()
        elif number not in self.written and self.n_chunks:
            yield parts.part_range(number, self.n_chunks)

    def _by_part(self, records: Records) -> Iterator[tuple[int, Records]]:
        """Yield what each part gets; batches of an earlier version may lie in two."""
        size, whole = parts.PART_ROWS, records.batch
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
