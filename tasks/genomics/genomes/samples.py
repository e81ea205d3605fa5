"""Genomes of a collection: names, sizes and layout of their files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Self, cast

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.compressed_text.names import FASTA_NAMES, PACKED


@dataclass(frozen=True)
class GenomeSample:
    """Genome of a collection, from one file.

    Attributes
    ----------
    file : name of its file
    records, residues : numbers of its records and residues
    width, returns, open, before : layout of the file, as in `GenomeInfo`
    """

    file: str
    records: int
    residues: int
    width: int
    returns: bool
    open: bool
    before: str = ""

    def __post_init__(self) -> None:
        """Check values read from a store: a file name must not lead out of a folder."""
        if PurePath(self.file).name != self.file or "\\" in self.file or "\0" in self.file:
            raise ValueError(f"{self.file!r} is no name of a file")
        if self.records < 0 or self.residues < 0 or self.width < 1:
            raise ValueError(f"{self.file} has {self.records} records, {self.width} wide")

    @property
    def name(self) -> str:
        """Name of the genome: file name without the suffixes of FASTA and of compression."""
        name = self.file
        for suffix in (*PACKED, *FASTA_NAMES):
            if name.lower().endswith(suffix) and len(name) > len(suffix):
                name = name[: -len(suffix)]
        return name

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Return a sample from JSON values; raise KeyError, TypeError or ValueError if wrong."""
        return cls(
            file=str(data["file"]),
            records=int(cast(int, data["records"])),
            residues=int(cast(int, data["residues"])),
            width=int(cast(int, data["width"])),
            returns=bool(data["returns"]),
            open=bool(data["open"]),
            before=str(data.get("before", "")),
        )


def parse_samples(data: object) -> tuple[GenomeSample, ...]:
    """Return the samples in a store's attribute, () if it has none.

    Raises the errors of `GenomeSample.from_dict`.
    """
    if data is None:
        return ()
    found = tuple(GenomeSample.from_dict(one) for one in cast(Sequence[Mapping[str, object]], data))
    if len({sample.name for sample in found}) < len(found):
        raise ValueError("two samples have one name")
    return found


def sample_names(paths: Sequence[str]) -> list[str]:
    """Return the sample names that files would get: file names without suffixes."""
    files = [PurePath(path).name for path in paths]
    return [GenomeSample(file, 0, 0, 1, returns=False, open=False).name for file in files]


def check_sample_names(paths: Sequence[str]) -> None:
    """Raise BadParams for two files of one name, as genomes are identified by their names."""
    seen: dict[str, str] = {}
    for path, name in zip(paths, sample_names(paths), strict=True):
        if name in seen:
            raise BadParams(f"{seen[name]} and {path} have one name, {name}: rename one")
        seen[name] = path
