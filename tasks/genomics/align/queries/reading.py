"""Readers of queries from files or stores of reads, in batches that depend on the queries alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.ragged import offsets_of
from gangsaw.tasks.compressed_text.text import STDIN, BegunText
from gangsaw.tasks.genomics.align.queries.queries import Queries
from gangsaw.tasks.genomics.align.search.seeds.anchors import QUERY_MASK
from gangsaw.tasks.genomics.genomes.info import ATTRIBUTE as GENOME
from gangsaw.tasks.genomics.genomes.stored.export import open_stored_genome
from gangsaw.tasks.genomics.genomes.stored.stored import StoredGenome
from gangsaw.tasks.genomics.reads.files.input import ReadInput
from gangsaw.tasks.genomics.reads.files.kernels import NAME, QUALITY, SEQUENCE
from gangsaw.tasks.genomics.reads.files.records import FastqRecords, Field, Mates
from gangsaw.tasks.genomics.reads.files.settings import Settings
from gangsaw.tasks.genomics.reads.order.intake import cut_in_parts
from gangsaw.tasks.genomics.reads.views.reads import Reads
from gangsaw.tasks.genomics.reads.views.readset import ReadSet, all_mates
from gangsaw.tasks.genomics.sequences.ragged import Ragged
from gangsaw.tasks.store.source import open_zarr

BATCH_BYTES = 1 << 22  # of names, bases and qualities in a batch
MOST_RECORDS = 1 << 16  # records of a genome in a batch
NEWLINE = 10
KINDS = {b">": "fasta", b"@": "fastq"}


def read_query_batches(
    paths: Sequence[str], batch_bytes: int, pairs: str = ""
) -> Iterator[Queries]:
    """Yield the queries of files, and of stores of reads and genomes, in order.

    Parameters
    ----------
    pairs : "files" if each two files are mates, "interleaved" if mates alternate in a file; then
        mates are queries 2i and 2i + 1 of a batch

    Raises
    ------
    BadParams : a path has no reads, or a query is too long or has no mate
    """
    for group in _grouped(paths, pairs):
        if is_query_store(group[0]):
            found = _of_store(group[0], batch_bytes)
        else:
            found = _of_files(group, batch_bytes, pairs)
        for queries in found:
            _check(queries, ", ".join(group))
            yield queries


def are_paired(paths: Sequence[str], pairs: str) -> bool:
    """Return True if queries are mates: by the user's option, else if all stores have mates."""
    if pairs:
        return pairs != "no"
    return bool(paths) and all(is_query_store(path) and _holds_mates(path) for path in paths)


def _holds_mates(path: str) -> bool:
    return GENOME not in open_zarr(path).attrs and all_mates(ReadSet(path), "--pairs no")


def _grouped(paths: Sequence[str], pairs: str) -> Iterator[tuple[str, ...]]:
    """Yield the paths that are read together: two files of mates, or a single file or store."""
    if pairs != "files":
        yield from ((path,) for path in paths)
        return
    if len(paths) % 2 or any(map(is_query_store, paths)):
        raise BadParams("pairs of files: name an even number of files, two of mates each")
    yield from zip(paths[::2], paths[1::2], strict=True)


def is_query_store(path: str) -> bool:
    """Return True if a path is a store, not a file."""
    return "://" in path or Path(path).is_dir()


def _of_store(path: str, batch_bytes: int) -> Iterator[Queries]:
    source = open_zarr(path)
    if GENOME in source.attrs:
        return _of_genome(open_stored_genome(source), path, batch_bytes)
    return map(_of_reads, ReadSet(path).batches())


def _of_genome(stored: StoredGenome, path: str, batch_bytes: int) -> Iterator[Queries]:
    """Yield the records of a genome as queries."""
    starts = stored.starts(0, stored.n_records)
    long = np.flatnonzero(np.diff(starts) > QUERY_MASK)
    if long.size:
        raise _too_long(path, stored.heads(int(long[0]), int(long[0]) + 1)[0].tobytes()[:-1])
    first = 0
    while first < stored.n_records:
        last = int(np.searchsorted(starts, starts[first] + batch_bytes, "right")) - 1
        last = min(max(first + 1, last), first + MOST_RECORDS)
        heads, sizes = stored.heads(first, last)
        names = Ragged(heads[heads != NEWLINE], offsets_of(sizes))
        begin, end = int(starts[first]), int(starts[last])
        sequences = Ragged(stored.read_residues(begin, end), starts[first : last + 1] - begin)
        none = Ragged(np.empty(0, np.uint8), np.zeros(last - first + 1, np.int64))
        yield Queries(names, sequences, none)
        first = last


def _of_reads(reads: Reads) -> Queries:
    none = Ragged(np.empty(0, np.uint8), np.zeros(len(reads) + 1, np.int64))
    return Queries(reads.names, reads.sequences, reads.qualities or none)


def _of_files(paths: tuple[str, ...], batch_bytes: int, pairs: str) -> Iterator[Queries]:
    if absent := [path for path in paths if path != STDIN and not Path(path).exists()]:
        raise BadParams(f"{absent[0]}: no such file")
    texts = [BegunText(path) for path in paths]
    kinds = {_kind(path, text) for path, text in zip(paths, texts, strict=True)}
    kind, *others = kinds - {""} or {"fastq"}  # an empty file may be either
    if others:
        raise BadParams(f"{' and '.join(paths)} are mates: both must be FASTQ, or both FASTA")
    own = ReadInput(paths, Settings(interleaved=pairs == "interleaved"), kind)
    files = own.files()
    for file, text in zip(files, texts, strict=True):
        file.begin(text)
    for pieces in cut_in_parts(own.groups(files), batch_bytes):
        yield _joined(pieces)


def _kind(path: str, text: BegunText) -> str:
    """Return "fasta" or "fastq", by the first byte of the text of a file; "" for an empty one."""
    start = text.first[:1].tobytes()
    if not start:
        return ""
    if start not in KINDS:
        raise BadParams(f"{path} is neither FASTA nor FASTQ, nor a Zarr store of reads or a genome")
    return KINDS[start]


def _joined(pieces: list[Mates]) -> Queries:
    sides = list(zip(*pieces, strict=True))
    lines = ([_lines(side, which) for side in sides] for which in (NAME, SEQUENCE, QUALITY))
    return Queries(*map(_alternating, lines))


def _alternating(sides: list[Ragged]) -> Ragged:
    """Return the lines of one file, or the lines of two files of mates in alternation."""
    if len(sides) == 1:
        return sides[0]
    both = Ragged.concatenate(sides)
    order = np.arange(len(both)).reshape(2, -1).T.ravel()
    return Field(both.data, both.offsets[order], both.offsets[order + 1]).gathered()


def _lines(pieces: Sequence[FastqRecords], which: int) -> Ragged:
    return Ragged.concatenate([records.field(which).gathered() for records in pieces])


def _check(queries: Queries, path: str) -> None:
    longest = int(queries.sequences.lengths.max(initial=0))
    if longest > QUERY_MASK:
        at = int(queries.sequences.lengths.argmax())
        raise _too_long(path, queries.names[at])


def _too_long(path: str, name: bytes) -> BadParams:
    shown = name.decode("utf-8", "replace")
    return BadParams(f"{path}: query {shown} is too long: cut it to {QUERY_MASK:,} bases")
