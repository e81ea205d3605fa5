"""Attribute of a store that describes its reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self, cast

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.genomics.reads.files.settings import Settings
from gangsaw.tasks.genomics.reads.sets.file_sets import FileSet, number_sets, split_by_set
from gangsaw.tasks.genomics.reads.stored.figures import ReadFigures
from gangsaw.tasks.genomics.sequences.likeness import READS

ATTRIBUTE = READS
VERSION = 1
SEVERAL = 2  # version for several sets of files, or a set of more than two files
# settings that stores, or older stores, do not have
LATER = {"phred": 33, "pairing": "trusted", "tags": ""}


@dataclass(frozen=True)
class ReadsInfo:
    """Description of a store's reads, a Zarr attribute.

    Attributes
    ----------
    format : format of the files: "fastq", "fasta" or "bam"
    settings : settings of the job that wrote the store
    n_files : number of source files
    records : number of records
    digest : sum of XXH64 of each record's fields, modulo 2^64, as hexadecimal digits
    sign : usual text after "+": "" or "name"
    returns : for each file, True if lines end with CR LF
    open : for each file, True if the last line has no newline
    tails : blank lines after the last record of each file
    figures : statistics of all reads; None if they were not counted
    widths : bases of a full line of a sequence in each file; 0 if each has one line
    lost : descriptions of the files' items that are not in the store
    sets : sets of files with their records; () is one set of all files
    files : names of the files without folders, if there are several sets
    tried : for order "smallest", the number of ranges for which each order was chosen
    """

    format: str
    settings: Settings
    n_files: int
    records: int
    digest: str
    sign: str = ""
    returns: tuple[bool, ...] = ()
    open: tuple[bool, ...] = ()
    tails: tuple[str, ...] = ()
    figures: ReadFigures | None = None
    widths: tuple[int, ...] = ()
    lost: tuple[str, ...] = ()
    sets: tuple[FileSet, ...] = ()
    files: tuple[str, ...] = ()
    tried: Mapping[str, int] = field(default_factory=dict)

    @property
    def parts(self) -> tuple[FileSet, ...]:
        """Sets of input files whose records are mates, in the order of the store."""
        whole = FileSet(tuple(range(self.n_files)), self.settings.interleaved, 0, self.records)
        return self.sets or (whole,)

    @property
    def is_paired(self) -> bool:
        """True if all records 2i and 2i + 1 are mates."""
        there = [own for own in self.parts if own.records] or self.parts[:1]
        return all(own.together == 2 for own in there)

    @property
    def is_mixed(self) -> bool:
        """True if only some records are pairs, or if groups have more than two records."""
        return not self.is_paired and any(own.together > 1 for own in self.parts)

    @property
    def n_groups(self) -> int:
        """Number of groups: pairs, single reads, or reads with their index reads."""
        return sum(own.records // own.together for own in self.parts)

    def start_of(self, group: int) -> int:
        """Return the number of a group's first record; the number of all records for `n_groups`."""
        for own in self.parts:
            if group < (n := own.records // own.together):
                return own.first + group * own.together
            group -= n
        return self.records

    def group_of(self, record: int) -> int:
        """Return the number of the group, such as a pair, of a record."""
        before = 0
        for own in self.parts:
            if record < own.last:
                return before + (record - own.first) // own.together
            before += own.records // own.together
        return before

    def files_of(self, first: int, last: int) -> npt.NDArray[np.int64]:
        """Return the number of the source file of records first..last - 1: (n,) int64."""
        found = np.empty(last - first, np.int64)
        for run in split_by_set(self.parts, first, last):
            files = np.array(run.of.files)
            places = np.arange(run.first, run.last) - run.of.first
            found[run.first - first : run.last - first] = files[places % files.size]
        return found

    def to_dict(self) -> dict[str, object]:
        """Return the description as a Zarr attribute."""
        others = ("settings", "figures", "tried", "sets", "files")
        own = {k: v for k, v in vars(self).items() if k not in others}
        settings = {k: v for k, v in vars(self.settings).items() if k != "pairing"}
        if not settings["tags"]:
            del settings["tags"]
        figures = {} if self.figures is None else {"figures": vars(self.figures)}
        tried = {"tried": dict(self.tried)} if self.tried else {}
        if not self.sets:
            return {"version": VERSION, **settings, **own, **figures, **tried}
        sets = [{k: v for k, v in vars(one).items() if k != "first"} for one in self.sets]
        several = {"sets": sets, "files": self.files}
        return {"version": SEVERAL, **settings, **own, **several, **figures, **tried}

    @classmethod
    def from_attrs(cls, attrs: Mapping[str, object]) -> Self | None:
        """Return the description in a group's attributes, or None; raise BadParams if invalid."""
        data = attrs.get(ATTRIBUTE)
        if data is None:
            return None
        if not isinstance(data, Mapping) or data.get("version") not in (VERSION, SEVERAL):
            raise BadParams(f"attribute {ATTRIBUTE} has an unsupported version")
        known = {**LATER, **data}
        try:
            found = cls(
                format=data["format"],
                settings=Settings(**{k: known[k] for k in Settings.__dataclass_fields__}),
                n_files=data["n_files"],
                records=data["records"],
                digest=data["digest"],
                sign=data["sign"],
                returns=tuple(data["returns"]),
                open=tuple(data["open"]),
                tails=tuple(data["tails"]),
                figures=ReadFigures.from_dict(data["figures"]) if "figures" in data else None,
                widths=tuple(map(int, data["widths"])),
                lost=tuple(data["lost"]),
                sets=_sets(data.get("sets", ())),
                files=tuple(map(str, data.get("files", ()))),
                tried={str(k): int(v) for k, v in dict(data.get("tried", {})).items()},
            )
        except (KeyError, TypeError, ValueError) as error:
            raise BadParams(f"attribute {ATTRIBUTE} is incomplete: {error}") from error
        of_files = (found.returns, found.open, found.tails, found.widths)
        if any(len(values) != found.n_files for values in of_files):
            raise BadParams(f"attribute {ATTRIBUTE} is incomplete: it does not describe all files")
        named = {i for own in found.sets for i in own.files}
        if (data["version"] == SEVERAL) != bool(found.sets):
            raise BadParams(f"attribute {ATTRIBUTE} is incomplete: it has no sets of files")
        if found.sets and (named != set(range(found.n_files)) or not _are_whole(found)):
            raise BadParams(f"attribute {ATTRIBUTE} is damaged: its sets do not match its files")
        return found


def describe_tried_orders(tried: Mapping[str, int]) -> str:
    """Return a message with the number of ranges for which each order was chosen."""
    words = {"input": "as in the input", "name": "by name", "place": "by position"}
    listed = ", ".join(f"{n} {words.get(name, name)}" for name, n in tried.items())
    return f"order smallest, of {sum(tried.values())} ranges: {listed}"


def _sets(data: Sequence[Mapping[str, object]]) -> tuple[FileSet, ...]:
    """Return the sets of files from JSON; raise KeyError, TypeError or ValueError if invalid."""
    sets = [
        FileSet(tuple(map(int, cast(Sequence[int], one["files"]))), bool(one["interleaved"]))
        for one in data
    ]
    return number_sets(sets, [int(cast(int, one["records"])) for one in data])


def _are_whole(info: ReadsInfo) -> bool:
    """Return True if the sets of files have complete groups that add up to the store's records."""
    groups = all(
        own.files and own.records >= 0 and own.records % own.together == 0 for own in info.sets
    )
    return groups and info.sets[-1].last == info.records and len(info.files) == info.n_files
