"""Stream of related genomes from FASTA files: reference bases, pieces, edits and records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath

import numpy as np

from gangsaw.codecs.core.nucleotides.codes import CODES, LETTER_OF_CODE
from gangsaw.codecs.core.plugins.contents import INTEGER_ROWS, KNOWN_NUCLEOTIDES
from gangsaw.tasks.compressed_text.measured import share_read
from gangsaw.tasks.compressed_text.names import PACKED, is_called
from gangsaw.tasks.compressed_text.text import Text
from gangsaw.tasks.genomics.genomes.files.fasta import FastaGenome
from gangsaw.tasks.genomics.genomes.files.file_parts import UNFOLDED
from gangsaw.tasks.genomics.genomes.info import ATTRIBUTE, COLLECTION, GenomeInfo
from gangsaw.tasks.genomics.genomes.related.batch import NO_RESIDUES, Collected
from gangsaw.tasks.genomics.genomes.related.joined import TABLE_COLUMNS
from gangsaw.tasks.genomics.genomes.related.marks import ResidueMarks, looked_up
from gangsaw.tasks.genomics.genomes.related.small import MOST, better
from gangsaw.tasks.genomics.genomes.samples import GenomeSample, check_sample_names
from gangsaw.tasks.genomics.genomes.stored.stream import (
    GenomeWriter,
    Piece,
    describe_array,
    record_arrays,
)
from gangsaw.tasks.sources.source import Coordinate, Described
from gangsaw.tasks.store.objects.versions import file_versions

BATCH_RESIDUES = 1 << 24  # residues that are aligned to the reference at once
SMALL = 2 * MOST  # bytes of text, which exceed its residues
PACKED_TIMES = 4  # approximate ratio of text to compressed file


@dataclass(frozen=True)
class CollectionStream:
    """Input stream of a collection: the genomes of several FASTA files, in sequence.

    Attributes
    ----------
    paths : paths of the files
    is_named : True if the user named the format of the files
    before : function that returns the reference bases of earlier genomes, as codes
    outcome : Zarr attributes that are known at the end of the stream
    """

    paths: tuple[str, ...]
    is_named: bool = False
    before: Callable[[], Text] | None = field(default=None, compare=False)
    coords: tuple[Coordinate, ...] = ()
    attrs: Mapping[str, object] = field(default_factory=dict)
    outcome: dict[str, object] = field(default_factory=dict, compare=False)
    notes: list[str] = field(default_factory=list, compare=False)

    def __post_init__(self) -> None:
        """Raise BadParams if two files have the same sample name."""
        check_sample_names(self.paths)

    @property
    def name(self) -> str:
        """Name for messages: first path, and the number of other paths."""
        more = f" and {len(self.paths) - 1} more" if self.paths[1:] else ""
        return f"{self.paths[0]}{more}"

    @property
    def is_repeatable(self) -> bool:
        """True if the files can be read again: none is a pipe."""
        return all(Path(path).is_file() for path in self.paths)

    @property
    def _is_small(self) -> bool:
        """True if genomes are so small that storing them without edits may take fewer bytes."""
        return self.before is None and sum(map(_text_size, self.paths)) <= SMALL

    def versions(self) -> Mapping[str, str]:
        """Return the versions of the files that are not pipes."""
        return file_versions(*self.paths)

    @property
    def share_read(self) -> float | None:
        """Fraction of the files that has been read, 0 to 1; None for pipes."""
        return share_read(list(self.paths)) if self.is_repeatable else None

    @property
    def arrays(self) -> tuple[Described, ...]:
        """Descriptions of the arrays to write: reference bases, pieces and edits, records."""
        rows = tuple(
            describe_array(name, "u4", f"{name}_row", INTEGER_ROWS, n, is_optional=name in OPTIONAL)
            for name, n in TABLE_COLUMNS.items()
        )
        return (describe_array("known", "u1", "letter", KNOWN_NUCLEOTIDES), *rows, *record_arrays())

    def letters_of(self, attrs: Mapping[str, object]) -> int:
        """Return the number of residues of a store's genomes.

        It exceeds that of the arrays, where genomes share reference bases.
        """
        info = GenomeInfo.from_attrs(attrs)
        return 0 if info is None else info.residues

    def differences(self, store: str) -> Iterator[str]:
        """Yield a line for each genome of a store that differs from its file."""
        from gangsaw.tasks.genomics.genomes.collections.compared import genome_differences

        return genome_differences(store, self.paths)

    def pieces(self) -> Iterator[Piece]:
        """Yield the next items of arrays, by name; raise BadParams for text that is not FASTA."""
        writer, marks, samples = GenomeWriter(), ResidueMarks(), list[GenomeSample]()
        batch: Collected | None = None
        small = list[Text]()
        for path in self.paths:
            file = FastaGenome(path, takes_protein=self.is_named)
            first, before = writer.begin_file(), writer.n_letters
            for piece, letters in _batches(writer, file):
                yield piece
                if letters is None:
                    continue
                yield {name: rows for name, rows in marks.rows(letters).items() if rows.size}
                if self._is_small:
                    small.append(CODES[letters])
                    continue
                batch = batch or self._begun(path, letters)
                yield from _added(batch, letters)
            sizes = writer.n_records - first, writer.n_letters - before
            samples.append(_sample(path, file, *sizes))
        if batch is None:
            batch = better(small)
            yield from _known(batch, 0)
        self.notes.append(f"memory: {batch.memory_bytes / 1e6:.0f} MB of known residues and edits")
        yield writer.last()
        yield from batch.parts()
        self.outcome[ATTRIBUTE] = _info(writer, samples).to_dict()

    def _begun(self, path: str, residues: Text) -> Collected:
        """Return an encoder for genomes that starts with the reference bases of earlier ones."""
        before = NO_RESIDUES if self.before is None else self.before()
        return Collected(_n_first(path, residues), before=before)


OPTIONAL = ("other", "lower")


def _batches(writer: GenomeWriter, file: FastaGenome) -> Iterator[tuple[Piece, Text | None]]:
    """Yield items of the record arrays, and after every BATCH_RESIDUES residues also these."""
    letters, n = list[Text](), 0
    for part in file.parts():
        piece = dict(writer.piece(part))
        piece.pop("sequence", None)
        letters.append(part.letters)
        n += part.letters.size
        yield piece, None
        if n >= BATCH_RESIDUES:
            yield {}, np.concatenate(letters)
            letters, n = [], 0
    yield {}, np.concatenate((*letters, NO_RESIDUES))


def _n_first(path: str, residues: Text) -> int:
    """Return the approximate number of residues of the first genome.

    `residues` is its beginning.
    """
    if residues.size < BATCH_RESIDUES:
        return residues.size
    return max(residues.size, _text_size(path))


def _text_size(path: str) -> int:
    """Return the approximate size of a file's decompressed text in bytes."""
    return (PACKED_TIMES if is_called(path, PACKED) else 1) * Path(path).stat().st_size


def _added(batch: Collected, residues: Text) -> Iterator[Piece]:
    """Encode residues of a genome; yield the bases that this adds to the reference."""
    before = batch.known.n
    codes = np.empty(residues.size, np.uint8)
    looked_up(residues, CODES, codes)
    batch.add(codes)
    yield from _known(batch, before)


def _known(batch: Collected, begin: int) -> Iterator[Piece]:
    """Yield the reference bases from position `begin` on."""
    if begin < batch.known.n:
        codes = batch.known.letters[begin : batch.known.n]
        letters = np.empty(codes.size, np.uint8)
        looked_up(codes, LETTER_OF_CODE, letters)
        yield {"known": letters}


def _sample(path: str, file: FastaGenome, records: int, residues: int) -> GenomeSample:
    shape = file.width, file.has_returns, file.is_open, file.before.decode()
    return GenomeSample(PurePath(path).name, records, residues, *shape)


def _info(writer: GenomeWriter, samples: list[GenomeSample]) -> GenomeInfo:
    return GenomeInfo(
        format=COLLECTION,
        records=writer.n_records,
        width=UNFOLDED,
        returns=False,
        open=False,
        letters=writer.count_residues(),
        samples=tuple(samples),
    )
