"""Reads of files and stores, in batches of mates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.reads.files.input import ReadInput
from gangsaw.tasks.reads.files.kernels import QUALITY, SEQUENCE
from gangsaw.tasks.reads.files.records import FastqRecords, Field
from gangsaw.tasks.reads.files.settings import Settings
from gangsaw.tasks.reads.views.readset import Reads, ReadSet
from gangsaw.tasks.sequences.ragged import Ragged

UNKNOWN = 20 + 33  # quality of letters that have none: they are neither doubtful nor certain
MOST_PATHS = 2


class ReadLetters(NamedTuple):
    """Reads, and their qualities: lines of the same lengths."""

    sequences: Field
    qualities: Field

    def __len__(self) -> int:
        """Return how many reads these are."""
        return len(self.sequences.begins)


Mates = tuple[ReadLetters, ...]  # of one file, or of two


def batches_of(paths: Sequence[str], *, interleaved: bool = False) -> Iterator[Mates]:
    """Yield reads, with their mates where there are some.

    Parameters
    ----------
    paths : a FASTQ, two of mates, or a store of reads
    interleaved : mates follow each other in the only file

    Raises
    ------
    BadParams : there is no such file, or what it holds are no reads
    """
    if len(paths) > MOST_PATHS:
        raise BadParams(f"reads are in one file, or two of mates, got {len(paths)}")
    if len(paths) == 1 and is_store(paths[0]):
        yield from _of_store(ReadSet(paths[0]))
        return
    for path in paths:
        if not Path(path).is_file():
            raise BadParams(f"{path}: no such file, and no store of reads")
    source = ReadInput(tuple(paths), Settings(interleaved=interleaved))
    for mates in source.groups(source.files()):
        if len(mates[0]):
            yield tuple(map(_of_records, mates))


def is_store(path: str) -> bool:
    """Whether reads are in a store, and not in a file."""
    return "://" in path or Path(path).is_dir()


def _of_records(records: FastqRecords) -> ReadLetters:
    return ReadLetters(records.field(SEQUENCE), records.field(QUALITY))


def _of_store(reads: ReadSet) -> Iterator[Mates]:
    step = 2 if reads.contents.is_paired else 1
    for part in reads.batches():
        if len(part):
            yield tuple(_every(part, first, step) for first in range(step))


def _every(reads: Reads, first: int, step: int) -> ReadLetters:
    sequences = _field(reads.sequences)
    qualities = _field(reads.qualities) if reads.qualities is not None else _unknown(sequences)
    return ReadLetters(sequences.some(first, step), qualities.some(first, step))


def _field(lines: Ragged) -> Field:
    return Field(lines.data, lines.offsets[:-1], lines.offsets[1:])


def _unknown(sequences: Field) -> Field:
    text = np.full(sequences.text.size, UNKNOWN, np.uint8)
    return Field(text, sequences.begins, sequences.ends)
