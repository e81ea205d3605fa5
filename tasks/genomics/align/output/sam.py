"""SAM: a line for each hit, and for each query without a hit.

The SAM/BAM Format Specification Working Group, SAMv1, 1.4: the best hit has all bases of the query,
with soft clips; hits of other parts of it are supplementary, with hard clips; secondary hits have
no bases.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from itertools import groupby

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.genomics.align.output.assembly import (
    LINE,
    NO_HIT,
    WORDS,
    LineTexts,
    assembled,
    pool_lines,
    pool_texts,
)
from gangsaw.tasks.genomics.align.output.lines import (
    Heading,
    LineFormat,
    LineSource,
    TextPool,
    cigar_texts,
    query_names,
)
from gangsaw.tasks.genomics.align.output.mates import (
    REVERSE,
    UNMAPPED,
    MateColumns,
    mate_of,
    unmapped,
    without_mate,
)
from gangsaw.tasks.genomics.align.output.tags import OtherPart, difference_texts, others
from gangsaw.tasks.genomics.align.queries.queries import Queries
from gangsaw.tasks.genomics.align.search.select import SECONDARY

MOST_NAME, SHOWN = 254, 40  # longest name in SAM, and in a message, in characters
USUAL_COLUMNS = ("*\t0\t0", "*\t0\t0\t*\t*\t0\t0")  # of queries without a mate
WITH_HIT, WITHOUT_HIT = range(2)
IS_SECONDARY, SUPPLEMENTARY = 256, 2048


class Sam(LineFormat):
    """Output format SAM.

    Its tags are NM, AS, de and MD, SA for split queries, MQ and MC for mates.
    """

    suffixes = (".sam",)
    has_groups = True

    def header(self, heading: Heading) -> bytes:
        """Return the header lines @SQ of the genome's records, @RG and @PG."""
        records = zip(heading.names, heading.lengths, strict=True)
        lines = [f"@SQ\tSN:{name}\tLN:{length}\n" for name, length in records]
        lines += [f"{heading.read_group}\n"] if heading.read_group else []
        said = heading.command.replace("\t", " ").replace("\n", " ")
        program = f"@PG\tID:gangsaw\tPN:gangsaw\tVN:{version('gangsaw')}\tCL:{said}\n"
        return "".join(["@HD\tVN:1.6\tSO:unsorted\tGO:query\n", *lines, program]).encode()

    def check(self, queries: Queries) -> None:
        """Raise BadParams for query names that SAM forbids, or that look like header lines."""
        text = queries.names.data
        is_plain = not ((text > ord("~")) | (text < ord(" "))).any() and ord("@") not in text
        if is_plain and int(queries.names.lengths.max(initial=0)) <= MOST_NAME:
            return
        for name in query_names(queries):
            if why := _refused(name):
                shown = name[:SHOWN] + "..." * (len(name) > SHOWN)
                raise BadParams(f"query {shown} has a name {why}: change it, or write PAF")

    def lines(self, source: LineSource) -> bytes:
        """Return the lines of all queries of a batch."""
        lines, rows = _lines(source), source.report.rows
        names = query_names(source.queries)
        rates, which = _rates(rows)
        lines["rate"][lines["hit"] != NO_HIT] = which[lines["hit"][lines["hit"] != NO_HIT]]
        cigars, md = cigar_texts(source), difference_texts(source)
        group = f"\tRG:Z:{source.read_group}" if source.read_group else ""
        columns, tags = list(USUAL_COLUMNS), [group]
        if source.insert:
            names = [without_mate(name) for name in names]
            columns, tags = _with_mates(source, lines, cigars, group)
        _name_others(source, lines, cigars, tags)
        queries = (pool_lines(one) for one in source.queries[1:])
        pools = (pool_texts(columns), pool_texts(rates), pool_texts(tags), pool_texts(WORDS))
        own = pool_texts(names), *queries, pool_texts(source.names), cigars, md, *pools
        return assembled(lines, LineTexts(*own))


def _refused(name: str) -> str:
    """Return the reason why SAM does not allow a name (SAMv1, 1.4); "" for a valid name."""
    n = len(name.encode())
    if n > MOST_NAME:
        return f"of {n} bytes, SAM allows {MOST_NAME}"
    if name.startswith("@"):
        return "that begins with @, as lines of SAM's header do"
    if not (name.isascii() and name.isprintable()):
        return "with other characters than printable ASCII, which SAM requires"
    return ""


