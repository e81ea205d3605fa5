"""Regions of a genome in users' notation, and their text as `samtools faidx` writes it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.nucleotides.codes import reverse_complement_bases
from gangsaw.tasks.compressed_text.text import Text
from gangsaw.tasks.genomics.genomes.stored.genome import Genome
from gangsaw.tasks.genomics.genomes.stored.record import GenomeRecord

SPAN = r":([0-9][0-9,]*)?(?:-([0-9][0-9,]*)?)?"
INTERVAL = re.compile(f"(.+){SPAN}", re.DOTALL)
BRACED = re.compile(r"\{(.+)\}(?:" + SPAN + ")?", re.DOTALL)  # name in braces, as it has a colon
BED = re.compile(r"([^\t]+)\t([0-9]+)\t([0-9]+)(?:\t|$)")
HEADS = re.compile(r"#|track\s|browser\s")
SLAB = 1 << 23  # residues that are written per step
STRAND = "/rc"  # suffix of the name of a reverse complement
NEWLINE = 10


@dataclass(frozen=True)
class Region:
    """Residues begin..end - 1 of a record, counted from 0.

    Attributes
    ----------
    title : the region as the user wrote it
    """

    title: str
    record: GenomeRecord
    begin: int
    end: int


def find_region(genome: Genome, text: str) -> Region:
    """Return the region "name", "name:first-last", "name:first" or "name:-last", counted from 1.

    A name may be in braces, as in samtools. A record whose complete name is the text has
    precedence. Raises BadParams for unknown names, and for positions outside of the record.
    """
    if text in genome:
        record = genome[text]
        return Region(text, record, 0, record.length)
    parsed = BRACED.fullmatch(text) or INTERVAL.fullmatch(text)
    name = parsed[1] if parsed is not None else text
    if parsed is None or not (parsed[2] or parsed[3]):
        record = genome[name if name in genome else text]  # the error lists similar names
        return Region(text, record, 0, record.length)
    record = genome[name]
    first, last = (int(part.replace(",", "")) if part else None for part in (parsed[2], parsed[3]))
    begin, end = (1 if first is None else first) - 1, record.length if last is None else last
    if not 0 <= begin < end <= record.length:
        raise BadParams(
            f"{text}: {name} has residues 1 to {record.length:,}: name the first, then the last"
        )
    return Region(text, record, begin, end)


def region_text(region: Region, width: int, *, other_strand: bool = False) -> Iterator[bytes]:
    """Yield a region, or its reverse complement, as FASTA with `width` residues per line."""
    head = f">{region.title}{STRAND if other_strand else ''}\n"
    yield head.encode("utf-8", "surrogateescape")
    step = max(1, SLAB // width) * width
    for at in range(0, region.end - region.begin, step):
        if other_strand:
            end = region.end - at
            letters = region.record.letters(max(region.begin, end - step), end)
            yield _folded(reverse_complement_bases(letters), width)
        else:
            begin = region.begin + at
            yield _folded(region.record.letters(begin, min(region.end, begin + step)), width)


def regions_of(lines: Iterable[str]) -> list[str]:
    """Return the regions of a file, one per line that is not blank; BED lines are converted.

    BED counts from 0, and its end is exclusive. Its comments, browser and track lines are skipped,
    and columns after the third are ignored.
    """
    kept = [line.strip() for line in lines if line.strip() and not HEADS.match(line)]
    return [_of_bed(line) for line in kept]


def _of_bed(line: str) -> str:
    """Return the region of a BED line in users' notation; any other line unchanged."""
    found = BED.match(line)
    if found is None:
        return line
    name = f"{{{found[1]}}}" if ":" in found[1] else found[1]
    return f"{name}:{int(found[2]) + 1}-{found[3]}"


def _folded(residues: Text, width: int) -> bytes:
    """Return residues as lines of `width`, with a newline after each and after the last one."""
    whole = residues.size // width
    lines = np.full((whole, width + 1), NEWLINE, np.uint8)
    lines[:, :width] = residues[: whole * width].reshape(whole, width)
    rest = residues[whole * width :].tobytes()
    return lines.tobytes() + (rest + b"\n" if rest else b"")
