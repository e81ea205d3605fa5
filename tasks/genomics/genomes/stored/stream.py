"""Stream of a genome file's arrays: residues, headers, offsets and layout of lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.plugins.contents import (
    CONTENT,
    LINE_ENDS,
    LINE_OFFSETS,
    NUCLEOTIDES,
    READ_NAMES,
    RECORD_PLACES,
)
from gangsaw.tasks.compressed_text.measured import share_read
from gangsaw.tasks.genomics.genomes.files.fasta import FastaGenome
from gangsaw.tasks.genomics.genomes.files.file_parts import GenomeFile, GenomePart
from gangsaw.tasks.genomics.genomes.files.genbank import GenBankReader
from gangsaw.tasks.genomics.genomes.files.twobit import TwoBitGenome
from gangsaw.tasks.genomics.genomes.info import ATTRIBUTE, GenomeInfo
from gangsaw.tasks.genomics.sequences.kernels import LETTERS, TABLES, count_bytes
from gangsaw.tasks.genomics.sequences.likeness import likeness
from gangsaw.tasks.sources.source import Coordinate, Described
from gangsaw.tasks.store.objects.versions import file_versions

READERS: Mapping[str, type[FastaGenome | GenBankReader]] = {
    "genome": FastaGenome,
    "genbank": GenBankReader,
}
LINES = ("line_record", "line_length", "line_count", "line_end")  # columns of `GenomePart.lines`

Piece = Mapping[str, NumpyArray]


@dataclass(frozen=True)
class GenomeStream:
    """Input stream of one genome file, as arrays.

    It implements `gangsaw.tasks.sources.source.Stream`.

    Attributes
    ----------
    format : "2bit" or one of READERS
    is_named : True if the user named the format
    outcome : Zarr attributes that are known at the end of the stream
    notes : messages for the user at the end
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
        """Path of the file."""
        return self.path

    @property
    def is_repeatable(self) -> bool:
        """True if the file can be read again: it is not a pipe."""
        return Path(self.path).is_file()

    def versions(self) -> Mapping[str, str]:
        """Return the version of the file, unless it is a pipe."""
        return file_versions(self.path)

    @property
    def share_read(self) -> float | None:
        """Fraction of the file that has been read, 0 to 1; None for a pipe."""
        return share_read([self.path]) if self.is_repeatable else None

    @property
    def arrays(self) -> tuple[Described, ...]:
        """Descriptions of the arrays to write: residues, headers, offsets, then optional ones."""
        return (describe_array("sequence", "u1", "residue", NUCLEOTIDES), *record_arrays())

    def pieces(self) -> Iterator[Piece]:
        """Yield the next items of arrays, by name; raise BadParams for data of another format."""
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
            letters=writer.count_residues(),
            lost=file.lost,
            before=file.before.decode(),
        )
        if contents.lost:
            self.notes.append(f"not in the store: {', '.join(contents.lost)}")
        if self.format == "genome" and not self.is_named and (why := likeness(self.path).why):
            self.notes.append(f"read as a genome: {why}; --format fasta stores reads")
        self.outcome[ATTRIBUTE] = contents.to_dict()

    def _file(self) -> GenomeFile:
        if self.format == "2bit":
            return TwoBitGenome(self.path)
        return READERS[self.format](self.path, takes_protein=self.is_named)


class GenomeWriter:
    """Converter of parts of genome files to items of the store's arrays.

    Attributes
    ----------
    n_records, n_letters, n_names : numbers of records, residues, and bytes of names so far
    """

    def __init__(self) -> None:
        self.n_records = self.n_letters = self.n_names = 0
        self._first = 0
        self._counts = np.zeros((TABLES, LETTERS), np.int64)

    def begin_file(self) -> int:
        """Start the records of another file; return the number of records before it."""
        self._first = self.n_records
        return self._first

    def piece(self, part: GenomePart) -> Piece:
        """Return the next items of the arrays for a part of a genome file, without empty ones."""
        count_bytes(part.letters, np.array([0]), np.array([part.letters.size]), self._counts)
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
        """Return the last items of the offsets arrays, the end offsets."""
        return {
            "record_offset": np.array([self.n_letters], "i8"),
            "name_offset": np.array([self.n_names], "u8"),
        }

    def count_residues(self) -> dict[str, int]:
        """Return the number of occurrences of each residue so far."""
        counts = self._counts.sum(axis=0).tolist()
        return {chr(letter): n for letter, n in enumerate(counts) if n}


def record_arrays() -> tuple[Described, ...]:
    """Return the descriptions of arrays of records: headers, offsets, then optional ones."""
    always = (
        describe_array("record_offset", "i8", "record_border", RECORD_PLACES),
        describe_array("name", "u1", "name_byte", READ_NAMES),
        describe_array("name_offset", "u8", "name_border", LINE_OFFSETS),
    )
    odd = (
        *(describe_array(name, "u8", "line", LINE_OFFSETS) for name in LINES[:3]),
        describe_array("line_end", "u1", "line", LINE_ENDS),
        describe_array("odd_head", "u8", "odd_head", LINE_OFFSETS),
    )
    return (*always, *(replace(array, is_optional=True) for array in odd))


def describe_array(
    name: str, dtype: str, dim: str, content: str, columns: int = 0, *, is_optional: bool = False
) -> Described:
    """Return the description of an array that grows along `dim`; of rows if `columns` is given."""
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
