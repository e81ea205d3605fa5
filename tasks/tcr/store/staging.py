"""Rows between reading and counting: staged in the store that is being written, removed at the end.

A repertoire of 40 million rows is one gz stream: only what has been read tells which rows are kept,
and so where in the store a row belongs. Pieces of kept rows therefore wait here, each as long as a
chunk of the store; a chunk is then counted from one piece or a few, by any worker.

Arrow's stream format with LZ4, not Parquet: what Parquet adds (row groups, statistics, encodings)
is of no use to rows that are read once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

import pyarrow as pa

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.store.place import Place
from gangsaw.tasks.store.state.journal import FOLDER
from gangsaw.tasks.store.state.records import sealed, unsealed
from gangsaw.tasks.tcr.cleaning.row_counts import RowCounts

ROWS = pa.schema(
    [
        ("line", pa.int64()),
        ("id", pa.string()),
        ("cdr3", pa.string()),
        ("v", pa.int32()),
        ("j", pa.int32()),
        ("copies", pa.int64()),
        ("sample", pa.int32()),  # number within the file
    ]
)


class FileRowsRecord(TypedDict):
    """`FileRows` as JSON has it; `tally` holds sample, reason and rows."""

    tally: Sequence[tuple[str, str, int]]
    samples: Sequence[str]
    tables: int
    problem: str
    format: str
    notes: Sequence[str]


@dataclass(frozen=True)
class FileRows:
    """What reading one file gave.

    Attributes
    ----------
    tally : rows by sample and reason
    samples : names, by the numbers that staged rows have
    tables : objects that hold the table of dropped rows
    problem : why it could not be read, or not completely; "" where it could
    format, notes : the format that was recognised, and what was assumed
    """

    tally: RowCounts = field(default_factory=RowCounts)
    samples: tuple[str, ...] = ()
    tables: int = 0
    problem: str = ""
    format: str = ""
    notes: tuple[str, ...] = ()

    @property
    def kept(self) -> int:
        """Rows that are staged."""
        return self.tally.total()

    @property
    def rows(self) -> int:
        """Rows of the file, those included that were dropped."""
        return sum(self.tally.rows.values())

    def to_dict(self) -> FileRowsRecord:
        """Return what JSON can hold."""
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
        """Return what `to_dict` described."""
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
    """Consecutive rows of one piece.

    Attributes
    ----------
    file, piece : numbers
    start, stop : rows within the piece
    samples : number in the store of each sample of the file
    """

    file: int
    piece: int
    start: int
    stop: int
    samples: tuple[int, ...]


@dataclass(frozen=True)
class Staging:
    """The staged rows of a job.

    Attributes
    ----------
    array : place of the array below which they are hidden, as the journal is
    job : fingerprint of the reading; rows that another job staged do not count
    piece_rows : rows of a piece; the last one of each file has fewer
    """

    array: Place
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
        CorruptChunk : the piece is not there
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
        """Record that a file is read, once its pieces are safe."""
        if durable:
            self.array.flush(keys)
        record = {"job": self.job, "found": found.to_dict()}
        self._put(self._record(file), sealed(json.dumps(record).encode()))

    def finished(self, n_files: int) -> dict[int, FileRows]:
        """Return what each file gave that was read to its end, by number."""
        stored = self.array.get_many(self._key(self._record(file)) for file in range(n_files))
        records = {
            file: self._unpacked(data.to_bytes()) for file, data in enumerate(stored) if data
        }
        return {file: record for file, record in records.items() if record is not None}

    def remove(self) -> None:
        """Delete all that is staged."""
        (self.array / FOLDER / "staging").delete_all()

    def _unpacked(self, data: bytes) -> FileRows | None:
        if (body := unsealed(data)) is None:
            return None
        record = json.loads(body)
        return FileRows.from_dict(record["found"]) if record["job"] == self.job else None

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
    rows: range, kept: Sequence[int], samples: Sequence[tuple[int, ...]], piece: int
) -> tuple[PieceRows, ...]:
    """Return where rows of the store are staged.

    Parameters
    ----------
    rows : numbers in the store
    kept : rows of each file
    samples : of each file, number in the store of each of its samples
    piece : rows of a piece
    """
    found, first = [], 0
    for file, n in enumerate(kept):
        start, stop = max(rows.start - first, 0), min(rows.stop - first, n)
        while start < stop:
            number, offset = divmod(start, piece)
            end = min(stop, (number + 1) * piece)
            found.append(PieceRows(file, number, offset, end - number * piece, samples[file]))
            start = end
        first += n
    return tuple(found)
