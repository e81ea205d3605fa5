"""SAM: a line for each hit, and for each query that has none.

The SAM/BAM Format Specification Working Group, SAMv1, 1.4: the best hit has all letters of the
query, clipped softly; hits of other parts of it are supplementary, clipped hard; secondary ones
have no letters.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from itertools import groupby

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.nucleotides.letters import other_strand
from gangsaw.tasks.align.output.lines import Heading, LineFormat, LineSource, cigars, query_names
from gangsaw.tasks.align.output.mates import (
    KIND,
    REVERSE,
    Hit,
    MateColumns,
    mate_of,
    unmapped,
    without_mate,
)
from gangsaw.tasks.align.output.tags import OtherPart, differences, others
from gangsaw.tasks.align.queries.queries import Queries
from gangsaw.tasks.align.search.select import SECONDARY

MOST_NAME, SHOWN = 254, 40  # letters of a name in SAM, and in a message
AS_DNA = bytes.maketrans(b"Uu", b"Tt")  # as of RNA, which SAM has no letter for
IS_SECONDARY, SUPPLEMENTARY = 256, 2048


class Sam(LineFormat):
    """SAM with the tags NM, AS, de, MD, and SA where a query has several parts."""

    suffixes = (".sam",)
    has_groups = True

    def header(self, heading: Heading) -> bytes:
        """Return a line for each record of the genome, the read group and the program."""
        records = zip(heading.names, heading.lengths, strict=True)
        lines = [f"@SQ\tSN:{name}\tLN:{length}\n" for name, length in records]
        lines += [f"{heading.read_group}\n"] if heading.read_group else []
        said = heading.command.replace("\t", " ").replace("\n", " ")
        program = f"@PG\tID:gangsaw\tPN:gangsaw\tVN:{version('gangsaw')}\tCL:{said}\n"
        return "".join(["@HD\tVN:1.6\tSO:unsorted\tGO:query\n", *lines, program]).encode()

    def check(self, queries: Queries) -> None:
        """Raise BadParams for names that are too long for SAM."""
        if int(queries.names.lengths.max(initial=0)) <= MOST_NAME:
            return
        for name in query_names(queries):
            if (n := len(name.encode())) > MOST_NAME:
                raise BadParams(
                    f"query {name[:SHOWN]}... has a name of {n} letters, SAM takes {MOST_NAME}: "
                    "shorten it, or write PAF"
                )

    def lines(self, source: LineSource) -> bytes:
        """Return the lines of all queries of a batch."""
        names = query_names(source.queries)
        if source.insert:
            names = [without_mate(name) for name in names]
        group = f"\tRG:Z:{source.read_group}" if source.read_group else ""
        own = source.report.rows.tolist(), cigars(source), differences(source)
        rows = zip(*own, strict=True)
        hits = {query: list(found) for query, found in groupby(rows, lambda hit: hit[0][0])}
        out: list[str] = []
        for query, name in enumerate(names):
            letters, quality = _letters(source, query)
            other = hits.get(query ^ 1, []) if source.insert else []
            if query not in hits:
                shown = letters.decode("latin-1") or "*"
                known = quality.decode("latin-1") or "*"
                flag, there = unmapped(source, query, other)
                out.append(f"{name}\t{flag}\t{there}\t{shown}\t{known}{group}\n")
            own_hits = hits.get(query, [])
            segments = _segments(own_hits, len(letters), source.names)
            of_segment = 0
            for rank, (row, cigar, md) in enumerate(own_hits):
                mate = mate_of(source, query, own_hits, rank, other)
                line, sa = _line(row, cigar, (letters, quality), rank, source.names, mate), ""
                if row[KIND] != SECONDARY:
                    sa, of_segment = others(segments, of_segment), of_segment + 1
                out.append(f"{name}\t{line}\tMD:Z:{md}{sa}{mate.tag}{group}\n")
        return "".join(out).encode("utf-8")


def _segments(hits: Sequence[Hit], size: int, names: Sequence[str]) -> list[OtherPart]:
    """Return the hits of a query that are not secondary, in their order."""
    found = []
    for row, cigar, _ in hits:
        _, strand, record, begin, end, there, *_ = row
        _, different, inserted, deleted, *_ = row[KIND + 2 :]
        if row[KIND] != SECONDARY:
            before = f"{int(begin)}S" if begin else ""
            behind = f"{size - int(end)}S" if end < size else ""
            place, edits = int(there) + 1, int(different + inserted + deleted)
            own = f"{before}{cigar}{behind}"
            sign, quality = "-" if strand else "+", int(row[KIND + 1])
            found.append(OtherPart(names[int(record)], place, sign, own, quality, edits))
    return found


def _letters(source: LineSource, query: int) -> tuple[bytes, bytes]:
    quality = source.queries.qualities[query]
    return source.queries.sequences[query].translate(AS_DNA), quality


def _line(
    row: Sequence[float],
    cigar: str,
    own: tuple[bytes, bytes],
    rank: int,
    names: Sequence[str],
    mate: MateColumns,
) -> str:
    _, strand, record, begin, end, there, _, score, _, *rest = row
    _, _, kind, mapping, equal, different, inserted, deleted, gaps, _, _ = rest
    letters, quality = own
    size, begin, end = len(letters), int(begin), int(end)
    flag = REVERSE if strand else 0
    if kind == SECONDARY:
        flag |= IS_SECONDARY
    elif rank:
        flag |= SUPPLEMENTARY
    clip = "S" if flag in (0, REVERSE) else "H"
    if strand:
        letters, quality = other_strand(letters), quality[::-1]
    if flag & IS_SECONDARY:
        letters, quality = b"*", b"*"
    elif flag & SUPPLEMENTARY:
        letters, quality = letters[begin:end], quality[begin:end]
    before = f"{begin}{clip}" if begin else ""
    behind = f"{size - end}{clip}" if end < size else ""
    steps, edits = equal + different + gaps, different + inserted + deleted
    return (
        f"{flag | mate.flag}\t{names[int(record)]}\t{there + 1}\t{mapping}\t"
        f"{before}{cigar}{behind}\t{mate.columns}\t"
        f"{letters.decode('latin-1')}\t{quality.decode('latin-1') or '*'}\tNM:i:{edits}\t"
        f"AS:i:{score}\tde:f:{(steps - equal) / steps:.4f}"
    )
