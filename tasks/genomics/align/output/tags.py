"""SAM tags that need more data than their hit: MD the genome's bases, SA the other hits.

The SAM/BAM Format Specification Working Group, Sequence Alignment/Map Optional Fields, 1.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gangsaw.codecs.core.arrays import Bytes, Int64s
from gangsaw.codecs.core.nucleotides.codes import LETTER_OF_CODE
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.genomics.align.output.lines import (
    MOST_DIGITS,
    LineSource,
    TextPool,
    write_number,
)
from gangsaw.tasks.genomics.align.search.extension.paths import (
    AMBIGUOUS,
    DELETION,
    DIFFERENT,
    EQUAL,
    OP_BITS,
    OP_MASK,
)

DELETED = ord("^")


class OtherPart(NamedTuple):
    """Entry of a hit in the SA tags of its query's other hits.

    Attributes
    ----------
    record, place : name and position in the genome; positions count from 1
    strand : "+" or "-"
    cigar : CIGAR with soft clips
    quality, edits : mapping quality and edit distance
    """

    record: str
    place: int
    strand: str
    cigar: str
    quality: int
    edits: int


def others(segments: Sequence[OtherPart], own: int) -> str:
    """Return the SA tag of part `own` of a split query: its other parts; "" without any."""
    named = [",".join(map(str, one)) + ";" for i, one in enumerate(segments) if i != own]
    return f"\tSA:Z:{''.join(named)}" if named else ""


def difference_texts(source: LineSource) -> TextPool:
    """Return the tag MD of each hit as numbered texts: genome bases that differ from the query."""
    report = source.report
    begins, ends = (np.ascontiguousarray(report.rows[name]) for name in ("runs", "runs_end"))
    spans = np.ascontiguousarray(report.rows["there_end"] - report.rows["there"])
    firsts = np.concatenate(([0], np.cumsum(spans)))
    rows = source.report.rows
    bases = LETTER_OF_CODE[source.codes(rows["record"], rows["there"], rows["there_end"])]
    room = 2 * bases.size + MOST_DIGITS * (int((ends - begins).sum()) + begins.size)
    text, offsets = np.empty(room, np.uint8), np.zeros(begins.size + 1, np.int64)
    write_differences(report.runs, begins, ends, bases, firsts, text, offsets)
    return TextPool(text[: offsets[-1]], offsets)


@jit
def write_differences(
    runs: Int64s,
    begins: Int64s,
    ends: Int64s,
    bases: Bytes,
    firsts: Int64s,
    text: Bytes,
    offsets: Int64s,
) -> None:
    """Write the tag MD of alignment paths, runs[begins[i]:ends[i]] each, and set their offsets.

    Parameters
    ----------
    bases : (m,) uint8, bases of the genome; those of path i begin at firsts[i]
    """
    at = 0
    for row in range(begins.size):
        equal, place = 0, firsts[row]
        for i in range(begins[row], ends[row]):
            op, length = runs[i] & OP_MASK, runs[i] >> OP_BITS
            if op == EQUAL:
                equal, place = equal + length, place + length
            if op == DELETION:
                at = write_number(text, at, equal)
                text[at] = DELETED
                equal, at = 0, at + 1
            if op in (DIFFERENT, AMBIGUOUS, DELETION):
                for _ in range(length):
                    if op != DELETION:
                        at = write_number(text, at, equal)
                        equal = 0
                    text[at] = bases[place]
                    at, place = at + 1, place + 1
        at = write_number(text, at, equal)
        offsets[row + 1] = at
