"""The queries: files or a store of reads, in batches that depend on them alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.align.queries.queries import Queries
from gangsaw.tasks.align.search.seeds.anchors import QUERY_MASK
from gangsaw.tasks.genomes.export import opened
from gangsaw.tasks.genomes.info import ATTRIBUTE as GENOME
from gangsaw.tasks.genomes.stored import StoredGenome
from gangsaw.tasks.reads.files.input import READERS
from gangsaw.tasks.reads.files.kernels import NAME, QUALITY, SEQUENCE, gather_lines
from gangsaw.tasks.reads.files.records import FastqRecords
from gangsaw.tasks.reads.order.intake import cut_in_parts
from gangsaw.tasks.reads.views.readset import Reads, ReadSet
from gangsaw.tasks.sequences.files.text import text_of
from gangsaw.tasks.sequences.ragged import Ragged
from gangsaw.tasks.store.source import open_zarr

BATCH_BYTES = 1 << 22  # of names, letters and qualities
MOST_RECORDS = 1 << 16  # of a genome in a batch
NEWLINE = 10
KINDS = {b">": "fasta", b"@": "fastq"}


def batches_of(paths: Sequence[str], batch_bytes: int) -> Iterator[Queries]:
    """Yield the queries of files, and of stores of reads and genomes, in their order.

    Raises
    ------
    BadParams : a path holds no reads, or a query is too long
    """
    for path in paths:
        found = _of_store(path, batch_bytes) if is_store(path) else _of_file(path, batch_bytes)
        for queries in found:
            _check(queries, path)
            yield queries


def is_store(path: str) -> bool:
    """Whether queries are in a store, and not in a file."""
    return "://" in path or Path(path).is_dir()


def _of_store(path: str, batch_bytes: int) -> Iterator[Queries]:
    source = open_zarr(path)
    if GENOME in source.attrs:
        return _of_genome(opened(source), path, batch_bytes)
    return map(_of_reads, ReadSet(path).batches())


def _of_genome(stored: StoredGenome, path: str, batch_bytes: int) -> Iterator[Queries]:
    """Yield the records of a genome."""
    starts = stored.starts(0, stored.n_records)
    long = np.flatnonzero(np.diff(starts) > QUERY_MASK)
    if long.size:
        raise _too_long(path, stored.heads(int(long[0]), int(long[0]) + 1)[0].tobytes()[:-1])
    first = 0
    while first < stored.n_records:
        last = int(np.searchsorted(starts, starts[first] + batch_bytes, "right")) - 1
        last = min(max(first + 1, last), first + MOST_RECORDS)
        heads, sizes = stored.heads(first, last)
        names = Ragged(heads[heads != NEWLINE], np.concatenate(([0], np.cumsum(sizes))))
        begin, end = int(starts[first]), int(starts[last])
        sequences = Ragged(stored.letters(begin, end), starts[first : last + 1] - begin)
        none = Ragged(np.empty(0, np.uint8), np.zeros(last - first + 1, np.int64))
        yield Queries(names, sequences, none)
        first = last


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
        raise BadParams(f"{path} is neither FASTA nor FASTQ, nor a Zarr store of reads or a genome")
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
        raise _too_long(path, queries.names[at])


def _too_long(path: str, name: bytes) -> BadParams:
    shown = name.decode("utf-8", "replace")
    return BadParams(f"{path}: query {shown} is too long: cut it, {QUERY_MASK:,} letters are most")
