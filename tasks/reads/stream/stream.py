"""Files of reads as a stream of arrays: sequences, qualities and names, and where they start."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
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
from gangsaw.tasks.reads.stored.info import ATTRIBUTE, told_tried
from gangsaw.tasks.reads.stored.stored import Stored
from gangsaw.tasks.reads.stream.unordered import UnorderedReads
from gangsaw.tasks.reads.stream.writer import Piece, ReadWriter, kept_by
from gangsaw.tasks.sequences.fasta import refuse_protein
from gangsaw.tasks.sequences.files.measured import share_read
from gangsaw.tasks.sequences.likeness import likeness
from gangsaw.tasks.source import Coordinate, Described, JobStage, Source
from gangsaw.tasks.store.stamps import file_stamps

CONTENTS = {"sequence": READ_SEQUENCES, "quality": READ_QUALITIES, "name": READ_NAMES}


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
    def input(self) -> ReadInput:
        """The files, without what becomes of their records."""
        return ReadInput(self.paths, self.settings, self.format)

    @property
    def name(self) -> str:
        """The paths."""
        return self.input.name

    @property
    def is_repeatable(self) -> bool:
        """Whether the reads can be read again: no path is a pipe."""
        return self.input.is_repeatable

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
        """Whether mates are records 2i and 2i + 1."""
        return self.input.is_paired

    @property
    def stages(self) -> tuple[JobStage, ...]:
        """The stage that gives the records another order."""
        if self.settings.order == "kept" or self.arranged is not None:
            return ()
        source = self.input
        return (JobStage("order", lambda _, at: replace(self, arranged=ordered(source, at))),)

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
            if value not in (getattr(usual, name), getattr(wanted, name)):
                raise BadParams(
                    f"{store.name} was made with --{name} {getattr(wanted, name)}, not {value}"
                )
        is_one = stored.contents.is_paired and len(self.paths) == 1
        own_settings = replace(wanted, order="kept", interleaved=is_one, pairing="trusted")
        own = replace(self, settings=own_settings)
        return own if wanted.order == "kept" else UnorderedReads(own, stored)

    def pieces(self) -> Iterator[Piece]:
        """Yield arrays of some records; BadParams for what is not of the format, or has no mate."""
        source = self.input
        files = source.files()
        is_input = self.arranged is not None and self.arranged.is_input
        writer = ReadWriter(source, files, is_input)
        is_guess = self.format == "fasta" and not self.is_named
        for mates in self._ordered(files):
            if not mates:
                continue  # a file without records has no bins
            if is_guess and writer.n_records == 0:
                refuse_protein(first_letters(mates[0]), self.name, "fasta")
            yield writer.piece(mates)
        yield writer.last()
        contents = replace(writer.contents(), tried=self._tried())
        if contents.tried:
            self.notes.append(told_tried(contents.tried))
        if contents.lost:
            self.notes.append(f"not in the store: {', '.join(contents.lost)}")
        self.notes.extend(note for file in files for note in file.notes)
        self.notes.extend(told(writer.highest))
        if is_guess and len(self.paths) == 1 and (why := likeness(self.paths[0]).why):
            self.notes.append(
                f"taken as reads: {why}; --format genome is for records by name, and for align"
            )
        self.outcome[ATTRIBUTE] = contents.to_dict()

    def records(self) -> Iterator[Mates]:
        """Yield records in the order that is wanted, mates of each other at equal places."""
        yield from self._ordered(self.input.files())

    def _tried(self) -> Mapping[str, int]:
        """Return how many ranges are in each order that was tried."""
        if self.arranged is None:
            return {}
        if self.arranged.is_input:
            return {INPUT: self.arranged.n_ranges}
        return Counter(sorted(name for name, _ in self.arranged.tried()))

    def _ordered(self, files: list[ReadFile]) -> Iterator[Mates]:
        """Return the records in the order that is wanted; `files` are those to be read once."""
        if self.arranged is not None:
            return self.arranged.groups(files)
        if self.settings.order != "kept":
            raise BadParams(f"{self.name} goes through stages, and is read then")
        return self.input.groups(files)


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
