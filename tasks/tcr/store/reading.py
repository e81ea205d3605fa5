"""Task that reads a repertoire: kept rows to the staging, dropped ones to a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gangsaw.codecs.core.errors import GangsawError
from gangsaw.tasks.engine.report.failure import name_failed_chunk
from gangsaw.tasks.tcr.counting.paths.bounds import countable
from gangsaw.tasks.tcr.germline import Resolver
from gangsaw.tasks.tcr.germline.genotypes.genotypes import Lacking, NoGenotype
from gangsaw.tasks.tcr.repertoire import Repertoire, open_repertoire
from gangsaw.tasks.tcr.repertoire.cleaning.clean import clean
from gangsaw.tasks.tcr.repertoire.cleaning.dropped import dropped_lines
from gangsaw.tasks.tcr.repertoire.cleaning.row_counts import RowCounts, row_counts
from gangsaw.tasks.tcr.repertoire.inputs import Input
from gangsaw.tasks.tcr.repertoire.reasons import UNCOUNTABLE
from gangsaw.tasks.tcr.store.setup import Setup
from gangsaw.tasks.tcr.store.staging import ROWS, FileRows, Staging
from gangsaw.tasks.tcr.store.values import batch_of

MOST_IDS = 1 << 22  # compared names: 64 MB with their order
READ_BYTES = 256 << 20  # memory of a task: two batches of rows as read, as filtered, and a piece


@dataclass(frozen=True)
class ReadRepertoire:
    """Task that reads a file from its first to its last line, with a few batches of rows in memory.

    Attributes
    ----------
    staging : destination of the rows
    setup : row filter, germline and model
    keep_going : keep the rows before the damage of a file
    durable : sync rows to the disk before the file counts as read
    """

    staging: Staging
    setup: Setup
    keep_going: bool = False
    durable: bool = True
    peak_bytes: int = READ_BYTES
    name: str = "read"

    def __call__(self, batch: Input) -> FileRows:
        """Return the counters of the file; its `problem` is the reason if it cannot be read."""
        with name_failed_chunk(batch.name):
            reading = _Reading(self.staging, batch)
            try:
                self._read(batch, reading)
            except NoGenotype as error:
                reading.problem = f"{batch.name}: {error}"
            except GangsawError as error:
                reading.problem = str(error)
            if reading.problem and not self.keep_going:
                return FileRows(problem=reading.problem)
            found = reading.finish()
            self.staging.finish(batch.number, found, reading.keys, durable=self.durable)
            return found

    def _read(self, file: Input, reading: _Reading) -> None:
        cleaner = _Cleaner(self.setup)
        opened = opened_input(file, self.setup, keep_going=self.keep_going)
        reading.format, reading.notes = opened.format, opened.notes
        for rows in opened:
            reading.take(*_without_uncountable(*cleaner(rows), self.setup))
        if n := opened.without_copies:
            reading.notes += (f"rows that name no number of copies count as one copy: {n:,}",)
        reading.notes += tuple(reading.ids.notes())
        if opened.failure:
            reading.problem = f"{file.name}: {opened.failure}"


@dataclass(frozen=True)
class _Cleaner:
    """Row filter that resolves genes with the genotype of each sample's donor."""

    setup: Setup
    found: dict[str, tuple[Resolver, Resolver]] = field(default_factory=dict)

    def __call__(self, rows: pa.RecordBatch) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        """Return the result of `clean` for rows of any samples."""
        limits = self.setup.limits
        if self.setup.genotypes is None or not len(rows):
            return clean(rows, *self._resolvers("", Lacking()), limits)
        parts = [
            clean(own, *self._of_sample(sample, own), limits) for sample, own in _by_sample(rows)
        ]
        valid, dropped = (pa.concat_batches(list(each)) for each in zip(*parts, strict=True))
        return valid.sort_by("line"), dropped.sort_by("line")

    def _of_sample(self, sample: str, rows: pa.RecordBatch) -> tuple[Resolver, Resolver]:
        genotypes = self.setup.genotypes
        assert genotypes is not None, "who calls asks"
        if pc.all(pc.not_equal(rows["reason"], "")).as_py():  # dropped rows need no genotype
            return self._resolvers("", Lacking())
        return self._resolvers(f"sample {sample}", genotypes.of(sample))

    def _resolvers(self, key: str, lacking: Lacking) -> tuple[Resolver, Resolver]:
        if key not in self.found:
            make = self.setup.germline.resolver
            calls = self.setup.calls
            self.found[key] = (
                make("V", **calls, lacks=lacking.v),
                make("J", **calls, lacks=lacking.j),
            )
        return self.found[key]


