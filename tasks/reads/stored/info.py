"""The attribute by which a store of reads says what it holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.reads.files.settings import Settings
from gangsaw.tasks.reads.stored.figures import ReadFigures
from gangsaw.tasks.sequences.likeness import READS

ATTRIBUTE = READS
VERSION = 1
LATER = {"phred": 33, "pairing": "trusted"}  # settings that no store, or no earlier one, names


@dataclass(frozen=True)
class ReadsInfo:
    """What a store of reads says of itself, beside its arrays.

    Attributes
    ----------
    format : of the files: "fastq", "fasta" or "bam"
    settings : what was kept
    n_files : files that the reads came from; of two, mates alternate
    records : how many there are
    digest : sum modulo 2^64 of XXH64 of each record's fields, as hexadecimal digits
    sign : what follows "+" where a record says nothing else: "" or "name"
    returns : whether lines of each file end with CR LF
    open : whether the last line of each file has no newline
    tails : blank lines behind the last record of each file
    figures : of all reads, as they were counted; None where they were not
    widths : letters of a full line of a sequence in each file; 0 where each is on one line
    lost : what of the files is not in the store, in words
    tried : of order "smallest", how many ranges are in each order that was tried
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
    tried: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_paired(self) -> bool:
        """Whether mates are records 2i and 2i + 1."""
        return self.n_files == 2 or self.settings.interleaved

    def to_dict(self) -> dict[str, object]:
        """JSON attribute."""
        own = {k: v for k, v in vars(self).items() if k not in ("settings", "figures", "tried")}
        settings = {k: v for k, v in vars(self.settings).items() if k != "pairing"}
        figures = {} if self.figures is None else {"figures": vars(self.figures)}
        tried = {"tried": dict(self.tried)} if self.tried else {}
        return {"version": VERSION, **settings, **own, **figures, **tried}

    @classmethod
    def from_attrs(cls, attrs: Mapping[str, object]) -> Self | None:
        """Read the attribute of a group; None where it has none, BadParams where it is wrong."""
        data = attrs.get(ATTRIBUTE)
        if data is None:
            return None
        if not isinstance(data, Mapping) or data.get("version") != VERSION:
            raise BadParams(f"attribute {ATTRIBUTE} is of no version that is known here")
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
                tried={str(k): int(v) for k, v in dict(data.get("tried", {})).items()},
            )
        except (KeyError, TypeError, ValueError) as error:
            raise BadParams(f"attribute {ATTRIBUTE} is not whole: {error}") from error
        of_files = (found.returns, found.open, found.tails, found.widths)
        if any(len(values) != found.n_files for values in of_files):
            raise BadParams(f"attribute {ATTRIBUTE} is not whole: not all files are told of")
        return found


def told_tried(tried: Mapping[str, int]) -> str:
    """Return in words which orders took fewest bytes."""
    words = {"input": "as in the input", "name": "by name", "place": "by place"}
    listed = ", ".join(f"{n} {words.get(name, name)}" for name, n in tried.items())
    return f"order smallest, of {sum(tried.values())} ranges: {listed}"
