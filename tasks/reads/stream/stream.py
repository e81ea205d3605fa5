"""Files of reads as a stream of arrays: sequences, qualities and names, and where they start."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.reads.files.bam import BamFile
from gangsaw.tasks.reads.files.digest import sum_records
from gangsaw.tasks.reads.files.fasta import FastaFile, first_letters
from gangsaw.tasks.reads.files.fastq import FastqFile
from gangsaw.tasks.reads.files.kernels import (
    LINES,
    NAME,
    QUALITY,
    SEQUENCE,
    SIGN,
    copy_lines,
    map_letters,
    place_lines,
    same_lines,
)
from gangsaw.tasks.reads.files.records import OWNER, FastqRecords, Field, ReadFile
from gangsaw.tasks.reads.files.settings import Settings
from gangsaw.tasks.reads.stored.counts import PHRED, ReadCounts
from gangsaw.tasks.reads.stored.info import ATTRIBUTE, ReadsInfo
from gangsaw.tasks.sequences.fasta import refuse_protein
from gangsaw.tasks.sequences.measured import share_read
from gangsaw.tasks.sequences.text import Text
from gangsaw.tasks.source import Coordinate, Described, JobStage, Source
from gangsaw.tasks.store.stamps import file_stamps

if TYPE_CHECKING:
    from gangsaw.tasks.reads.order.arranged import Arranged
    from gangsaw.tasks.reads.stream.unordered import UnorderedReads

CHUNK = 1 << 25  # bytes; no line lies over a border of these
OFFSETS = 1 << 20  # starts of a chunk
CONTENT = "gangsaw_content"
FIELDS = {"sequence": SEQUENCE, "quality": QUALITY, "name": NAME}
CONTENTS = {"sequence": "read sequences", "quality": "read qualities", "name": "read names"}
# of qualities, as sequencers bin them: the least of each bin, and what all of it become
BINS = {2: 6, 10: 15, 20: 22, 25: 27, 30: 33, 35: 37, 40: 40}
# formats of files, and what reads each of them
READERS: Mapping[str, Callable[[str], ReadFile]] = {
    "fastq": FastqFile,
    "fasta": FastaFile,
    "bam": BamFile,
}

Piece = Mapping[str, NumpyArray]


@dataclass(frozen=True)
class ReadStream:
    """Reads of one file, or of two whose records are mates.

    It follows `gangsaw.tasks.source.Stream`. `outcome` are attributes known at the end, `notes`
    what a user should know then. `format` is one of READERS; `is_named`, whether the user said it.
    """

    paths: tuple[str, ...]
    settings: Settings = field(default_factory=Settings)
    coords: tuple[Coordinate, ...] = ()
    attrs: Mapping[str, object] = field(default_factory=dict)
    scratch: str = ""
    arranged: Arranged | None = None
    outcome: dict[str, object] = field(default_factory=dict, compare=False)
    format: str = "fastq"
    is_named: bool = False
    notes: list[str] = field(default_factory=list, compare=False)

    not_compared: ClassVar[tuple[str, ...]] = ("lost",)

    @property
    def name(self) -> str:
        """The paths."""
        return ", ".join(self.paths)

    @property
    def is_repeatable(self) -> bool:
        """Whether the reads can be read again: no path is a pipe."""
        return all(Path(path).is_file() for path in self.paths)

    def stamps(self) -> Mapping[str, str]:
        """What changes with a file that is no pipe."""
        return file_stamps(*self.paths)

    @property
    def share_read(self) -> float | None:
        """How much of the files was read so far, 0 to 1; None where that says nothing."""
        is_read_once = self.is_repeatable and self.settings.order == "kept"
        return share_read(self.paths) if is_read_once else None

    @property
    def kept(self) -> tuple[str, ...]:
        """Arrays of text that are stored."""
        own = {"quality": self.settings.qualities != "none", "name": self.settings.names == "keep"}
        return tuple(name for name in FIELDS if own.get(name, True))

    @property
    def is_paired(self) -> bool:
        """Whether mates are records 2i and 2i + 1."""
        return len(self.paths) == 2 or self.settings.interleaved

    @property
    def stages(self) -> tuple[JobStage, ...]:
        """The stage that gives the records another order."""
        if self.settings.order == "kept" or self.arranged is not None:
            return ()
        from gangsaw.tasks.reads.order.job import ordered

        return (JobStage("order", lambda _, room: ordered(self, room)),)

    @property
    def arrays(self) -> tuple[Described, ...]:
        """Lines of text and where they start; then what only some records have."""
        texts = [array for name in self.kept for array in (_text(name, self), _starts(name))]
        odd = (_text("plus", self), _starts("plus"), _numbers("plus_record"), _numbers("odd_end"))
        folds = (_numbers("fold_record"), _described("fold_length", "u8", "fold_record", {}))
        return (*texts, *(replace(array, is_optional=True) for array in (*odd, *folds)))

    def as_stored(self, store: Source) -> ReadStream | UnorderedReads:
        """Return the reads as a store was made of them, for a comparison with it.

        Raises BadParams where the store was made with other options than those given.
        """
        from gangsaw.tasks.reads.stream.unordered import as_stored

        return as_stored(self, store)

    def pieces(self) -> Iterator[Piece]:
        """Yield arrays of some records; BadParams for what is not of the format, or has no mate."""
        files = self.files()
        writer = _Writer(self, files)
        is_guess = self.format == "fasta" and not self.is_named
        for mates in self._ordered(files):
            if not mates:
                continue  # a file without records has no bins
            if is_guess and writer.n_records == 0:
                refuse_protein(first_letters(mates[0]), self.name, "fasta")
            yield writer.piece(mates)
        yield writer.last()
        contents = writer.contents()
        if contents.lost:
            self.notes.append(f"not in the store: {', '.join(contents.lost)}")
        self.outcome[ATTRIBUTE] = contents.to_dict()

    def records(self) -> Iterator[tuple[FastqRecords, ...]]:
        """Yield records in the order that is wanted, mates of each other at equal places."""
        yield from self._ordered(self.files())

    def files(self) -> list[ReadFile]:
        """Return the files, to be read once."""
        return [READERS[self.format](path) for path in self.paths]

    def _ordered(self, files: list[ReadFile]) -> Iterator[tuple[FastqRecords, ...]]:
        """Return the records in the order that is wanted; `files` are those to be read once."""
        if self.arranged is not None:
            return self.arranged.groups(files)
        if self.settings.order != "kept":
            raise BadParams(f"{self.name} goes through stages, and is read then")
        return self.groups(files)

    def groups(self, files: list[ReadFile]) -> Iterator[tuple[FastqRecords, ...]]:
        """Yield the records of files, which are read once, in their order; mates together."""
        return _mates(files, self.settings.interleaved)


def _mates(files: list[ReadFile], is_interleaved: bool) -> Iterator[tuple[FastqRecords, ...]]:
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


def _zipped(files: list[ReadFile]) -> Iterator[tuple[FastqRecords, ...]]:
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


class _Writer:
    """Lays out records as arrays, piece by piece.

    Attributes
    ----------
    files : what the records come from; others may take their places
    ends : where the text of each array ends so far
    n_records : so far
    digest : sum of the records' hashes so far
    counts : figures of the reads so far
    """

    def __init__(self, stream: ReadStream, files: list[ReadFile]) -> None:
        self.stream, self.files, self.n_records, self.digest = stream, files, 0, 0
        self.ends = dict.fromkeys((*stream.kept, "plus"), 0)
        self.sign: str | None = None
        self.counts = ReadCounts()

    def piece(self, mates: tuple[FastqRecords, ...]) -> Piece:
        """Return the arrays of records, mate after mate."""
        mates = tuple(self._binned(records) for records in mates)
        out: dict[str, NumpyArray] = {}
        for name in self.stream.kept:
            out |= self._lines(name, [records.field(FIELDS[name]) for records in mates])
        out |= self._odd_signs(mates)
        self._sum(mates)
        self._count(mates)
        self.n_records += sum(len(records) for records in mates)
        return out | self._odd_lines()

    def last(self) -> Piece:
        """Return the ends of the arrays."""
        return {f"{name}_offset": np.array([end], "u8") for name, end in self.ends.items() if end}

    def contents(self) -> ReadsInfo:
        """Return what the store says of itself."""
        files = self.files
        return ReadsInfo(
            format=self.stream.format,
            settings=self.stream.settings,
            n_files=len(files),
            records=self.n_records,
            digest=f"{self.digest:016x}",
            sign=self.sign or "",
            returns=tuple(file.has_returns for file in files),
            open=tuple(file.ends_open for file in files),
            tails=tuple(file.tail.decode("ascii") for file in files),
            figures=self.counts.figures(),
            widths=tuple(file.width for file in files),
            lost=self._lost(),
        )

    def _lost(self) -> tuple[str, ...]:
        """Return what of the files is not in the store, in words."""
        return tuple(dict.fromkeys(part for file in self.files for part in file.lost))

    def _odd_lines(self) -> dict[str, NumpyArray]:
        """Return lines, of the records so far, that end or are folded unlike the others."""
        n_files, numbering = len(self.files), self.files[0].numbering
        ends, folds = [], []
        for which, file in enumerate(self.files):
            n = self.n_records // n_files
            lines = file.odd_ends.take(n * numbering)[:, OWNER]
            owners, lengths = file.folds.take(n).T
            record = lines // numbering * n_files + which
            ends.append(record * numbering + lines % numbering)
            folds.append((owners * n_files + which, lengths))
        record, length = np.concatenate(folds, axis=1).astype("u8")
        order = np.argsort(record, kind="stable")
        found = {"odd_end": np.sort(np.concatenate(ends)).astype("u8")}
        found |= {"fold_record": record[order], "fold_length": length[order]}
        return {name: array for name, array in found.items() if array.size}

    def _lines(self, name: str, fields: list[Field]) -> dict[str, NumpyArray]:
        """Return text and starts of lines, those of mates side by side."""
        n, k, at = len(fields[0].begins), len(fields), self.ends[name]
        lengths = np.empty(n * k, np.int64)
        for i, one in enumerate(fields):
            lengths[i::k] = one.ends - one.begins + 1
        starts = np.empty(n * k, np.int64)
        pair = 2 if self.stream.is_paired else 1
        # what is sorted together begins a chunk
        is_sorted = name == "sequence" and self.stream.settings.order == "sorted"
        begin = -(-at // CHUNK) * CHUNK if is_sorted else at
        end = int(place_lines(lengths, pair, begin, CHUNK, starts))
        text = np.zeros(end - at, np.uint8)
        for i, one in enumerate(fields):
            copy_lines(one.text, one.begins, one.ends, starts[i::k] - at, text)
        self.ends[name] = end
        return {name: text, f"{name}_offset": starts.astype("u8")}

    def _odd_signs(self, mates: tuple[FastqRecords, ...]) -> dict[str, NumpyArray]:
        """Return lines behind "+" that are not as those of most records.

        Without the names they are not kept either: most repeat the name.
        """
        if "name" not in self.stream.kept:
            return {}
        if self.sign is None:
            self.sign = "name" if mates[0].field(SIGN).letters(0) else ""
        odd = np.stack([_is_odd(records, self.sign) for records in mates], axis=1).ravel()
        numbers, k = np.flatnonzero(odd), len(mates)
        if not numbers.size:
            return {}
        lines = [mates[i % k].field(SIGN).letters(i // k) + b"\n" for i in numbers.tolist()]
        starts = self.ends["plus"] + np.cumsum([0, *map(len, lines)])
        self.ends["plus"] = int(starts[-1])
        return {
            "plus": np.frombuffer(b"".join(lines), np.uint8),
            "plus_offset": starts[:-1].astype("u8"),
            "plus_record": (numbers + self.n_records).astype("u8"),
        }

    def _binned(self, records: FastqRecords) -> FastqRecords:
        """Return records whose qualities are as they will be stored."""
        if self.stream.settings.qualities != "binned":
            return records
        text = records.text.copy()
        map_letters(text, records.begins[:, QUALITY], records.ends[:, QUALITY], _bin_map())
        return FastqRecords(text, records.begins, records.ends)

    def _count(self, mates: tuple[FastqRecords, ...]) -> None:
        for records in mates:
            quality = records.field(QUALITY) if "quality" in self.stream.kept else None
            self.counts.add(records.field(SEQUENCE), quality)

    def _sum(self, mates: tuple[FastqRecords, ...]) -> None:
        fields = [field for records in mates for field in _hashed(records, self)]
        size = sum(int((one.ends - one.begins).max(initial=0)) + 1 for one in fields)
        scratch = np.zeros(size + 8, np.uint8)
        self.digest = (self.digest + int(sum_records(tuple(fields), scratch))) % (1 << 64)


def _hashed(records: FastqRecords, writer: _Writer) -> list[Field]:
    """Return the four lines of records as they are stored; what is not is empty."""
    kept = {FIELDS[name] for name in writer.stream.kept}
    kept |= {SIGN} if NAME in kept else set()
    fields = [records.field(which) for which in range(LINES)]
    return [f if i in kept else f._replace(ends=f.begins) for i, f in enumerate(fields)]


def _is_odd(records: FastqRecords, usual: str) -> npt.NDArray[np.bool_]:
    """Say of each record whether the line behind "+" is not as `usual` says."""
    sign = records.field(SIGN)
    if usual == "":
        return sign.ends > sign.begins
    name = records.field(NAME)
    is_same = np.empty(len(records.begins), bool)
    same_lines(*name, *sign, is_same)
    return ~is_same


def _bin_map() -> Text:
    """Return what each letter of qualities becomes, (256,) uint8."""
    values = np.arange(256, dtype=np.uint8)
    bounds = [*(PHRED + least for least in BINS), 127]
    for (least, following), value in zip(pairwise(bounds), BINS.values(), strict=True):
        values[least:following] = PHRED + value
    return values


def _text(name: str, stream: ReadStream) -> Described:
    content = {CONTENT: CONTENTS.get(name, "read names"), "pairs": stream.is_paired}
    return _described(name, "u1", f"{name}_byte", content)


def _numbers(name: str) -> Described:
    return _described(name, "u8", name, {CONTENT: "line offsets"})


def _starts(name: str) -> Described:
    return _described(f"{name}_offset", "u8", f"{name}_line", {CONTENT: "line offsets"})


def _described(name: str, dtype: str, dim: str, attrs: Mapping[str, object]) -> Described:
    kind: Dtype = np.dtype(dtype)
    return Described(name=name, shape=(0,), dtype=kind, dims=(dim,), chunks=None, attrs=attrs)
