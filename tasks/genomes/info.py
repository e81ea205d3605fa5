"""The attribute of a store that says what genome it holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Self, cast

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.nucleotides.letters import BASES, both_cases
from gangsaw.tasks.genomes.collection.samples import GenomeSample, samples_of

ATTRIBUTE = "gangsaw_genome"
# what reads the first alone would leave out `before`, and take a sample for all
VERSION, WITH_BLANKS, WITH_SAMPLES, WITH_PARTS = 1, 2, 3, 4
VERSIONS = (VERSION, WITH_BLANKS, WITH_SAMPLES, WITH_PARTS)
COLLECTION = "collection"  # the format of several genomes
MAYBE = ("before", "samples", "added")  # said where there is any
MOST_BEFORE = 1 << 12  # bytes
GC = "GCgcSs"
PLAIN = both_cases(BASES + b"U").decode()  # of one base, not of several


@dataclass(frozen=True)
class GenomeInfo:
    """What a store of a genome says of itself, beside its arrays.

    Attributes
    ----------
    format : of the file: "genome" (FASTA), "2bit" or "genbank"; COLLECTION of several
    records : how many there are
    width : residues of a line, `UNFOLDED` where each record has one line
    returns : whether lines end with CR LF
    open : whether the last line has no end
    letters : residues, and how often each is there
    lost : what of the file is not in the store, in words
    before : blank lines before the first record
    samples : the genomes of a collection; of a single one none
    added : how many of them were added at each time, the last ones
    """

    format: str
    records: int
    width: int
    returns: bool
    open: bool
    letters: Mapping[str, int]
    lost: tuple[str, ...] = ()
    before: str = ""
    samples: tuple[GenomeSample, ...] = ()
    added: tuple[int, ...] = ()

    @property
    def parts(self) -> tuple[int, ...]:
        """How many of the samples were there first, and were added at each time."""
        return (len(self.samples) - sum(self.added), *self.added)

    def samples_of_parts(self) -> list[tuple[GenomeSample, ...]]:
        """Return the samples that were there first, and those that were added at each time."""
        ends = [*accumulate(self.parts, initial=0)]
        return [self.samples[begin:end] for begin, end in pairwise(ends)]

    @property
    def residues(self) -> int:
        """Letters of all records."""
        return sum(self.letters.values())

    def count(self, letters: str) -> int:
        """Return how many residues are one of these letters."""
        return sum(self.letters.get(letter, 0) for letter in letters)

    def to_dict(self) -> dict[str, object]:
        """JSON attribute."""
        own = {k: v for k, v in vars(self).items() if k not in MAYBE or v}
        version = WITH_BLANKS if self.before else VERSION
        if self.samples:
            version, own["samples"] = WITH_SAMPLES, [dict(vars(one)) for one in self.samples]
        if self.added:
            version, own["added"] = WITH_PARTS, list(self.added)
        return {"version": version, **own, "letters": dict(self.letters)}

    @classmethod
    def from_attrs(cls, attrs: Mapping[str, object]) -> Self | None:
        """Read the attribute of a group; None where it has none, BadParams where it is wrong."""
        data = attrs.get(ATTRIBUTE)
        if data is None:
            return None
        if not isinstance(data, Mapping) or data.get("version") not in VERSIONS:
            raise BadParams(f"attribute {ATTRIBUTE} is of no version that is known here")
        try:
            letters = cast(Mapping[str, int], data["letters"])
            found = cls(
                format=str(data["format"]),
                records=int(data["records"]),
                width=int(data["width"]),
                returns=bool(data["returns"]),
                open=bool(data["open"]),
                letters={str(letter): int(n) for letter, n in letters.items()},
                lost=tuple(map(str, data["lost"])),
                before=str(data.get("before", "")),
                samples=samples_of(data.get("samples")),
                added=tuple(map(int, data.get("added", ()))),
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise BadParams(f"attribute {ATTRIBUTE} is not whole: {error}") from error
        if found.width < 1 or found.records < 0:
            raise BadParams(
                f"attribute {ATTRIBUTE} has {found.records} records, {found.width} wide"
            )
        if found.samples and sum(one.records for one in found.samples) != found.records:
            raise BadParams(f"attribute {ATTRIBUTE} has samples of other records")
        if found.added and (min(found.parts) < 1 or not found.samples):
            raise BadParams(f"attribute {ATTRIBUTE} has other samples than were added")
        if len(found.before) > MOST_BEFORE or not found.before.isascii() or found.before.strip():
            raise BadParams(f"attribute {ATTRIBUTE} has text before its records that is not blank")
        return found
