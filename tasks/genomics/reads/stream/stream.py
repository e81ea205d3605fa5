"""Stream of arrays from read files: sequences, qualities and names with their offsets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from gangsaw.codecs.core.arrays import Dtype
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.contents import (
    CONTENT,
    LINE_OFFSETS,
    READ_NAMES,
    READ_QUALITIES,
    READ_SEQUENCES,
)
from gangsaw.tasks.compressed_text.measured import share_read
from gangsaw.tasks.genomics.reads.files.fasta import sample_bases
from gangsaw.tasks.genomics.reads.files.input import ReadInput
from gangsaw.tasks.genomics.reads.files.records import Mates, ReadFile
from gangsaw.tasks.genomics.reads.files.scale import describe_binning
from gangsaw.tasks.genomics.reads.files.settings import Settings
from gangsaw.tasks.genomics.reads.order.arranged import Arranged
from gangsaw.tasks.genomics.reads.order.job import order_reads
from gangsaw.tasks.genomics.reads.order.smallest import INPUT
from gangsaw.tasks.genomics.reads.sets.by_name import sets_by_name
from gangsaw.tasks.genomics.reads.sets.file_sets import FileSet, describe_sets, number_sets
from gangsaw.tasks.genomics.reads.stored.info import ATTRIBUTE, ReadsInfo, describe_tried_orders
from gangsaw.tasks.genomics.reads.stored.stored import Stored
from gangsaw.tasks.genomics.reads.stream.unordered import UnorderedReads
from gangsaw.tasks.genomics.reads.stream.writer import Piece, ReadWriter, select_fields
from gangsaw.tasks.genomics.sequences.fasta import refuse_protein
from gangsaw.tasks.genomics.sequences.likeness import likeness
from gangsaw.tasks.sources.source import (
    Coordinate,
    Described,
    JobStage,
    Source,
    StageResources,
    Stream,
)
from gangsaw.tasks.store.objects.versions import file_versions

PARTS = ("singles", "pairs")  # names of the parts of one file, without and with mates
FILLED = 10  # padding is reported if it is at least a tenth of all bytes
CONTENTS = {"sequence": READ_SEQUENCES, "quality": READ_QUALITIES, "name": READ_NAMES}


@dataclass(frozen=True)
class ReadStream:
    """Input stream of read files: one file, files of mates, or several such sets of files.

    It implements `gangsaw.tasks.sources.source.Stream`.

    Attributes
    ----------
    scratch : folder for intermediate files of an ordering job
    arranged : ordered records of the first sets of files
    outcome : Zarr attributes that are known at the end of the stream
    format : format of the files
    is_named : True if the user named the format
    notes : messages for the user at the end
    chosen : sets of files; without them, they are derived from file names
    """

    paths: tuple[str, ...]
    settings: Settings = field(default_factory=Settings)
    coords: tuple[Coordinate, ...] = ()
    attrs: Mapping[str, object] = field(default_factory=dict)
    scratch: str = ""
    arranged: tuple[Arranged, ...] = ()
    outcome: dict[str, object] = field(default_factory=dict, compare=False)
    format: str = "fastq"
    is_named: bool = False
    notes: list[str] = field(default_factory=list, compare=False)
    chosen: tuple[FileSet, ...] = ()

    not_compared: ClassVar[tuple[str, ...]] = ("lost", "files")

    @property
    def sets(self) -> tuple[FileSet, ...]:
        """Sets of files whose records are mates; raises BadParams if names do not identify them."""
        is_interleaved = self.settings.interleaved
        return self.chosen or sets_by_name(self.paths, interleaved=is_interleaved)

    @property
    def inputs(self) -> tuple[ReadInput, ...]:
        """Input of each set of files, before any ordering."""
        sets, n_files = self.sets, len(self.paths)
        is_shared = sum(len(own.files) for own in sets) > n_files
        found = []
        for own in sets:
            settings = replace(self.settings, interleaved=own.interleaved)
            part = PARTS[own.interleaved] if is_shared else ""
            paths = tuple(self.paths[i] for i in own.files)
            found.append(ReadInput(paths, settings, self.format, part))
        return tuple(found)

    @property
    def name(self) -> str:
        """Paths of the files, as a name for messages."""
        return ", ".join(self.paths)

    @property
    def is_repeatable(self) -> bool:
        """True if the reads can be read again: no path is a pipe."""
        return all(own.is_repeatable for own in self.inputs)

    def versions(self) -> Mapping[str, str]:
        """Return the versions of the files that are not pipes."""
        return file_versions(*self.paths)

    @property
    def share_read(self) -> float | None:
        """Fraction of the files that has been read, 0 to 1; None for pipes and ordered reads."""
        is_read_once = self.is_repeatable and self.settings.order == "kept"
        return share_read(self.paths) if is_read_once else None

    @property
    def is_paired(self) -> bool:
        """True if records 2i and 2i + 1 of any set are mates: two files, or four, I1, I2, R1, R2.

        Sequences of such groups of four took 11 to 13 % fewer bytes as pairs.
        """
        return any(own.together % 2 == 0 for own in self.sets)

    @property
    def stages(self) -> tuple[JobStage, ...]:
        """Job stages that order the records of each set of files."""
        if self.settings.order == "kept" or self.arranged:
            return ()
        inputs = self.inputs
        names = [f"order-{i}" for i in range(len(inputs))] if len(inputs) > 1 else ["order"]
        return tuple(JobStage(*one) for one in zip(names, map(_arranging, inputs), strict=True))

    @property
    def arrays(self) -> tuple[Described, ...]:
        """Descriptions of the arrays to write: text lines and their offsets, then optional ones."""
        kept = select_fields(self.settings)
        texts = [array for name in kept for array in (_text(name, self), _starts(name))]
        odd = (_text("plus", self), _starts("plus"), _numbers("plus_record"), _numbers("odd_end"))
        folds = (_numbers("fold_record"), _described("fold_length", "u8", "fold_record", {}))
        return (*texts, *(replace(array, is_optional=True) for array in (*odd, *folds)))

    def as_stored(self, store: Source) -> ReadStream | UnorderedReads:
        """Return the reads with the settings of a store, for a comparison with it.

        Settings that the user did not give are those of the store. Raises BadParams if the store
        was made with other settings.
        """
        if ATTRIBUTE not in store.attrs:
            return self
        stored = Stored(store.arrays, store.attrs)
        wanted, usual = stored.contents.settings, Settings()
        for name, value in vars(self.settings).items():
            if name == "interleaved" and stored.contents.sets:
                continue  # the sets have this setting
            if value not in (getattr(usual, name), getattr(wanted, name)):
                raise BadParams(
                    f"{store.name} was made with --{name} {getattr(wanted, name)}, not {value}"
                )
        contents = stored.contents
        is_one = contents.is_paired and not contents.sets and len(self.paths) == 1
        own_settings = replace(wanted, order="kept", interleaved=is_one, pairing="trusted")
        chosen = self._sets_of(store.name, contents)
        own = replace(self, settings=own_settings, chosen=chosen)
        return own if wanted.order == "kept" else UnorderedReads(own, stored)

    def _sets_of(self, store: str, contents: ReadsInfo) -> tuple[FileSet, ...]:
        """Return the sets of files that a store describes, for as many files; () for one file.

        Raises BadParams if the store has other files or sets.
        """
        n_files = len(self.paths)
        if not contents.sets and n_files <= 2:
            return self.chosen or ((FileSet((0, 1)),) if n_files == 2 else ())
        own = tuple(FileSet(one.files, one.interleaved) for one in contents.parts)
        if n_files != contents.n_files or (self.chosen and self.chosen != own):
            sizes = ",".join("i" if one.interleaved else str(len(one.files)) for one in own)
            raise BadParams(
                f"{store} was made of {contents.n_files} files, as --sets {sizes}: name them all, "
                "in the same order"
            )
        return own

    def pieces(self) -> Iterator[Piece]:
        """Yield the next items of arrays, by name.

        Raise BadParams for invalid text or missing mates.
        """
        writer, read = ReadWriter(self.settings), list[list[ReadFile]]()
        records: list[int] = []
        for which, source in enumerate(self.inputs):
            read.append(source.files())
            yield from self._pieces(writer, which, read[-1])
            records.append(writer.n_records - sum(records))
        yield writer.last()
        contents = replace(describe_reads(self, writer, read, records), tried=self._tried())
        self.notes.extend(self._yield_messages(contents, read, writer))
        self.outcome[ATTRIBUTE] = contents.to_dict()

    def _pieces(self, writer: ReadWriter, which: int, files: list[ReadFile]) -> Iterator[Piece]:
        """Yield the next items of arrays, for the records of set number `which`."""
        is_input = bool(self.arranged) and self.arranged[which].is_input
        writer.begin(self.inputs[which], files, is_input)
        for mates in self._ordered(which, files):
            if not mates:
                continue  # an empty batch: a file without records has no bins
            if self._is_guess and writer.n_records == 0:
                refuse_protein(sample_bases(mates[0]), self.name, "fasta")
            yield writer.piece(mates)

    @property
    def _is_guess(self) -> bool:
        return self.format == "fasta" and not self.is_named

    def _yield_messages(
        self, contents: ReadsInfo, read: list[list[ReadFile]], writer: ReadWriter
    ) -> Iterator[str]:
        """Yield messages for the user about the reads."""
        if contents.sets and not self.chosen:
            together = "; ".join(describe_sets(self.sets, contents.files))
            yield f"by their names, these are together: {together}"
        if contents.tried:
            yield describe_tried_orders(contents.tried)
        if contents.lost:
            yield f"not in the store: {', '.join(contents.lost)}"
        if contents.sets and FILLED * writer.filled > writer.ends["sequence"]:
            yield (
                f"sequences of each set begin a chunk: {writer.filled:,} bytes are zeros between "
                "sets, which ratios and bits a sample count"
            )
        yield from dict.fromkeys(note for files in read for file in files for note in file.notes)
        yield from describe_binning(writer.highest)
        if self._is_guess and len(self.paths) == 1 and (why := likeness(self.paths[0]).why):
            yield f"stored as reads: {why}; --format genome is for records by name, and for align"

    def records(self) -> Iterator[Mates]:
        """Yield batches of records in the requested order, one tuple item per mate."""
        for which, source in enumerate(self.inputs):
            yield from self._ordered(which, source.files())

    def _tried(self) -> Mapping[str, int]:
        """Return the number of ranges for which each order was chosen."""
        found = Counter[str]()
        for own in self.arranged:
            found.update(
                {INPUT: own.n_ranges} if own.is_input else (name for name, _ in own.tried())
            )
        return dict(sorted(found.items()))

    def _ordered(self, which: int, files: list[ReadFile]) -> Iterator[Mates]:
        """Return the records of a set of files in the requested order; `files` are read once."""
        if self.arranged:
            return self.arranged[which].groups(files)
        if self.settings.order != "kept":
            raise BadParams(f"{self.name} goes through stages, and is read then")
        return self.inputs[which].groups(files)


def _arranging(source: ReadInput) -> Callable[[Source | Stream, StageResources], ReadStream]:
    """Return the job stage that orders the records of a set of files, after earlier sets."""

    def run(stream: Source | Stream, resources: StageResources) -> ReadStream:
        assert isinstance(stream, ReadStream)
        return replace(stream, arranged=(*stream.arranged, order_reads(source, resources)))

    return run


def describe_reads(
    stream: ReadStream, writer: ReadWriter, read: list[list[ReadFile]], records: list[int]
) -> ReadsInfo:
    """Return the description of the store; `records` has the number of records of each set."""
    sets = number_sets(stream.sets, records)
    by_number = {
        i: file
        for own, files in zip(sets, read, strict=True)
        for i, file in zip(own.files, files, strict=True)
    }
    files = [by_number[i] for i in range(len(stream.paths))]
    is_several = len(sets) > 1 or sets[0].together > 2
    settings = stream.settings if is_several else stream.inputs[0].settings
    lost = dict.fromkeys(part for several in read for file in several for part in file.lost)
    return ReadsInfo(
        format=stream.format,
        settings=settings,
        n_files=len(files),
        records=writer.n_records,
        digest=f"{writer.digest:016x}",
        sign=writer.sign or "",
        returns=tuple(file.has_returns for file in files),
        open=tuple(file.ends_open for file in files),
        tails=tuple(file.tail.decode("ascii") for file in files),
        figures=writer.counts.figures(),
        widths=tuple(file.width for file in files),
        lost=tuple(lost),
        sets=sets if is_several else (),
        files=tuple(Path(path).name for path in stream.paths) if is_several else (),
    )


def _text(name: str, stream: ReadStream) -> Described:
    content = {CONTENT: CONTENTS.get(name, READ_NAMES), "pairs": stream.is_paired}
    return _described(name, "u1", f"{name}_byte", content)


def _numbers(name: str) -> Described:
    return _described(name, "u8", name, {CONTENT: LINE_OFFSETS})


def _starts(name: str) -> Described:
    return _described(f"{name}_offset", "u8", f"{name}_line", {CONTENT: LINE_OFFSETS})


def _described(name: str, dtype: str, dim: str, attrs: Mapping[str, object]) -> Described:
    kind: Dtype = np.dtype(dtype)
    return Described(name=name, shape=(0,), dtype=kind, dims=(dim,), chunks=None, attrs=attrs)
