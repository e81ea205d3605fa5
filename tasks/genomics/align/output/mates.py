"""Mate fields of SAM lines: flags, position of the mate, template length.

The SAM/BAM Format Specification Working Group, SAMv1, 1.4: an unmapped mate has the position of its
mate; TLEN spans from the leftmost to the rightmost base, and is positive for the left mate.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.genomics.align.output.lines import LineSource, query_names
from gangsaw.tasks.genomics.align.queries.queries import Queries
from gangsaw.tasks.genomics.align.search.mates import face

PAIRED, PROPER, UNMAPPED, MATE_UNMAPPED, REVERSE, MATE_REVERSE = 1, 2, 4, 8, 16, 32
WHICH = (64, 128)
STRAND, RECORD, THERE, THERE_END = 1, 2, 5, 6  # indices of a hit's columns
KIND = 11  # index of kind; quality, equal, different, inserted, deleted follow
Hit: TypeAlias = Sequence[int]  # a row of hits
_END = re.compile(r"[/.][12]$")


class MateColumns(NamedTuple):
    """Mate fields of a SAM line.

    Attributes
    ----------
    flag : bits of FLAG
    columns : RNEXT, PNEXT and TLEN
    tag : MQ, the mate's mapping quality, with a tab before it
    """

    flag: int = 0
    columns: str = "*\t0\t0"
    tag: str = ""


def without_mate(name: str) -> str:
    """Return a read name without the suffix, such as /1 or /2, that distinguishes mates."""
    return _END.sub("", name)


def check_mates(queries: Queries) -> None:
    """Raise BadParams if the names of queries 2i and 2i + 1 differ, so that they are no mates."""
    names = [without_mate(name) for name in query_names(queries)]
    for one, two in zip(names[::2], names[1::2], strict=True):
        if one != two:
            raise BadParams(
                f"queries {one} and {two} have different names: they are not mates; leave --pairs "
                "out, or give files whose records go together"
            )


def unmapped(source: LineSource, query: int, other: Sequence[Hit]) -> tuple[int, str]:
    """Return FLAG, and the columns RNAME to TLEN, of a query without hits.

    `other` is the hits of its mate.
    """
    if source.insert is None:
        return UNMAPPED, "*\t0\t0\t*\t*\t0\t0"
    flag = UNMAPPED | PAIRED | WHICH[query % 2]
    if not other:
        return flag | MATE_UNMAPPED, "*\t0\t0\t*\t*\t0\t0"
    row = other[0]
    flag |= MATE_REVERSE if row[STRAND] else 0
    place = int(row[THERE]) + 1
    return flag, f"{source.names[int(row[RECORD])]}\t{place}\t0\t*\t=\t{place}\t0"


def mate_of(
    source: LineSource, query: int, own: Sequence[Hit], rank: int, other: Sequence[Hit]
) -> MateColumns:
    """Return the mate fields of the line of hit number `rank`.

    `own` is the hits of the query, `other` those of its mate.
    """
    if source.insert is None:
        return MateColumns()
    row, flag = own[rank], PAIRED | WHICH[query % 2]
    if not other:  # the unmapped mate has the position of the best hit, in all lines
        return MateColumns(flag | MATE_UNMAPPED, f"{_mate_position(source, row, own[0])}\t0")
    mate = other[0]
    flag |= MATE_REVERSE if mate[STRAND] else 0
    if face(_place(own[0]), _place(mate), source.insert.least, source.insert.most):
        flag |= PROPER
    tag = f"\tMQ:i:{int(mate[KIND + 1])}"
    size = _size(row, mate, query) if row[RECORD] == mate[RECORD] else 0
    return MateColumns(flag, f"{_mate_position(source, row, mate)}\t{size}", tag)


def _mate_position(source: LineSource, row: Hit, mate: Hit) -> str:
    """Return RNEXT and PNEXT of the SAM line of hit `row`, whose mate has the hit `mate`."""
    is_same = row[RECORD] == mate[RECORD]
    record = "=" if is_same else source.names[int(mate[RECORD])]
    return f"{record}\t{int(mate[THERE]) + 1}"


def _place(row: Hit) -> tuple[int, int, int, int]:
    return int(row[RECORD]), int(row[STRAND]), int(row[THERE]), int(row[THERE_END])


def _size(row: Hit, mate: Hit, query: int) -> int:
    """Return the signed length from the leftmost base of two hits to the rightmost one."""
    (_, _, begin, end), (_, _, there, there_end) = _place(row), _place(mate)
    size = max(end, there_end) - min(begin, there)
    is_left = (begin, query % 2) < (there, 1 - query % 2)
    return size if is_left else -size