def _by_sample(rows: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
    coded = rows["sample"].dictionary_encode()
    for number, sample in enumerate(coded.dictionary.to_pylist()):
        yield sample, rows.filter(pc.equal(coded.indices, number))


def opened_input(file: Input, setup: Setup, *, keep_going: bool = False) -> Repertoire:
    """Open a repertoire file with the setup's columns and locus; raise `BadParams` for others."""
    return open_repertoire(
        file.path,
        locus=setup.germline.locus,
        columns=dict(setup.columns),
        sample=file.sample,
        keep_going=keep_going,
    )


def _without_uncountable(
    valid: pa.RecordBatch, dropped: pa.RecordBatch, setup: Setup
) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """Drop the valid rows whose wildcards make counts exceed 64 bits; return both batches."""
    fits = countable(batch_of(valid, setup), setup.model)
    if fits.all():
        return valid, dropped
    wrong = valid.filter(pa.array(~fits))
    why = {
        "reason": pa.repeat(UNCOUNTABLE, len(wrong)),
        "detail": pc.binary_join_element_wise("too many wildcards in", wrong["cdr3"], " "),
    }
    columns = [why[n] if n in why else wrong[n] for n in dropped.schema.names]
    more = pa.RecordBatch.from_arrays(columns, schema=dropped.schema)
    return valid.filter(pa.array(fits)), pa.concat_batches([dropped, more]).sort_by("line")


@dataclass
class _Ids:
    """Hashes of a file's row names, to find rows that concatenated tables have twice."""

    hashes: list[NDArray[np.int64]] = field(default_factory=list)
    rows: int = 0
    more: bool = False

    def add(self, rows: pa.RecordBatch) -> None:
        """Add the names of rows with their samples, up to MOST_IDS."""
        if self.more or self.rows + len(rows) > MOST_IDS:
            self.more |= len(rows) > 0
            return
        named = rows.filter(pc.not_equal(rows["id"], ""))
        pairs = zip(named["sample"].to_pylist(), named["id"].to_pylist(), strict=True)
        self.hashes.append(np.fromiter(map(hash, pairs), np.int64, len(named)))
        self.rows += len(rows)

    def notes(self) -> Iterator[str]:
        """Yield a message with the number of rows whose name occurred before, if there are any."""
        every = np.sort(np.concatenate([np.zeros(0, np.int64), *self.hashes]))
        if n := int((every[1:] == every[:-1]).sum()):
            of = f" of the first {self.rows:,}" if self.more else ""
            yield f"rows{of} with the name of a row before them, which count once more: {n:,}"


@dataclass
class _Reading:
    """State of reading one file into the staging."""

    staging: Staging
    file: Input
    tally: RowCounts = field(default_factory=RowCounts)
    samples: dict[str, int] = field(default_factory=dict)
    waiting: list[pa.RecordBatch] = field(default_factory=list)
    pieces: int = 0
    tables: int = 0
    keys: list[str] = field(default_factory=list)
    problem: str = ""
    format: str = ""
    notes: tuple[str, ...] = ()
    ids: _Ids = field(default_factory=lambda: _Ids())

    def take(self, valid: pa.RecordBatch, dropped: pa.RecordBatch) -> None:
        """Add a filtered batch of rows; write pieces as soon as they are full."""
        self.tally += row_counts(valid, dropped)
        self.ids.add(valid)
        self.waiting.append(self._numbered(valid))
        if sum(map(len, self.waiting)) >= self.staging.piece_rows:
            self._write(whole=False)
        if len(dropped):
            table = dropped_lines(self.file.name, dropped)
            self.keys.append(self.staging.write_dropped(self.file.number, self.tables, table))
            self.tables += 1

    def finish(self) -> FileRows:
        """Write the last piece; return the counters of the file."""
        self._write(whole=True)
        for name in self.tally.samples:
            self._number(name)  # also samples without a kept row
        return FileRows(
            tally=self.tally,
            samples=tuple(self.samples),
            tables=self.tables,
            problem=self.problem,
            format=self.format,
            notes=self.notes,
        )

    def _write(self, *, whole: bool) -> None:
        """Write full pieces, and with `whole` the remaining rows, too."""
        rows, size = pa.Table.from_batches(self.waiting, ROWS), self.staging.piece_rows
        full = len(rows) if whole else len(rows) // size * size
        for start in range(0, full, size):
            piece = rows.slice(start, min(size, full - start))
            self.keys.append(self.staging.write(self.file.number, self.pieces, piece))
            self.pieces += 1
        self.waiting = rows.slice(full).combine_chunks().to_batches()  # a slice would keep all rows

    def _numbered(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows with sample indices instead of names."""
        names = rows["sample"].dictionary_encode()
        numbers = [self._number(name) for name in names.dictionary.to_pylist()]
        of_rows = np.array(numbers, np.int32)[names.indices.to_numpy()]
        columns = [pa.array(of_rows) if n == "sample" else rows[n] for n in ROWS.names]
        return pa.RecordBatch.from_arrays(columns, schema=ROWS)

    def _number(self, name: str) -> int:
        return self.samples.setdefault(name, len(self.samples))
