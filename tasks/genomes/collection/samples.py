"""The genomes of a collection: what each file was like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Self, cast

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.sequences.files.names import FASTA_NAMES, PACKED


@dataclass(frozen=True)
class GenomeSample:
    """One genome of a collection.

    Attributes
    ----------
    file : name of its file
    records, residues : how many it has
    width, returns, open, before : as those of `GenomeInfo`
    """

    file: str
    records: int
    residues: int
    width: int
    returns: bool
    open: bool
    before: str = ""

    def __post_init__(self) -> None:
        """Check what a store says: its files may not lead out of a folder."""
        if PurePath(self.file).name != self.file or "\\" in self.file or "\0" in self.file:
            raise ValueError(f"{self.file!r} is no name of a file")
        if self.records < 0 or self.residues < 0 or self.width < 1:
            raise ValueError(f"{self.file} has {self.records} records, {self.width} wide")

    @property
    def name(self) -> str:
        """Of the file, without the suffixes of FASTA and of compression."""
        name = self.file
        for suffix in (*PACKED, *FASTA_NAMES):
            if name.lower().endswith(suffix) and len(name) > len(suffix):
                name = name[: -len(suffix)]
        return name

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Read what a store has; KeyError, TypeError or ValueError where it is wrong."""
        return cls(
            file=str(data["file"]),
            records=int(cast(int, data["records"])),
            residues=int(cast(int, data["residues"])),
            width=int(cast(int, data["width"])),
            returns=bool(data["returns"]),
            open=bool(data["open"]),
            before=str(data.get("before", "")),
        )


def samples_of(data: object) -> tuple[GenomeSample, ...]:
    """Read the samples of a store, () where it says nothing; as `GenomeSample.from_dict`."""
    if data is None:
        return ()
    found = tuple(GenomeSample.from_dict(one) for one in cast(Sequence[Mapping[str, object]], data))
    if len({sample.name for sample in found}) < len(found):
        raise ValueError("two samples have one name")
    return found


def sample_names(paths: Sequence[str]) -> list[str]:
    """Return what the genomes of files are called."""
    files = [PurePath(path).name for path in paths]
    return [GenomeSample(file, 0, 0, 1, returns=False, open=False).name for file in files]


def check_names(paths: Sequence[str]) -> None:
    """Raise BadParams for two files of one name, by which a collection tells its genomes."""
    seen: dict[str, str] = {}
    for path, name in zip(paths, sample_names(paths), strict=True):
        if name in seen:
            raise BadParams(f"{seen[name]} and {path} have one name, {name}: rename one")
        seen[name] = path
