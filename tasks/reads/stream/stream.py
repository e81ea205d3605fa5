"""Files of reads as a stream of arrays: sequences, qualities and names, and where they start."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from gangsaw.codecs.core.arrays import Dtype
from gangsaw.codecs.core.contents import (
    CONTENT,
    LINE_OFFSETS,
    READ_NAMES,
    READ_QUALITIES,
    READ_SEQUENCES,
)
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.reads.files.fasta import first_letters
from gangsaw.tasks.reads.files.input import ReadInput
from gangsaw.tasks.reads.files.records import Mates, ReadFile
from gangsaw.tasks.reads.files.scale import told
from gangsaw.tasks.reads.files.settings import Settings
from gangsaw.tasks.reads.order.arranged import Arranged
from gangsaw.tasks.reads.order.job import ordered
from gangsaw.tasks.reads.order.smallest import INPUT
from gangsaw.tasks.reads.sets.by_name import sets_by_name
from gangsaw.tasks.reads.sets.file_sets import FileSet, listed, placed
from gangsaw.tasks.reads.stored.info import ATTRIBUTE, ReadsInfo, told_tried
from gangsaw.tasks.reads.stored.stored import Stored
from gangsaw.tasks.reads.stream.unordered import UnorderedReads
from gangsaw.tasks.reads.stream.writer import Piece, ReadWriter, kept_by
from gangsaw.tasks.sequences.fasta import refuse_protein
from gangsaw.tasks.sequences.files.measured import share_read
from gangsaw.tasks.sequences.likeness import likeness
from gangsaw.tasks.source import Coordinate, Described, JobStage, Room, Source, Stream
from gangsaw.tasks.store.stamps import file_stamps

PARTS = ("singles", "pairs")  # of a file that several sets share, without mates and with
FILLED = 10  # zeros are told of where they are one byte of so many, or more
CONTENTS = {"sequence": READ_SEQUENCES, "quality": READ_QUALITIES, "name": READ_NAMES}


@dataclass(frozen=True)
class ReadStream:
    """Reads of one file, of several whose records are mates, or of several such sets of files.

    It follows `gangsaw.tasks.source.Stream`. `outcome` are attributes known at the end, `notes`
    what a user should know then. `format` is that of the files; `is_named`, whether the user said
    it. `chosen` are the sets; without them, names of files tell. `arranged` is of the first sets.
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
        """Which files belong together; BadParams where that is not known."""
        is_interleaved = self.settings.interleaved
        return self.chosen or sets_by_name(self.paths, interleaved=is_interleaved)

    @property
    def inputs(self) -> tuple[ReadInput, ...]:
        """The files of each set, without what becomes of their records."""
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
        """The paths."""
        return ", ".join(self.paths)

    @property
    def is_repeatable(self) -> bool:
        """Whether the reads can be read again: no path is a pipe."""
        return all(own.is_repeatable for own in self.inputs)

    def stamps(self) -> Mapping[str, str]:
        """What changes with a file that is no pipe."""
        return file_stamps(*self.paths)

    @property
    def share_read(self) -> float | None:
        """How much of the files was read so far, 0 to 1; None where that says nothing."""
        is_read_once = self.is_repeatable and self.settings.order == "kept"
        return share_read(self.paths) if is_read_once else None

    @property
    def is_paired(self) -> bool:
        """Whether mates are records 2i and 2i + 1 of some set; of I1, I2, R1, R2 the last two are.

        Sequences of such groups of four took 11 to 13 % fewer bytes as pairs.
        """
        return any(own.together % 2 == 0 for own in self.sets)

    @property
    def stages(self) -> tuple[JobStage, ...]:
        """The stages that give the records of each set another order."""
        if self.settings.order == "kept" or self.arranged:
            return ()
        inputs = self.inputs
        names = [f"order-{i}" for i in range(len(inputs))] if len(inputs) > 1 else ["order"]
        return tuple(JobStage(*one) for one in zip(names, map(_arranging, inputs), strict=True))

    @property
    def arrays(self) -> tuple[Described, ...]:
        """Lines of text and where they start; then what only some records have."""
        kept = kept_by(self.settings)
        texts = [array for name in kept for array in (_text(name, self), _starts(name))]
        odd = (_text("plus", self), _starts("plus"), _numbers("plus_record"), _numbers("odd_end"))
        folds = (_numbers("fold_record"), _described("fold_length", "u8", "fold_record", {}))
        return (*texts, *(replace(array, is_optional=True) for array in (*odd, *folds)))

    def as_stored(self, store: Source) -> ReadStream | UnorderedReads:
        """Return the reads as a store was made of them, for a comparison with it.

        Options that the user left alone are those of the store. Raises BadParams where it was made
        with others than those given.
        """
        if ATTRIBUTE not in store.attrs:
            return self
        stored = Stored(store.arrays, store.attrs)
        wanted, usual = stored.contents.settings, Settings()
        for name, value in vars(self.settings).items():
            if name == "interleaved" and stored.contents.sets:
                continue  # the sets say so
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
        """Return the sets of a store, of as many files; () is one file.

        Raises BadParams where the store is of other files, or of other sets.
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
        """Yield arrays of some records; BadParams for what is not of the format, or has no mate."""
        writer, read = ReadWriter(self.settings), list[list[ReadFile]]()
        records: list[int] = []
        for which, source in enumerate(self.inputs):
            read.append(source.files())
            yield from self._pieces(writer, which, read[-1])
            records.append(writer.n_records - sum(records))
        yield writer.last()
        contents = replace(contents_of(self, writer, read, records), tried=self._tried())
        self.notes.extend(self._told(contents, read, writer))
        self.outcome[ATTRIBUTE] = contents.to_dict()

    def _pieces(self, writer: ReadWriter, which: int, files: list[ReadFile]) -> Iterator[Piece]:
        """Yield arrays of the records of a set."""
        is_input = bool(self.arranged) and self.arranged[which].is_input
        writer.begin(self.inputs[which], files, is_input)
        for mates in self._ordered(which, files):
            if not mates:
                continue  # a file without records has no bins
            if self._is_guess and writer.n_records == 0:
                refuse_protein(first_letters(mates[0]), self.name, "fasta")
            yield writer.piece(mates)

    @property
    def _is_guess(self) -> bool:
        return self.format == "fasta" and not self.is_named

    def _told(
        self, contents: ReadsInfo, read: list[list[ReadFile]], writer: ReadWriter
    ) -> Iterator[str]:
        """Yield what a user should know of what was read."""
        if contents.sets and not self.chosen:
            together = "; ".join(listed(self.sets, contents.files))
            yield f"by their names, these are together: {together}"
        if contents.tried:
            yield told_tried(contents.tried)
        if contents.lost:
            yield f"not in the store: {', '.join(contents.lost)}"
        if contents.sets and FILLED * writer.filled > writer.ends["sequence"]:
            yield (
                f"sequences of each set begin a chunk: {writer.filled:,} bytes are zeros between "
                "sets, which ratios and bits a sample count"
            )
        yield from dict.fromkeys(note for files in read for file in files for note in file.notes)
        yield from told(writer.highest)
        if self._is_guess and len(self.paths) == 1 and (why := likeness(self.paths[0]).why):
            yield f"taken as reads: {why}; --format genome is for records by name, and for align"

    def records(self) -> Iterator[Mates]:
        """Yield records in the order that is wanted, mates of each other at equal places."""
        for which, source in enumerate(self.inputs):
            yield from self._ordered(which, source.files())

    def _tried(self) -> Mapping[str, int]:
        """Return how many ranges are in each order that was tried."""
        found = Counter[str]()
        for own in self.arranged:
            found.update(
                {INPUT: own.n_ranges} if own.is_input else (name for name, _ in own.tried())
            )
        return dict(sorted(found.items()))

    def _ordered(self, which: int, files: list[ReadFile]) -> Iterator[Mates]:
        """Return the records of a set in the order that is wanted; `files` are to be read once."""
        if self.arranged:
            return self.arranged[which].groups(files)
        if self.settings.order != "kept":
            raise BadParams(f"{self.name} goes through stages, and is read then")
        return self.inputs[which].groups(files)


def _arranging(source: ReadInput) -> Callable[[Source | Stream, Room], ReadStream]:
    """Return the stage that gives the records of a set, behind other sets, another order."""

    def run(stream: Source | Stream, room: Room) -> ReadStream:
        assert isinstance(stream, ReadStream)
        return replace(stream, arranged=(*stream.arranged, ordered(source, room)))

    return run


def contents_of(
    stream: ReadStream, writer: ReadWriter, read: list[list[ReadFile]], records: list[int]
) -> ReadsInfo:
    """Return what the store says of itself, of so many records of the files of each set."""
    sets = placed(stream.sets, records)
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
