"""Lines of SAM put together from columns and texts, a kernel for all lines of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.nucleotides.letters import other_strand
from gangsaw.codecs.core.numba.items import put_items
from gangsaw.codecs.core.numba.jit import jit, jit_part
from gangsaw.tasks.align.output.lines import TextPool, write_number
from gangsaw.tasks.sequences.ragged import Ragged

NO_HIT = -1
AS_DNA = bytes.maketrans(b"Uu", b"Tt")  # as of RNA, which SAM has no letter for
TAB, NEWLINE, NOTHING = 9, 10, ord("*")
MOST_NUMBERS = 400  # letters of the columns of a line that are no text
LINE = np.dtype(
    [
        (name, "i8")
        for name in (
            "query",  # its number
            "hit",  # its number, or NO_HIT
            "flag",
            "record",
            "place",  # from 1 on
            "quality",
            "before",  # letters that are clipped before the hit and behind it
            "behind",
            "clip",  # S or H
            "begin",  # of the letters that are shown, as the line has them; none: all
            "end",
            "is_back",  # which are those of the other strand
            "edits",
            "score",
            "rate",  # number of the text of each
            "columns",
            "tags",
        )
    ]
)


class LineTexts(NamedTuple):
    """Texts that lines have parts of.

    Attributes
    ----------
    names, sequences, qualities : of each query
    records : names of those of the genome
    cigars, differences : of each hit
    columns : from RNEXT to TLEN of a hit, from RNAME to TLEN of a query that has none
    rates : shares of steps that differ
    tags : what stands last
    words : names of the tags of a hit
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
PAIRED = np.frombuffer(other_strand(_ALL)[::-1], np.uint8).copy()


def texts_of(strings: Sequence[str]) -> TextPool:
    """Return strings as texts, in UTF-8."""
    data = "".join(strings).encode()
    sizes = list(map(len, strings))
    if len(data) != sum(sizes):
        sizes = [len(one.encode()) for one in strings]
    return TextPool(np.frombuffer(data, np.uint8), np.cumsum([0, *sizes]))


def lines_of(ragged: Ragged) -> TextPool:
    """Return lines as texts."""
    return TextPool(ragged.data, ragged.offsets)


def assembled(lines: npt.NDArray[np.void], texts: LineTexts) -> bytes:
    """Return the text of lines (n,) LINE."""
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
    return out[: write_lines(lines, texts, OWN, PAIRED, out)].tobytes()


@jit
def write_lines(lines: Any, texts: LineTexts, own: Any, paired: Any, out: Any) -> int:
    """Write lines; return where they end. `own` and `paired` are letters of either strand."""
    at = 0
    for i in range(lines.size):
        line = lines[i]
        at = put_text(out, at, texts.names, line.query, TAB)
        at = put_number(out, at, line.flag, TAB)
        if line.hit != NO_HIT:
            at = put_text(out, at, texts.records, line.record, TAB)
            at = put_number(out, at, line.place, TAB)
            at = put_number(out, at, line.quality, TAB)
            at = put_number(out, at, line.before, line.clip) if line.before else at
            at = put_text(out, at, texts.cigars, line.hit, TAB)
            if line.behind:  # in place of the tab
                at = put_number(out, at - 1, line.behind, line.clip)
                out[at] = TAB
                at += 1
        at = put_text(out, at, texts.columns, line.columns, TAB)
        table = paired if line.is_back else own
        at = put_letters(out, at, texts.sequences, line, table)
        out[at] = TAB
        at = put_letters(out, at + 1, texts.qualities, line, table[:0])
        if line.hit != NO_HIT:
            at = put_text(out, at, texts.words, NM, 0) - 1
            at = put_number(out, at, line.edits, 0) - 1
            at = put_text(out, at, texts.words, AS, 0) - 1
            at = put_number(out, at, line.score, 0) - 1
            at = put_text(out, at, texts.words, DE, 0) - 1
            at = put_text(out, at, texts.rates, line.rate, 0) - 1
            at = put_text(out, at, texts.words, MD, 0) - 1
            at = put_text(out, at, texts.differences, line.hit, 0) - 1
        at = put_text(out, at, texts.tags, line.tags, NEWLINE)
    return at


@jit_part
def put_text(out: Any, at: int, texts: TextPool, number: int, behind: int) -> int:
    """Write a text and a letter behind it; return the place behind both."""
    at = put_items(out, at, texts.data, texts.offsets[number], texts.offsets[number + 1])
    out[at] = behind
    return at + 1


@jit_part
def put_number(out: Any, at: int, number: int, behind: int) -> int:
    """Write a number and a letter behind it; return the place behind both."""
    at = write_number(out, at, number)
    out[at] = behind
    return at + 1


@jit_part
def put_letters(out: Any, at: int, texts: TextPool, line: Any, table: Any) -> Any:
    """Write the letters of a query that a line shows, or what stands for none.

    They are looked up in a table, unless that is empty.
    """
    begin, end = texts.offsets[line.query], texts.offsets[line.query + 1]
    n = min(line.end, end - begin) - line.begin
    if n <= 0:
        out[at] = NOTHING
        return at + 1
    for k in range(n):
        which = end - 1 - line.begin - k if line.is_back else begin + line.begin + k
        letter = texts.data[which]
        out[at + k] = table[letter] if table.size else letter
    return at + n
