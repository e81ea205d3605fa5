"""What is read: a file of reads, or two of mates, and the records of them together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.reads.files.bam import BamFile
from gangsaw.tasks.reads.files.fasta import FastaFile
from gangsaw.tasks.reads.files.fastq import FastqFile
from gangsaw.tasks.reads.files.mates import checked
from gangsaw.tasks.reads.files.records import FastqRecords, Mates, ReadFile
from gangsaw.tasks.reads.files.scale import refuse_other_scale
from gangsaw.tasks.reads.files.settings import Settings

# formats of files, and what reads each of them
READERS: Mapping[str, Callable[[str], ReadFile]] = {
    "fastq": FastqFile,
    "fasta": FastaFile,
    "bam": BamFile,
}


@dataclass(frozen=True)
class ReadInput:
    """Reads of one file, or of two whose records are mates.

    Attributes
    ----------
    paths : of the files
    settings : what is kept of the reads, and whether mates follow each other
    format : one of READERS
    """

    paths: tuple[str, ...]
    settings: Settings = field(default_factory=Settings)
    format: str = "fastq"

    @property
    def name(self) -> str:
        """The paths."""
        return ", ".join(self.paths)

    @property
    def is_repeatable(self) -> bool:
        """Whether the reads can be read again: no path is a pipe."""
        return all(Path(path).is_file() for path in self.paths)

    @property
    def is_paired(self) -> bool:
        """Whether mates are records 2i and 2i + 1."""
        return len(self.paths) == 2 or self.settings.interleaved

    def files(self) -> list[ReadFile]:
        """Return the files, to be read once."""
        return [READERS[self.format](path) for path in self.paths]

    def groups(self, files: list[ReadFile]) -> Iterator[Mates]:
        """Yield the records of files, which are read once, in their order; mates together."""
        groups = _mates(files, self.settings.interleaved)
        if self.is_paired and self.settings.pairing == "checked":
            groups = checked(groups, files, self.settings)
        if self.settings.qualities == "binned" and self.settings.phred is None:
            return refuse_other_scale(groups, self.name)
        return groups


def _mates(files: list[ReadFile], is_interleaved: bool) -> Iterator[Mates]:
    """Yield records that belong together: those of each file, or even and odd ones of a file."""
    if len(files) == 2:
        yield from _zipped(files)
        return
    (file,) = files
    if not is_interleaved:
        yield from ((records,) for records in file.records())
        return
    odd: FastqRecords | None = None
    for records in file.records():
        if odd is not None:
            yield odd, records.some(slice(0, 1))
            records = records.some(slice(1, None))
        whole = len(records) // 2 * 2
        yield records.some(slice(0, whole, 2)), records.some(slice(1, whole, 2))
        odd = records.some(slice(whole, None)) if whole < len(records) else None
    if odd is not None:
        raise BadParams(f"{file.path}: record {file.n_records} has no mate")


def _zipped(files: list[ReadFile]) -> Iterator[Mates]:
    """Yield as many records of both files as there are of each."""
    readers = [file.records() for file in files]
    waiting: list[FastqRecords | None] = [None, None]
    while True:
        for i, reader in enumerate(readers):
            if waiting[i] is None or not len(waiting[i] or ()):
                waiting[i] = next(reader, None)
        first, second = waiting
        if first is None or second is None:
            break
        n = min(len(first), len(second))
        yield first.some(slice(0, n)), second.some(slice(0, n))
        waiting = [first.some(slice(n, None)), second.some(slice(n, None))]
    for i, left in enumerate(waiting):
        if left is not None and len(left):
            record = files[i].n_records - len(left) + 1
            raise BadParams(
                f"{files[i].path}: record {record} has no mate: {files[1 - i].path} has "
                f"{record - 1} records"
            )
