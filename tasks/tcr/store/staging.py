"""Staging of rows between reading and counting, in the store to write; removed at the end.

A repertoire of 40 million rows is one gz stream. Which rows are kept, and so the position of a row
in the store, is known only after reading. So kept rows wait in pieces, each as long as a chunk of
the store. Any worker can then count a chunk from one piece or a few.

The format is Arrow's stream format with LZ4, not Parquet: row groups, statistics and encodings of
Parquet do not help for rows that are read once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypedDict, cast

import pyarrow as pa

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.store.objects.prefix import Prefix
from gangsaw.tasks.store.state.journal import FOLDER
from gangsaw.tasks.store.state.records import add_checksum, strip_checksum
from gangsaw.tasks.store.state_fields import read_fields
from gangsaw.tasks.tcr.repertoire.cleaning.row_counts import RowCounts

ROWS = pa.schema(
    [
        ("line", pa.int64()),
        ("id", pa.string()),
        ("cdr3", pa.string()),
        ("v", pa.int32()),
        ("j", pa.int32()),
        ("copies", pa.int64()),
        ("sample", pa.int32()),  # index within the file
    ]
)


class FileRowsRecord(TypedDict):
    """JSON form of `FileRows`; `tally` has sample, reason and rows."""

    tally: Sequence[tuple[str, str, int]]
    samples: Sequence[str]
    tables: int
    problem: str
    format: str
    notes: Sequence[str]


@dataclass(frozen=True)
class FileRows:
    """Counters and notes of one input file.

    Attributes
    ----------
    tally : rows by sample and reason
    samples : names, indexed by the samples of staged rows
    tables : number of objects with parts of the table of dropped rows
    problem : reason why the file could not be read, or not completely; else ""
    format, notes : recognised format, and messages about assumptions
    """

    tally: RowCounts = field(default_factory=RowCounts)
    samples: tuple[str, ...] = ()
    tables: int = 0
    problem: str = ""
    format: str = ""
    notes: tuple[str, ...] = ()

    @property
    def n_staged(self) -> int:
        """Number of staged rows."""
        return self.tally.total()

    @property
    def rows(self) -> int:
        """Number of rows of the file, including dropped ones."""
        return sum(self.tally.rows.values())

    def to_dict(self) -> FileRowsRecord:
        """Return the counters as JSON values."""
        return {
            "tally": [(*key, n) for key, n in self.tally.rows.items()],
            "samples": self.samples,
            "tables": self.tables,
            "problem": self.problem,
            "format": self.format,
            "notes": self.notes,
        }

    @classmethod
    def from_dict(cls, record: FileRowsRecord) -> FileRows:
        """Return the counters from the result of `to_dict`."""
        return cls(
            tally=RowCounts({(sample, reason): n for sample, reason, n in record["tally"]}),
            samples=tuple(record["samples"]),
            tables=record["tables"],
            problem=record["problem"],
            format=record["format"],
            notes=tuple(record["notes"]),
        )


@dataclass(frozen=True)
class PieceRows:
    """Consecutive rows of one staged piece, the unit in which rows of a file are stored.

    Attributes
    ----------
    file, piece : numbers of the file and of its piece
    start, stop : rows within the piece
    samples : for each sample of the file, its index in the store
    """

    file: int
    piece: int
    start: int
    stop: int
    samples: tuple[int, ...]


@dataclass(frozen=True)
class Staging:
    """Staged rows: files of clean rows between the phases reading and counting of a job.

    Attributes
    ----------
    array : store prefix of the array below which they are hidden, like the journal
    job : fingerprint of the reading job; rows staged by other jobs are ignored
    piece_rows : rows of a piece; the last one of each file has fewer
    """

    array: Prefix
    job: str
    piece_rows: int

    def write(self, file: int, piece: int, rows: pa.Table) -> str:
        """Store a piece; return its key."""
        sink = pa.BufferOutputStream()
        options = pa.ipc.IpcWriteOptions(compression="lz4")
        with pa.ipc.new_stream(sink, ROWS, options=options) as stream:
            stream.write_table(rows)
        return self._put(f"{self._file(file)}/rows/{piece:06d}", sink.getvalue().to_pybytes())

    def read(self, part: PieceRows) -> pa.Table:
        """Return rows of a piece.

        Raises
        ------
        CorruptChunk : the piece is missing
        """
        data = self._get(f"{self._file(part.file)}/rows/{part.piece:06d}")
        rows = pa.ipc.open_stream(pa.py_buffer(data)).read_all()
        return rows.slice(part.start, part.stop - part.start)

    def write_dropped(self, file: int, number: int, table: bytes) -> str:
        """Store a part of the table of dropped rows; return its key."""
        return self._put(f"{self._file(file)}/dropped/{number:06d}", table)

    def read_dropped(self, files: Sequence[FileRows]) -> Iterator[bytes]:
        """Yield the parts of the table of dropped rows, in the order of files and lines."""
        for file, found in enumerate(files):
            for number in range(found.tables):
                yield self._get(f"{self._file(file)}/dropped/{number:06d}")

    def finish(self, file: int, found: FileRows, keys: Sequence[str], *, durable: bool) -> None:
        """Record that an input file is read, once its pieces are stored."""
        if durable:
            self.array.flush(keys)
        record = {"job": self.job, "found": found.to_dict()}
        self._put(self._record(file), add_checksum(json.dumps(record).encode()))

    def finished(self, n_files: int) -> dict[int, FileRows]:
        """Return the counters of each completely read file, by number."""
        stored = self.array.get_many(self._key(self._record(file)) for file in range(n_files))
        records = {
            file: self._unpacked(data.to_bytes()) for file, data in enumerate(stored) if data
        }
        return {file: record for file, record in records.items() if record is not None}

    def remove(self) -> None:
        """Delete all staged rows."""
        (self.array / FOLDER / "staging").delete_all()

    def _unpacked(self, data: bytes) -> FileRows | None:
        if (body := strip_checksum(data)) is None:
            return None
        try:
            record = read_fields(body)
            if record.text("job") != self.job:
                return None
            return FileRows.from_dict(cast("FileRowsRecord", record.fields("found").values))
        except (ValueError, TypeError, LookupError, AttributeError):  # the file is read again
            return None

    def _put(self, name: str, data: bytes) -> str:
        self.array.put(self._key(name), data)
        return self._key(name)

    def _get(self, name: str) -> bytes:
        if (data := self.array.get(self._key(name))) is None:
            raise CorruptChunk("staged rows are missing", store=str(self.array), chunk=name)
        return data.to_bytes()

    def _record(self, file: int) -> str:
        return f"{self._file(file)}/finished"

    @staticmethod
    def _file(file: int) -> str:
        return f"{file:06d}"

    @staticmethod
    def _key(name: str) -> str:
        return f"{FOLDER}/staging/{name}"


def pieces_of(
    rows: range, n_rows: Sequence[int], samples: Sequence[tuple[int, ...]], piece: int
) -> tuple[PieceRows, ...]:
    """Return the staged pieces with some rows of the store.

    Parameters
    ----------
    rows : row numbers in the store
    n_rows : number of rows of each file
    samples : for each file, the indices of its samples in the store
    piece : rows of a piece
    """
    found, first = [], 0
    for file, n in enumerate(n_rows):
        start, stop = max(rows.start - first, 0), min(rows.stop - first, n)
        while start < stop:
            number, offset = divmod(start, piece)
            end = min(stop, (number + 1) * piece)
            found.append(PieceRows(file, number, offset, end - number * piece, samples[file]))
            start = end
        first += n
    return tuple(found)
