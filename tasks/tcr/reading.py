"""The chunk function that reads a repertoire: kept rows into the staging, dropped ones into a table."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gangsaw.codecs.core.errors import GangsawError
from gangsaw.tasks.failure import naming
from gangsaw.tasks.tcr.dropped import dropped_lines
from gangsaw.tasks.tcr.staging import ROWS, FileRows, Staging


@dataclass(frozen=True)
class Input:
    """A file to read.

    Attributes
    ----------
    number : place among all files
    path : as the user gave it, but absolute
    name : as the user gave it
    sample : what its rows belong to unless a column says so
    """

    number: int
    path: str
    name: str
    sample: str

    def __str__(self) -> str:
        """Return what messages call it."""
        return self.name


@dataclass(frozen=True)
class ReadRepertoire:
    """Reads a file from its first to its last line, holding a piece of it at a time.

    Attributes
    ----------
    staging : takes the rows
    cleaning : yields (kept, dropped) for each batch of rows of a file
    durable : whether rows are synced to the disk before the file counts as read
    """

    staging: Staging
    cleaning: Cleaning
    peak_bytes: int
    durable: bool = True
    name: str = "read"

    def __call__(self, batch: Input) -> FileRows:
        """Return what the file gave; one that cannot be read is named in the result, not raised."""
        with naming(batch.name):
            reading = _Reading(self.staging, batch)
            try:
                for kept, dropped in self.cleaning.rows(batch):
                    reading.keep(kept)
                    reading.drop(dropped)
            except GangsawError as error:
                return FileRows(problem=str(error))
            found = reading.finish()
            self.staging.finish(batch.number, found, reading.keys, durable=self.durable)
            return found


@dataclass
class _Reading:
    """One file on its way into the staging."""

    staging: Staging
    file: Input
    samples: dict[str, int] = field(default_factory=dict)
    reasons: Counter[str] = field(default_factory=Counter)
    waiting: list[pa.RecordBatch] = field(default_factory=list)
    n_waiting: int = 0
    kept: int = 0
    pieces: int = 0
    tables: int = 0
    keys: list[str] = field(default_factory=list)

    def keep(self, rows: pa.RecordBatch) -> None:
        """Take kept rows; write pieces as soon as they are full."""
        self.waiting.append(self._numbered(rows))
        self.n_waiting += len(rows)
        self.kept += len(rows)
        if self.n_waiting >= self.staging.piece_rows:
            self._write(whole=False)

    def drop(self, rows: pa.RecordBatch) -> None:
        """Take dropped rows."""
        if not len(rows):
            return
        counted = pc.value_counts(rows["reason"])
        self.reasons.update({str(c["values"]): c["counts"].as_py() for c in counted})
        table = dropped_lines(self.file.name, rows)
        self.keys.append(self.staging.write_dropped(self.file.number, self.tables, table))
        self.tables += 1

    def finish(self) -> FileRows:
        """Write the last piece; return what the file gave."""
        self._write(whole=True)
        return FileRows(
            rows=self.kept + self.reasons.total(),
            kept=self.kept,
            dropped=dict(self.reasons),
            samples=tuple(self.samples),
            tables=self.tables,
        )

    def _write(self, *, whole: bool) -> None:
        """Write full pieces, and with `whole` what is left of the rows, too."""
        rows, size = pa.Table.from_batches(self.waiting, ROWS), self.staging.piece_rows
        full = len(rows) if whole else len(rows) // size * size
        for start in range(0, full, size):
            piece = rows.slice(start, min(size, full - start))
            self.keys.append(self.staging.write(self.file.number, self.pieces, piece))
            self.pieces += 1
        rest = rows.slice(full).combine_chunks()  # a copy: a slice would hold all the batches
        self.waiting, self.n_waiting = rest.to_batches(), len(rest)

    def _numbered(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows with samples by number instead of by name."""
        names = rows["sample"].dictionary_encode()
        numbers = [self._number(str(name)) for name in names.dictionary]
        sample = pa.array(np.array(numbers, np.int32)).take(names.indices)
        columns = {name: rows[name] for name in ROWS.names if name != "sample"}
        return pa.RecordBatch.from_pydict({**columns, "sample": sample}, schema=ROWS)

    def _number(self, name: str) -> int:
        return self.samples.setdefault(name or self.file.sample, len(self.samples))
