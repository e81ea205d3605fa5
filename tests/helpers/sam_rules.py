"""Rules of SAMv1 (1.4, and the tags MC and NM) for the lines of single reads and of pairs.

They are read from the lines of a file alone, so that they hold for any program's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

PAIRED, PROPER, UNMAPPED, MATE_UNMAPPED, REVERSE, MATE_REVERSE = 1, 2, 4, 8, 16, 32
FIRST, LAST, SECONDARY, SUPPLEMENTARY = 64, 128, 256, 2048
RUN = re.compile(r"(\d+)([MIDNSHP=X])")


class SamLine(NamedTuple):
    """A line; positions count from 1."""

    name: str
    flag: int
    record: str
    position: int
    quality: int
    cigar: str
    mate_record: str
    mate_position: int
    length: int
    letters: str
    tags: dict[str, str]

    def has(self, bit: int) -> bool:
        """Return True if a bit of FLAG is set."""
        return bool(self.flag & bit)

    @property
    def is_primary(self) -> bool:
        """Whether it is the one line of its read that is no secondary or supplementary one."""
        return not self.flag & (SECONDARY | SUPPLEMENTARY)

    @property
    def end(self) -> int:
        """Position behind the last base of the genome."""
        return self.position + sum(n for n, op in runs_of(self.cigar) if op in "MDN=X")


def runs_of(cigar: str) -> list[tuple[int, str]]:
    """Return lengths and operations."""
    return [(int(n), op) for n, op in RUN.findall(cigar)]


def sam_lines(text: str) -> list[SamLine]:
    """Return the lines behind the header."""
    found = []
    for line in text.splitlines():
        if not line.startswith("@"):
            own = line.split("\t")
            tags = {tag[:2]: tag[5:] for tag in own[11:]}
            numbers = [int(own[i]) for i in (1, 3, 4, 7, 8)]
            flag, position, quality, next_position, length = numbers
            record, mate = own[2], own[2] if own[6] == "=" else own[6]
            where = mate, next_position, length
            found.append(
                SamLine(own[0], flag, record, position, quality, own[5], *where, own[9], tags)
            )
    return found


def broken_rules(text: str, genome: Callable[[str, int, int], str]) -> list[str]:
    """Return what lines break, "name: rule" each.

    `genome` returns bases begin..end - 1 of a record, positions from 0.
    """
    groups: dict[str, list[SamLine]] = {}
    for line in sam_lines(text):
        groups.setdefault(line.name, []).append(line)
    return [f"{name}: {rule}" for name, own in groups.items() for rule in _of_template(own, genome)]


def _of_template(lines: Sequence[SamLine], genome: Callable[[str, int, int], str]) -> Iterator[str]:
    for line in lines:
        yield from _of_line(line, genome)
    primary = [line for line in lines if line.is_primary]
    if not lines[0].has(PAIRED):
        if len(primary) != 1:
            yield "one primary line a read"
        return
    if sorted(line.flag & (FIRST | LAST) for line in primary) != [FIRST, LAST]:
        yield "one primary line of the first and of the last segment"
        return
    mates = {line.flag & (FIRST | LAST): line for line in primary}
    for line in lines:
        yield from _of_pair(line, mates[(FIRST | LAST) ^ (line.flag & (FIRST | LAST))])
    yield from _of_lengths(primary)


def _of_line(line: SamLine, genome: Callable[[str, int, int], str]) -> Iterator[str]:
    runs = runs_of(line.cigar)
    if line.has(UNMAPPED):
        if line.cigar != "*" or line.quality or line.flag & (PROPER | SECONDARY | SUPPLEMENTARY):
            yield "an unmapped line has no CIGAR, MAPQ or bits 0x2, 0x100, 0x800"
        if line.tags.keys() & {"NM", "MD"}:
            yield "NM of an unmapped line"
        return
    if line.letters != "*" and sum(n for n, op in runs if op in "MIS=X") != len(line.letters):
        yield "CIGAR and SEQ have other lengths"
    if any(op in "HS" for _, op in runs[1:-1]):
        yield "clips at the ends alone"
    edits = _edits(line, genome)
    if edits is not None and int(line.tags["NM"]) != edits:
        yield f"NM is {line.tags['NM']}, not {edits}"
    if not line.has(PAIRED) and (
        line.flag & (PROPER | MATE_UNMAPPED | MATE_REVERSE | FIRST | LAST)
        or (line.mate_record, line.mate_position, line.length) != ("*", 0, 0)
    ):
        yield "bits or columns of mates without 0x1"


def _edits(line: SamLine, genome: Callable[[str, int, int], str]) -> int | None:
    """Return mismatches and gap bases, None of a line without bases."""
    if line.letters == "*":
        return None
    text, i, j, edits = genome(line.record, line.position - 1, line.end - 1), 0, 0, 0
    for n, op in runs_of(line.cigar):
        if op in "M=X":
            pairs = zip(line.letters[i : i + n], text[j : j + n], strict=True)
            edits += sum(a != b or a not in "ACGT" for a, b in pairs)
        edits += n if op in "ID" else 0
        i += n if op in "MIS=X" else 0
        j += n if op in "MDN=X" else 0
    return edits


def _of_pair(line: SamLine, mate: SamLine) -> Iterator[str]:
    """Yield what a line says wrongly of its mate, which is the primary line of that."""
    if line.has(MATE_UNMAPPED) != mate.has(UNMAPPED):
        yield "0x8 is not the mate's 0x4"
    if line.has(MATE_REVERSE) != mate.has(REVERSE):
        yield "0x20 is not the mate's 0x10"
    if line.has(PROPER) and (line.has(UNMAPPED) or mate.has(UNMAPPED)):
        yield "0x2 with an unmapped segment"
    if (line.mate_record, line.mate_position) != (mate.record, mate.position):
        yield "RNEXT and PNEXT are not RNAME and POS of the mate's primary line"
    is_one_unmapped = line.has(UNMAPPED) != mate.has(UNMAPPED) and line.is_primary
    if is_one_unmapped and (line.record, line.position) != (mate.record, mate.position):
        yield "an unmapped segment lies where its mate does"
    is_apart = line.has(UNMAPPED) or mate.has(UNMAPPED) or line.record != mate.record
    if is_apart and line.length:
        yield "TLEN without both segments on one record"
    expected = None if mate.has(UNMAPPED) else mate.cigar
    if line.tags.get("MC", expected) != expected:
        yield "MC is not the mate's CIGAR"


def _of_lengths(primary: Sequence[SamLine]) -> Iterator[str]:
    one, two = primary
    if one.has(UNMAPPED) or two.has(UNMAPPED) or one.record != two.record:
        return
    size = max(one.end, two.end) - min(one.position, two.position)
    if one.length != -two.length or abs(one.length) != size:
        yield f"TLEN is {one.length} and {two.length} of {size} bases"
    if one.position != two.position and (one.length > 0) != (one.position < two.position):
        yield "TLEN is positive of the leftmost segment"
