"""What lines of SAM say of mates: flags, where the other one is, and how long the fragment.

The SAM/BAM Format Specification Working Group, SAMv1, 1.4: an unmapped mate has the place of the
other one; TLEN goes from the leftmost letter to the rightmost one, and is positive of the mate on
the left.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.align.output.lines import LineSource, query_names
from gangsaw.tasks.align.queries.queries import Queries
from gangsaw.tasks.align.search.mates import face

PAIRED, PROPER, UNMAPPED, MATE_UNMAPPED, REVERSE, MATE_REVERSE = 1, 2, 4, 8, 16, 32
WHICH = (64, 128)
STRAND, RECORD, THERE, THERE_END = 1, 2, 5, 6  # columns of a hit
KIND = 11  # behind which are quality, equal, different, inserted, deleted
Hit: TypeAlias = Sequence[int]  # a row
_END = re.compile(r"[/.][12]$")


class MateColumns(NamedTuple):
    """What a line says of the mate.

    Attributes
    ----------
    flag : bits of FLAG
    columns : RNEXT, PNEXT and TLEN
    tag : MQ, the mate's quality, with a tab before it
    """

    flag: int = 0
    columns: str = "*\t0\t0"
    tag: str = ""


def without_mate(name: str) -> str:
    """Return a name without the end that tells mates apart."""
    return _END.sub("", name)


def check_mates(queries: Queries) -> None:
    """Raise BadParams where names of queries 2i and 2i + 1 say that they are no mates."""
    names = [without_mate(name) for name in query_names(queries)]
    for one, two in zip(names[::2], names[1::2], strict=True):
        if one != two:
            raise BadParams(f"queries {one} and {two} have different names: they are no mates")


def unmapped(source: LineSource, query: int, other: Sequence[Hit]) -> tuple[int, str]:
    """Return the flag of a query without hits, and the columns from RNAME to TLEN."""
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
    """Return what the line of hit number `rank` says of the mate, whose hits are `other`."""
    if source.insert is None:
        return MateColumns()
    row, flag = own[rank], PAIRED | WHICH[query % 2]
    if not other:
        return MateColumns(flag | MATE_UNMAPPED, f"=\t{int(row[THERE]) + 1}\t0")
    mate = other[0]
    flag |= MATE_REVERSE if mate[STRAND] else 0
    if face(_place(own[0]), _place(mate), source.insert.least, source.insert.most):
        flag |= PROPER
    tag = f"\tMQ:i:{int(mate[KIND + 1])}"
    if row[RECORD] != mate[RECORD]:
        return MateColumns(
            flag, f"{source.names[int(mate[RECORD])]}\t{int(mate[THERE]) + 1}\t0", tag
        )
    return MateColumns(flag, f"=\t{int(mate[THERE]) + 1}\t{_size(row, mate, query)}", tag)


def _place(row: Hit) -> tuple[int, int, int, int]:
    return int(row[RECORD]), int(row[STRAND]), int(row[THERE]), int(row[THERE_END])


def _size(row: Hit, mate: Hit, query: int) -> int:
    """Return the signed length from the leftmost letter of two hits to the rightmost one."""
    (_, _, begin, end), (_, _, there, there_end) = _place(row), _place(mate)
    size = max(end, there_end) - min(begin, there)
    is_left = (begin, query % 2) < (there, 1 - query % 2)
    return size if is_left else -size
