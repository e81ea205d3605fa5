"""Assembly of SAM lines from columns and text pools, by one kernel for all lines of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes
from gangsaw.codecs.core.nucleotides.alphabet import COMPLEMENT
from gangsaw.codecs.core.numba.items import put_items
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.genomics.align.output.lines import TextPool, write_number
from gangsaw.tasks.genomics.sequences.ragged import Ragged

NO_HIT = -1
AS_DNA = bytes.maketrans(b"Uu", b"Tt")  # RNA: SAM has no U
TAB, NEWLINE, NOTHING = 9, 10, ord("*")
MOST_NUMBERS = 400  # bytes of the numeric columns of a line
LINE = np.dtype(
    [
        (name, "i8")
        for name in (
            "query",  # number of the query
            "hit",  # number of the hit, or NO_HIT
            "flag",
            "record",
            "place",  # position from 1 on
            "quality",
            "before",  # bases that are clipped before the hit and behind it
            "behind",
            "clip",  # ord of S or H
            "begin",  # range of bases in the line's orientation; empty: none
            "end",
            "is_back",  # 1 for the reverse complement
            "edits",
            "score",
            "rate",  # numbers of texts in the pools of the same names
            "columns",
            "tags",
        )
    ]
)


class LineRow(Protocol):
    """SAM line as a row of dtype LINE: the fields that choose the bases to write."""

    query: int
    begin: int
    end: int
    is_back: int


class LineTexts(NamedTuple):
    """Text columns of the SAM lines of a batch, each as numbered texts.

    Attributes
    ----------
    names, sequences, qualities : texts of each query
    records : names of the genome's records
    cigars, differences : CIGAR and MD of each hit
    columns : RNEXT to TLEN of a hit, or RNAME to TLEN of a query without a hit
    rates : values of the tag de, share of differing steps in a path
    tags : tags at the end of lines
    words : names and types of the tags of a hit, such as "NM:i:"
    """

    names: TextPool
    sequences: TextPool
    qualities: TextPool
    records: TextPool
    cigars: TextPool
    differences: TextPool
    columns: TextPool
    rates: TextPool
    tags: TextPool
    words: TextPool


WORDS = ("\tNM:i:", "\tAS:i:", "\tde:f:", "\tMD:Z:")
NM, AS, DE, MD = range(4)
_ALL = bytes(range(256)).translate(AS_DNA)
OWN = np.frombuffer(_ALL, np.uint8).copy()
PAIRED = np.frombuffer(_ALL.translate(COMPLEMENT), np.uint8).copy()


def pool_texts(strings: Sequence[str]) -> TextPool:
    """Return strings as numbered texts in UTF-8."""
    data = "".join(strings).encode()
    sizes = list(map(len, strings))
    if len(data) != sum(sizes):
        sizes = [len(one.encode()) for one in strings]
    return TextPool(np.frombuffer(data, np.uint8), np.cumsum([0, *sizes]))


def pool_lines(ragged: Ragged) -> TextPool:
    """Return ragged lines as numbered texts, without a copy."""
    return TextPool(ragged.data, ragged.offsets)


def assembled(lines: npt.NDArray[np.void], texts: LineTexts) -> bytes:
    """Return the SAM text of lines (n,) of dtype LINE."""
    room = MOST_NUMBERS * lines.size
    hits = lines["hit"][lines["hit"] != NO_HIT]
    for text, which in (
        (texts.names, lines["query"]),
        (texts.sequences, lines["query"]),
        (texts.qualities, lines["query"]),
        (texts.records, lines["record"][lines["hit"] != NO_HIT]),
        (texts.cigars, hits),
        (texts.differences, hits),
        (texts.columns, lines["columns"]),
        (texts.tags, lines["tags"]),
    ):
        room += int(np.diff(text.offsets)[which].sum())
    out = np.empty(room, np.uint8)
    return out[: write_alignment_lines(lines, texts, OWN, PAIRED, out)].tobytes()


@jit
def write_alignment_lines(
    lines: npt.NDArray[np.void], texts: LineTexts, own: Bytes, paired: Bytes, out: Bytes
) -> int:
    """Write SAM lines to `out`; return the end position.

    Parameters
    ----------
    own, paired : (256,) uint8, the base that SAM shows for each byte, forward and complemented
    """
    at = 0
    for i in range(lines.size):
        line = lines[i]
        at = put_text(out, at, texts.names, line.query, TAB)
        at = put_number_and_byte(out, at, line.flag, TAB)
        if line.hit != NO_HIT:
            at = put_text(out, at, texts.records, line.record, TAB)
            at = put_number_and_byte(out, at, line.place, TAB)
            at = put_number_and_byte(out, at, line.quality, TAB)
            at = put_number_and_byte(out, at, line.before, line.clip) if line.before else at
            at = put_text(out, at, texts.cigars, line.hit, TAB)
            if line.behind:  # replaces the tab
                at = put_number_and_byte(out, at - 1, line.behind, line.clip)
                out[at] = TAB
                at += 1
        at = put_text(out, at, texts.columns, line.columns, TAB)
        table = paired if line.is_back else own
        at = put_query(out, at, texts.sequences, line, table)
        out[at] = TAB
        at = put_query(out, at + 1, texts.qualities, line, table[:0])
        if line.hit != NO_HIT:
            at = put_text(out, at, texts.words, NM, 0) - 1
            at = put_number_and_byte(out, at, line.edits, 0) - 1
            at = put_text(out, at, texts.words, AS, 0) - 1
            at = put_number_and_byte(out, at, line.score, 0) - 1
            at = put_text(out, at, texts.words, DE, 0) - 1
            at = put_text(out, at, texts.rates, line.rate, 0) - 1
            at = put_text(out, at, texts.words, MD, 0) - 1
            at = put_text(out, at, texts.differences, line.hit, 0) - 1
        at = put_text(out, at, texts.tags, line.tags, NEWLINE)
    return at


@jit(part=True)
def put_text(out: Bytes, at: int, texts: TextPool, number: int, behind: int) -> int:
    """Write text `number` and the byte `behind` it to out[at:]; return the end position."""
    at = put_items(out, at, texts.data, texts.offsets[number], texts.offsets[number + 1])
    out[at] = behind
    return at + 1


@jit(part=True)
def put_number_and_byte(out: Bytes, at: int, number: int, behind: int) -> int:
    """Write a number in decimal and the byte `behind` it to out[at:]; return the end position."""
    at = write_number(out, at, number)
    out[at] = behind
    return at + 1


@jit(part=True)
def put_query(out: Bytes, at: int, texts: TextPool, line: LineRow, table: Bytes) -> int:
    """Write the bases or qualities of a query that a SAM line shows, or "*" for none."""
    begin, end = texts.offsets[line.query], texts.offsets[line.query + 1]
    n: int = min(line.end, end - begin) - line.begin
    if n <= 0:
        out[at] = NOTHING
        return at + 1
    for k in range(n):
        which = end - 1 - line.begin - k if line.is_back else begin + line.begin + k
        letter = texts.data[which]
        out[at + k] = table[letter] if table.size else letter
    return at + n