def _lines(source: LineSource) -> npt.NDArray[np.void]:
    """Return lines, of dtype LINE, of hits and of queries without a hit, in the queries' order."""
    rows, n_queries = source.report.rows, len(source.queries.sequences)
    times = np.bincount(rows["query"], minlength=n_queries)
    lines = np.zeros(int(np.maximum(times, 1).sum()), LINE)
    lines["query"] = np.repeat(np.arange(n_queries), np.maximum(times, 1))
    has_hit = times[lines["query"]] > 0
    lines["hit"], lines["flag"], lines["columns"] = NO_HIT, UNMAPPED, WITHOUT_HIT
    lines["end"] = source.queries.sequences.lengths[lines["query"]]
    own, sizes = lines[has_hit], lines["end"][has_hit]
    own["hit"] = np.arange(rows.size)
    for name in ("record", "quality", "score"):
        own[name] = rows[name]
    own["place"], own["is_back"], own["columns"] = rows["there"] + 1, rows["strand"], WITH_HIT
    own["edits"] = rows["different"] + rows["inserted"] + rows["deleted"]
    is_secondary = rows["kind"] == SECONDARY
    is_first = np.diff(rows["query"], prepend=-1) != 0
    other = np.where(is_secondary, IS_SECONDARY, np.where(is_first, 0, SUPPLEMENTARY))
    own["flag"] = np.where(rows["strand"], REVERSE, 0) | other
    own["clip"] = np.where(other, ord("H"), ord("S"))
    own["before"], own["behind"] = rows["begin"], sizes - rows["end"]
    own["begin"] = np.where(other == SUPPLEMENTARY, rows["begin"], 0)
    own["end"] = np.where(is_secondary, 0, np.where(other, rows["end"], sizes))
    lines[has_hit] = own
    return lines


def _rates(rows: npt.NDArray[np.void]) -> tuple[list[str], npt.NDArray[np.int64]]:
    """Return the distinct values of the tag de as texts, and the index of each hit's text."""
    steps = rows["equal"] + rows["different"] + rows["gaps"]
    pairs, which = np.unique((steps - rows["equal"]) << 32 | steps, return_inverse=True)
    texts = [f"{(one >> 32) / (one & 0xFFFFFFFF):.4f}" for one in pairs.tolist()]
    return texts, which


def _with_mates(
    source: LineSource, lines: npt.NDArray[np.void], cigars: TextPool, group: str
) -> tuple[list[str], list[str]]:
    """Set FLAG and the mate columns; return RNEXT to TLEN, and the tags MQ, MC and RG, per line."""
    best = {int(line["query"]): _whole_cigar(line, cigars) for line in _best_lines(lines)}
    rows = source.report.rows.tolist()
    hits = {query: list(found) for query, found in groupby(rows, lambda row: row[0])}
    columns, tags, flags, rank = [], [], lines["flag"].tolist(), 0
    queries, own = lines["query"].tolist(), lines["hit"].tolist()
    for at, (query, hit) in enumerate(zip(queries, own, strict=True)):
        rank = rank + 1 if at and query == queries[at - 1] else 0
        other = hits.get(query ^ 1, [])
        if hit == NO_HIT:
            flags[at], text = unmapped(source, query, other)
            mate = MateColumns(0, text)
        else:
            mate = mate_of(source, query, hits[query], rank, other)
        flags[at] |= mate.flag
        columns.append(mate.columns)
        of_mate = f"\tMC:Z:{best[query ^ 1]}" if other else ""
        tags.append(f"{mate.tag}{of_mate}{group}")
    lines["flag"] = flags
    lines["columns"] = lines["tags"] = np.arange(len(tags))
    return columns, tags


def _name_others(
    source: LineSource, lines: npt.NDArray[np.void], cigars: TextPool, tags: list[str]
) -> None:
    """Add the tag SA, which names a query's other parts, to lines of split queries."""
    is_part = (lines["hit"] != NO_HIT) & (lines["flag"] & IS_SECONDARY == 0)
    parts = np.flatnonzero(is_part)
    times = np.bincount(lines["query"][parts], minlength=1)
    parts = parts[times[lines["query"][parts]] > 1]
    for _, found in groupby(parts.tolist(), lambda at: int(lines["query"][at])):
        group = list(found)
        segments = [_segment(lines[at], cigars, source.names) for at in group]
        for own, at in enumerate(group):
            tags.append(others(segments, own) + tags[int(lines["tags"][at])])
            lines["tags"][at] = len(tags) - 1


def _best_lines(lines: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
    """Return the primary lines: neither secondary nor supplementary."""
    is_first = (lines["flag"] & (IS_SECONDARY | SUPPLEMENTARY)) == 0
    found: npt.NDArray[np.void] = lines[(lines["hit"] != NO_HIT) & is_first]
    return found


def _whole_cigar(line: npt.NDArray[np.void], cigars: TextPool) -> str:
    """Return the CIGAR of a hit, with soft clips for the rest of the query."""
    hit, before, behind = int(line["hit"]), int(line["before"]), int(line["behind"])
    cigar = cigars.data[cigars.offsets[hit] : cigars.offsets[hit + 1]].tobytes().decode()
    return f"{before}S" * bool(before) + cigar + f"{behind}S" * bool(behind)


def _segment(line: npt.NDArray[np.void], cigars: TextPool, names: Sequence[str]) -> OtherPart:
    """Return the entry of a hit in SA tags; the hit is not secondary."""
    whole = _whole_cigar(line, cigars)
    sign, quality = "-" if line["is_back"] else "+", int(line["quality"])
    return OtherPart(
        names[int(line["record"])], int(line["place"]), sign, whole, quality, int(line["edits"])
    )
