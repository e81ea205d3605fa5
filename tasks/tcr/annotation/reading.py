"""Reads from files and stores, in batches of mates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.compressed_text.text import BegunText
from gangsaw.tasks.formats.contract.pipes import is_pipe
from gangsaw.tasks.genomics.reads.files.input import ReadInput
from gangsaw.tasks.genomics.reads.files.kernels import QUALITY, SEQUENCE
from gangsaw.tasks.genomics.reads.files.records import FastqRecords, Field
from gangsaw.tasks.genomics.reads.files.settings import Settings
from gangsaw.tasks.genomics.reads.order.intake import stamp_of
from gangsaw.tasks.genomics.reads.views.reads import Reads
from gangsaw.tasks.genomics.reads.views.readset import ReadSet, all_mates
from gangsaw.tasks.genomics.sequences.ragged import Ragged
from gangsaw.tasks.store.source import open_zarr

UNKNOWN = 20 + 33  # quality where none is known: neither doubtful nor certain
MOST_PATHS = 2
OTHERS = {
    b">": "it is FASTA: CDR3s need the qualities of a FASTQ",
    b"BAM\1": "it is BAM: gangsaw compress makes a store of it, which is supported",
    b"CRAM": "it is CRAM: gangsaw compress makes a store of it, which is supported",
}


class ReadBases(NamedTuple):
    """Bases and quality characters of n reads, as two fields of equal lengths."""

    sequences: Field
    qualities: Field

    def __len__(self) -> int:
        """Return the number of reads."""
        return len(self.sequences.begins)


Mates = tuple[ReadBases, ...]  # one entry per mate


class NumberedMates(NamedTuple):
    """Batch of reads, one `ReadBases` per mate, and the number of the batch."""

    number: int
    mates: Mates


def check_reads(paths: Sequence[str], *, interleaved: bool = False) -> None:
    """Raise `BadParams` if the paths cannot hold reads; pipes are not opened.

    Parameters
    ----------
    paths : a FASTQ file, two of mates, or a store of reads
    interleaved : mates alternate in the only file
    """
    if not 1 <= len(paths) <= MOST_PATHS:
        raise BadParams(f"reads are in one file, or two of mates, got {len(paths)}")
    if len(paths) > 1 and interleaved:
        raise BadParams("mates are in two files, or interleaved in one")
    if len(set(paths)) < len(paths):
        raise BadParams(f"{paths[0]} is named twice: mates are in two files")
    for path in paths:
        if is_store(path):
            _check_store(paths, interleaved)
        elif is_pipe(path):
            continue  # `batches_of` checks its first bytes: a pipe can be opened only once
        elif not Path(path).is_file():
            raise BadParams(f"{path}: no such file, and no store of reads")
        else:
            _check_begin(path, BegunText(path))


def _check_begin(path: str, text: BegunText) -> None:
    first = text.first
    if not len(first):
        raise BadParams(f"{path}: there are no reads")
    for sign, what in OTHERS.items():
        if bytes(first[: len(sign)]) == sign:
            raise BadParams(f"{path}: {what}")


def _check_store(paths: Sequence[str], interleaved: bool) -> None:
    if len(paths) > 1:
        raise BadParams("a store of reads has the mates, too: name it alone")
    if interleaved:
        raise BadParams(f"{paths[0]} records its mates: leave --interleaved out")
    all_mates(ReadSet(paths[0]))


def batches_of(paths: Sequence[str], *, interleaved: bool = False) -> Iterator[NumberedMates]:
    """Yield reads in batches, with mates if there are any; see `check_reads`.

    The batches depend only on the reads.

    Raises
    ------
    BadParams : a file contains no reads
    """
    if is_store(paths[0]):
        found = _of_store(ReadSet(paths[0]))
    else:
        source = ReadInput(tuple(paths), Settings(interleaved=interleaved))
        files = source.files()
        piped = [(file.path, file.begin()) for file in files if is_pipe(file.path)]
        for path, text in piped:
            _check_begin(path, text)
        groups = source.groups(files)
        found = (tuple(map(_of_records, mates)) for mates in groups if len(mates[0]))
    return (NumberedMates(number, mates) for number, mates in enumerate(found))


def identify_reads(path: str) -> str:
    """Return a string that identifies the content of a file or store of reads."""
    return open_zarr(path).identity() if is_store(path) else stamp_of(path)


def is_store(path: str) -> bool:
    """Return True if a path names a store, False for a file."""
    return "://" in path or Path(path).is_dir()


def _of_records(records: FastqRecords) -> ReadBases:
    return ReadBases(records.field(SEQUENCE), records.field(QUALITY))


def _of_store(reads: ReadSet) -> Iterator[Mates]:
    step = 2 if all_mates(reads) else 1
    for part in reads.batches():
        if len(part):
            yield tuple(_every(part, first, step) for first in range(step))


def _every(reads: Reads, first: int, step: int) -> ReadBases:
    sequences = _field(reads.sequences)
    qualities = _field(reads.qualities) if reads.qualities is not None else _unknown(sequences)
    return ReadBases(sequences.some(first, step), qualities.some(first, step))


def _field(lines: Ragged) -> Field:
    return Field(lines.data, lines.offsets[:-1], lines.offsets[1:])


def _unknown(sequences: Field) -> Field:
    text = np.full(sequences.text.size, UNKNOWN, np.uint8)
    return Field(text, sequences.begins, sequences.ends)
