"""The queries: files or a store of reads, in batches that depend on them alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.align.queries.queries import Queries
from gangsaw.tasks.align.search.seeds.anchors import QUERY_MASK
from gangsaw.tasks.reads.files.input import READERS
from gangsaw.tasks.reads.files.kernels import NAME, QUALITY, SEQUENCE, gather_lines
from gangsaw.tasks.reads.files.records import FastqRecords
from gangsaw.tasks.reads.order.intake import cut_in_parts
from gangsaw.tasks.reads.views.readset import Reads, ReadSet
from gangsaw.tasks.sequences.files.text import text_of
from gangsaw.tasks.sequences.ragged import Ragged

BATCH_BYTES = 1 << 22  # of names, letters and qualities
KINDS = {b">": "fasta", b"@": "fastq"}


def batches_of(paths: Sequence[str], batch_bytes: int) -> Iterator[Queries]:
    """Yield the queries of files and stores, in their order.

    Raises
    ------
    BadParams : a path holds no reads, or a query is too long
    """
    for path in paths:
        found = _of_store(path) if is_store(path) else _of_file(path, batch_bytes)
        for queries in found:
            _check(queries, path)
            yield queries


def is_store(path: str) -> bool:
    """Whether queries are in a store, and not in a file."""
    return "://" in path or Path(path).is_dir()


def _of_store(path: str) -> Iterator[Queries]:
    return map(_of_reads, ReadSet(path).batches())


def _of_reads(reads: Reads) -> Queries:
    none = Ragged(np.empty(0, np.uint8), np.zeros(len(reads) + 1, np.int64))
    return Queries(reads.names, reads.sequences, reads.qualities or none)


def _of_file(path: str, batch_bytes: int) -> Iterator[Queries]:
    file = READERS[_kind(path)](path)
    for pieces in cut_in_parts(((records,) for records in file.records()), batch_bytes):
        yield _joined([records for (records,) in pieces])


def _kind(path: str) -> str:
    """Return whether a file is FASTA or FASTQ, by its first letter."""
    if not Path(path).exists():
        raise BadParams(f"{path}: no such file")
    start = next(text_of(path), np.zeros(1, np.uint8))[:1].tobytes()
    if start not in KINDS:
        raise BadParams(f"{path} is neither FASTA nor FASTQ, nor a Zarr store of reads")
    return KINDS[start]


def _joined(pieces: list[FastqRecords]) -> Queries:
    return Queries(*(_lines(pieces, which) for which in (NAME, SEQUENCE, QUALITY)))


def _lines(pieces: list[FastqRecords], which: int) -> Ragged:
    lengths = [records.ends[:, which] - records.begins[:, which] for records in pieces]
    offsets = np.concatenate(([0], np.cumsum(np.concatenate(lengths))))
    data, first = np.empty(int(offsets[-1]), np.uint8), 0
    for records in pieces:
        own = offsets[first : first + len(records) + 1] - offsets[first]
        begins, ends = (np.ascontiguousarray(a[:, which]) for a in (records.begins, records.ends))
        gather_lines(records.text, begins, ends, own, data[int(offsets[first]) :])
        first += len(records)
    return Ragged(data, offsets)


def _check(queries: Queries, path: str) -> None:
    longest = int(queries.sequences.lengths.max(initial=0))
    if longest > QUERY_MASK:
        at = int(queries.sequences.lengths.argmax())
        name = queries.names[at].decode("utf-8", "replace")
        raise BadParams(
            f"{path}: query {name} has {longest:,} letters: cut it, {QUERY_MASK:,} are the most"
        )
