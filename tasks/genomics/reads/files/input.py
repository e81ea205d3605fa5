"""Input of reads: one file, or several files whose records belong together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.contract.pipes import is_pipe
from gangsaw.tasks.genomics.reads.files.bam import BamFile
from gangsaw.tasks.genomics.reads.files.fasta import FastaFile
from gangsaw.tasks.genomics.reads.files.fastq import FastqFile
from gangsaw.tasks.genomics.reads.files.mates import check_mate_names
from gangsaw.tasks.genomics.reads.files.records import FastqRecords, Mates, ReadFile
from gangsaw.tasks.genomics.reads.files.scale import refuse_other_scale
from gangsaw.tasks.genomics.reads.files.settings import Settings

# readers by format
READERS: Mapping[str, Callable[[str, ReadInput], ReadFile]] = {
    "fastq": lambda path, _: FastqFile(path),
    "fasta": lambda path, _: FastaFile(path),
    "bam": lambda path, own: BamFile(path, own.part, own.settings.tags),
}

GENOMES = " (--collection yes reads files as genomes)"


@dataclass(frozen=True)
class ReadInput:
    """Input files of reads: one file, or several with one mate each.

    Attributes
    ----------
    paths : paths of the files
    settings : user's settings, with qualities, names and mates
    format : format of the files, a key of READERS
    part : "pairs" or "singles" selects these reads of an alignment file; "" selects all
    """

    paths: tuple[str, ...]
    settings: Settings = field(default_factory=Settings)
    format: str = "fastq"
    part: str = ""

    @property
    def name(self) -> str:
        """Paths of the files, as a name for messages."""
        return ", ".join(self.paths)

    @property
    def is_repeatable(self) -> bool:
        """True if the reads can be read again: no path is a pipe."""
        return all(Path(path).is_file() for path in self.paths)

    @property
    def together(self) -> int:
        """Number of records in a group: 1 for single reads, 2 for pairs, more with index reads."""
        return 2 if self.settings.interleaved else len(self.paths)

    @property
    def is_paired(self) -> bool:
        """True if records 2i and 2i + 1 are mates."""
        return self.together == 2

    def files(self) -> list[ReadFile]:
        """Return readers of the files, each to be read once."""
        return [READERS[self.format](path, self) for path in self.paths]

    def groups(self, files: list[ReadFile]) -> Iterator[Mates]:
        """Yield batches of records in order, one tuple item per mate; the files are read once."""
        groups = _mates(files, self.settings.interleaved)
        if self.together > 1 and self.settings.pairing == "checked":
            groups = check_mate_names(groups, files, self.settings)
        if self.settings.qualities == "binned" and self.settings.phred is None:
            return refuse_other_scale(groups, self.name)
        return groups


def _mates(files: list[ReadFile], is_interleaved: bool) -> Iterator[Mates]:
    """Yield batches of mates: the records of each file, or even and odd ones of one file."""
    if len(files) > 1:
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
    """Yield batches with the same number of records from each file of mates."""
    for file in files:
        if is_pipe(file.path):
            file.begin()  # open all pipes first: one process may write to all of them
    readers = [file.records() for file in files]
    waiting: list[FastqRecords | None] = [None] * len(files)
    while True:
        for i, reader in enumerate(readers):
            if waiting[i] is None or not len(waiting[i] or ()):
                waiting[i] = next(reader, None)
        there = [records for records in waiting if records is not None]
        if len(there) < len(files):
            break
        n = min(map(len, there))
        yield tuple(records.some(slice(0, n)) for records in there)
        waiting = [records.some(slice(n, None)) for records in there]
    _refuse_more(files, [0 if records is None else len(records) for records in waiting])


def _refuse_more(files: list[ReadFile], left: list[int]) -> None:
    """Raise BadParams if some files have records left, which have no mate in another file."""
    if not any(left):
        return
    own, short = left.index(max(left)), left.index(0)
    record = files[own].n_records - left[own] + 1
    raise BadParams(
        f"{files[own].path}: record {record} has no mate: {files[short].path} has "
        f"{record - 1} records{GENOMES if isinstance(files[own], FastaFile) else ''}"
    )
