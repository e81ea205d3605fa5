"""Files of genomes as a stream of arrays: residues, heads, where they start, and how lines are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.contents import (
    CONTENT,
    LINE_ENDS,
    LINE_OFFSETS,
    NUCLEOTIDES,
    READ_NAMES,
    RECORD_PLACES,
)
from gangsaw.tasks.genomes.fasta import FastaGenome
from gangsaw.tasks.genomes.genbank import GenBank
from gangsaw.tasks.genomes.info import ATTRIBUTE, GenomeInfo
from gangsaw.tasks.genomes.parts import GenomeFile, GenomePart
from gangsaw.tasks.genomes.twobit import TwoBitGenome
from gangsaw.tasks.sequences.files.measured import share_read
from gangsaw.tasks.sequences.kernels import LETTERS, TABLES, count_letters
from gangsaw.tasks.sequences.likeness import likeness
from gangsaw.tasks.source import Coordinate, Described
from gangsaw.tasks.store.stamps import file_stamps

READERS: Mapping[str, type[FastaGenome | GenBank]] = {"genome": FastaGenome, "genbank": GenBank}
LINES = ("line_record", "line_length", "line_count", "line_end")  # columns of `GenomePart.lines`

Piece = Mapping[str, NumpyArray]


@dataclass(frozen=True)
class GenomeStream:
    """The records of one file.

    It follows `gangsaw.tasks.source.Stream`. `outcome` are attributes known at the end, `notes`
    what a user should know then. `format` is "2bit" or one of READERS; `is_named`, whether the user
    said it.
    """

    path: str
    format: str = "genome"
    is_named: bool = False
    coords: tuple[Coordinate, ...] = ()
    attrs: Mapping[str, object] = field(default_factory=dict)
    outcome: dict[str, object] = field(default_factory=dict, compare=False)
    notes: list[str] = field(default_factory=list, compare=False)

    not_compared: ClassVar[tuple[str, ...]] = ("lost",)

    @property
    def name(self) -> str:
        """The path."""
        return self.path

    @property
    def is_repeatable(self) -> bool:
        """Whether the file can be read again: it is no pipe."""
        return Path(self.path).is_file()

    def stamps(self) -> Mapping[str, str]:
        """What changes with a file that is no pipe."""
        return file_stamps(self.path)

    @property
    def share_read(self) -> float | None:
        """How much of the file was read so far, 0 to 1; None where that says nothing."""
        return share_read([self.path]) if self.is_repeatable else None

    @property
    def arrays(self) -> tuple[Described, ...]:
        """Residues and heads and where they start; then what only some records have."""
        return (described("sequence", "u1", "residue", NUCLEOTIDES), *record_arrays())

    def pieces(self) -> Iterator[Piece]:
        """Yield arrays of what comes next; BadParams for what is not of the format."""
        file = self._file()
        writer = GenomeWriter()
        for part in file.parts():
            yield writer.piece(part)
        yield writer.last()
        contents = GenomeInfo(
            format=self.format,
            records=writer.n_records,
            width=file.width,
            returns=file.has_returns,
            open=file.is_open,
            letters=writer.letters(),
            lost=file.lost,
            before=file.before.decode(),
        )
        if contents.lost:
            self.notes.append(f"not in the store: {', '.join(contents.lost)}")
        if self.format == "genome" and not self.is_named and (why := likeness(self.path).why):
            self.notes.append(f"taken as a genome: {why}; --format fasta stores reads")
        self.outcome[ATTRIBUTE] = contents.to_dict()

    def _file(self) -> GenomeFile:
        if self.format == "2bit":
            return TwoBitGenome(self.path)
        return READERS[self.format](self.path, takes_protein=self.is_named)


class GenomeWriter:
    """Lays out parts of records as arrays.

    Attributes
    ----------
    n_records, n_letters, n_names : records, residues, and bytes of names so far
    """

    def __init__(self) -> None:
        self.n_records = self.n_letters = self.n_names = 0
        self._first = 0
        self._counts = np.zeros((TABLES, LETTERS), np.int64)

    def begin_file(self) -> int:
        """Let the records of another file follow; return how many there are before."""
        self._first = self.n_records
        return self._first

    def piece(self, part: GenomePart) -> Piece:
        """Return the arrays of a part, those that are not empty."""
        count_letters(part.letters, np.array([0]), np.array([part.letters.size]), self._counts)
        found: dict[str, NumpyArray] = {
            "sequence": part.letters,
            "record_offset": part.letter_starts + self.n_letters,
            "name": part.names,
            "name_offset": (part.name_starts + self.n_names).astype("u8"),
            "odd_head": (part.odd_heads + self._first).astype("u8"),
        }
        for i, name in enumerate(LINES):
            before = self._first if name == "line_record" else 0
            found[name] = (part.lines[:, i] + before).astype("u1" if name == "line_end" else "u8")
        self.n_records += len(part.letter_starts)
        self.n_letters += part.letters.size
        self.n_names += part.names.size
        return {name: array for name, array in found.items() if array.size}

    def last(self) -> Piece:
        """Return the ends of the arrays."""
        return {
            "record_offset": np.array([self.n_letters], "i8"),
            "name_offset": np.array([self.n_names], "u8"),
        }

    def letters(self) -> dict[str, int]:
        """Return how often each letter is there."""
        counts = self._counts.sum(axis=0).tolist()
        return {chr(letter): n for letter, n in enumerate(counts) if n}


def record_arrays() -> tuple[Described, ...]:
    """Return what is said of records: heads and where they start; then what only some have."""
    always = (
        described("record_offset", "i8", "record_border", RECORD_PLACES),
        described("name", "u1", "name_byte", READ_NAMES),
        described("name_offset", "u8", "name_border", LINE_OFFSETS),
    )
    odd = (
        *(described(name, "u8", "line", LINE_OFFSETS) for name in LINES[:3]),
        described("line_end", "u1", "line", LINE_ENDS),
        described("odd_head", "u8", "odd_head", LINE_OFFSETS),
    )
    return (*always, *(replace(array, is_optional=True) for array in odd))


def described(
    name: str, dtype: str, dim: str, content: str, columns: int = 0, *, is_optional: bool = False
) -> Described:
    """Return an array that grows, of rows where it has columns."""
    rest = (columns,) if columns else ()
    return Described(
        name=name,
        shape=(0, *rest),
        dtype=np.dtype(dtype),
        dims=(dim, f"{name}_column")[: 1 + len(rest)],
        chunks=None,
        attrs={CONTENT: content},
        is_optional=is_optional,
    )
