"""Attribute of a store that describes its genome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Self, cast

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.nucleotides.alphabet import BASES, both_cases
from gangsaw.tasks.genomics.genomes.samples import GenomeSample, parse_samples

ATTRIBUTE = "gangsaw_genome"
# a reader of version 1 would drop `before`, and mistake one sample for all
VERSION, WITH_BLANKS, WITH_SAMPLES, WITH_PARTS = 1, 2, 3, 4
VERSIONS = (VERSION, WITH_BLANKS, WITH_SAMPLES, WITH_PARTS)
COLLECTION = "collection"  # name of the format of several genomes
MAYBE = ("before", "samples", "added")  # fields that are written only if not empty
MOST_BEFORE = 1 << 12  # largest size of `before` in bytes
GC = "GCgcSs"
PLAIN = both_cases(BASES + b"U").decode()  # codes of a single base


@dataclass(frozen=True)
class GenomeInfo:
    """Description of a store's genome or collection, a Zarr attribute.

    Attributes
    ----------
    format : format of the file: "genome" (FASTA), "2bit" or "genbank"; COLLECTION for several files
    records : number of records
    width : residues per line, `UNFOLDED` if each record has one line
    returns : True if lines end with CR LF
    open : True if the last line has no line end
    letters : number of occurrences of each residue, by letter
    lost : descriptions of the file's items that are not in the store
    before : blank lines before the first record
    samples : genomes of a collection; empty for a single genome
    added : number of samples in each addition, at the end of `samples`
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
        """Numbers of samples in the first set of genomes and in each addition."""
        return (len(self.samples) - sum(self.added), *self.added)

    def samples_of_parts(self) -> list[tuple[GenomeSample, ...]]:
        """Return the samples of the first set of genomes and of each addition."""
        ends = [*accumulate(self.parts, initial=0)]
        return [self.samples[begin:end] for begin, end in pairwise(ends)]

    @property
    def residues(self) -> int:
        """Number of residues of all records."""
        return sum(self.letters.values())

    def count(self, residues: str) -> int:
        """Return the number of residues that are one of the letters in `residues`."""
        return sum(self.letters.get(letter, 0) for letter in residues)

    def to_dict(self) -> dict[str, object]:
        """Return the description as a Zarr attribute."""
        own = {k: v for k, v in vars(self).items() if k not in MAYBE or v}
        version = WITH_BLANKS if self.before else VERSION
        if self.samples:
            version, own["samples"] = WITH_SAMPLES, [dict(vars(one)) for one in self.samples]
        if self.added:
            version, own["added"] = WITH_PARTS, list(self.added)
        return {"version": version, **own, "letters": dict(self.letters)}

    @classmethod
    def from_attrs(cls, attrs: Mapping[str, object]) -> Self | None:
        """Return the description in a group's attributes, or None; raise BadParams if invalid."""
        data = attrs.get(ATTRIBUTE)
        if data is None:
            return None
        if not isinstance(data, Mapping) or data.get("version") not in VERSIONS:
            raise BadParams(f"attribute {ATTRIBUTE} has an unsupported version")
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
                samples=parse_samples(data.get("samples")),
                added=tuple(map(int, data.get("added", ()))),
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise BadParams(f"attribute {ATTRIBUTE} is incomplete: {error}") from error
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
