"""Chunk function of counting: staged rows of a chunk in, the chunk of every variable out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.tasks.engine.report.failure import name_failed_chunk
from gangsaw.tasks.store.arrays.chunks import borrow_coder, chunk_key
from gangsaw.tasks.store.objects.prefix import Prefix
from gangsaw.tasks.store.state.journal import Journal
from gangsaw.tasks.store.state.records import ROW, Records
from gangsaw.tasks.tcr.store.staging import PieceRows, Staging
from gangsaw.tasks.tcr.store.values import Columns, CountTables


@dataclass(frozen=True)
class Chunk:
    """Chunk number along `reference`, and the staged rows that it counts.

    Attributes
    ----------
    number : number of the chunk along `reference`
    n_rows : number of its references
    parts : staged pieces with its rows, in their order
    """

    number: int
    n_rows: int
    parts: tuple[PieceRows, ...]

    def __str__(self) -> str:
        """Return the display name used in messages."""
        return str(self.number)


@dataclass(frozen=True)
class CountChunk:
    """Task that counts the references of a chunk, and stores the chunk of each variable.

    `commit` writes the journal entries. An entry has a record for each variable: the chunks of all
    variables are numbered like those of one array of (chunk, variable).

    Attributes
    ----------
    staging : staged rows
    target : store prefix of the group
    metadata : zarr.json of each variable, in the order of the chunk's journal records
    values : function that counts rows, on the CPU or a GPU
    journal : journal of the group's first array
    """

    staging: Staging
    target: Prefix
    metadata: Mapping[str, bytes]
    values: CountTables
    journal: Journal
    peak_bytes: int
    device_batches: int
    device_peak_bytes: int
    durable: bool = True
    name: str = "count"

    def __call__(self, batch: Chunk) -> Records:
        """Count and store a chunk, unless it is in the journal; return its journal records."""
        return self._records([batch], "cpu")[0]

    def on_device(self, batches: Sequence[Chunk]) -> list[Records]:
        """Count and store several chunks on the GPU of this process; return their records."""
        return self._records(batches, "gpu")

    def _records(self, chunks: Sequence[Chunk], device: str) -> list[Records]:
        with name_failed_chunk(f"{self.target}, references, {chunks[0]}..{chunks[-1]}"):
            found = {chunk.number: self.journal.read(self.records_of(chunk)) for chunk in chunks}
            left = [chunk for chunk in chunks if found[chunk.number] is None]
            values = self.values([self._rows(chunk) for chunk in left], device) if left else ()
            for chunk, columns in zip(left, values, strict=True):
                found[chunk.number] = self._store(chunk, columns)
            return [records for records in found.values() if records is not None]

    def records_of(self, chunk: Chunk) -> range:
        """Return the numbers of the chunk's journal records, one per variable."""
        first = chunk.number * len(self.metadata)
        return range(first, first + len(self.metadata))

    def _rows(self, chunk: Chunk) -> pa.Table:
        return pa.concat_tables([self._part(part) for part in chunk.parts]).combine_chunks()

    def _part(self, part: PieceRows) -> pa.Table:
        """Return the staged rows of a piece, with the indices of their samples in the store."""
        rows = self.staging.read(part)
        numbers = np.asarray(part.samples, np.int32)[rows["sample"].to_numpy()]
        at = rows.schema.get_field_index("sample")
        return rows.set_column(at, rows.schema.field(at), pa.array(numbers))

    def _store(self, chunk: Chunk, columns: Columns) -> Records:
        """Encode and store the chunk of every variable; return its journal records."""
        rows = np.empty(len(self.metadata), ROW)
        for i, (name, metadata) in enumerate(self.metadata.items()):
            key = self._key(name, chunk)
            with name_failed_chunk(f"{self.target}/{key}"):
                with borrow_coder(metadata) as coder:
                    stored = coder.encode(chunk.number, columns[name])
                self.target.put(key, stored)
            data = stored.as_numpy_array()
            rows[i] = len(data), crc32c(data)
        raw_bytes = sum(columns[name].nbytes for name in self.metadata)
        return Records(self.journal.job, self.records_of(chunk).start, raw_bytes, rows)

    @property
    def waits(self) -> bool:
        """True if `commit` takes time."""
        return self.durable

    def commit(self, chunks: Sequence[Chunk], done: Sequence[Records]) -> None:
        """Write journal entries of chunks whose variables are all stored."""
        with name_failed_chunk(f"{self.target}, references, {chunks[0]}..{chunks[-1]}"):
            new = [pair for pair in zip(chunks, done, strict=True) if not pair[1].from_journal]
            if self.durable:
                keys = (self._key(name, chunk) for chunk, _ in new for name in self.metadata)
                self.target.flush(keys)
            for _, records in new:
                self.journal.write(records)

    def _key(self, name: str, chunk: Chunk) -> str:
        return f"{name}/{chunk_key(self.metadata[name], chunk.number)}"
