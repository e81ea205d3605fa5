"""Selection of the hits of a query: the best of each part of it, and others nearly as good.

A hit is secondary if a better one covers half of the shorter one's part of the query
(`--mask-level` of minimap2). The mapping quality is that of H. Li (2018), minimap2, equation 9,
with scores of alignments: 40 (1 - s2 / s1) min(1, m / 10) ln(s1), where m is the number of anchors,
or 0 if not all positions of the seeds were tried.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gangsaw.codecs.core.arrays import Int64s
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.genomics.align.search.hits import UNSURE, HitRow, HitRows

DROPPED, PRIMARY, SECONDARY = 0, 1, 2
KEPT, SECOND = range(2)  # columns of a best hit: number of secondary hits, best score of others
MOST_QUALITY = 60
SURE_ANCHORS = 10.0


class ReportRules(NamedTuple):
    """Limits of the selection of a query's hits.

    Attributes
    ----------
    secondary : maximum of hits in addition to the best one of a part of a query
    share : minimum score of these, in percent of the best one's
    """

    secondary: int
    share: int


@jit
def select_hits(
    rows: HitRows, lengths: Int64s, choice: ReportRules
) -> tuple[Int64s, Int64s, Int64s]:
    """Return the rows of hits to report, in order (m,), and kind and quality of all rows (n,).

    The kind is DROPPED, PRIMARY or SECONDARY, the quality is the mapping quality. `rows` are sorted
    by query; `lengths` are those of the queries. The best hits of a query come first.
    """
    n = rows.size
    kinds, qualities = np.zeros(n, np.int64), np.zeros(n, np.int64)
    order, found, begin = np.empty(n, np.int64), 0, 0
    while begin < n:
        end = begin
        while end < n and rows[end].query == rows[begin].query:
            end += 1
        ranks = ranked(rows, begin, end)
        rate_hits(rows, ranks, lengths[rows[begin].query], choice, (kinds, qualities))
        for i in ranks:
            if kinds[i] != DROPPED:
                order[found] = i
                found += 1
        begin = end
    return order[:found], kinds, qualities


@jit(part=True)
def ranked(rows: HitRows, begin: int, end: int) -> Int64s:
    """Return row indices begin..end - 1 sorted by falling score, then record, position, strand."""
    ranks = np.arange(begin, end)
    for i in range(1, ranks.size):
        own, j = ranks[i], i
        while j > 0 and is_before(rows[own], rows[ranks[j - 1]]):
            ranks[j] = ranks[j - 1]
            j -= 1
        ranks[j] = own
    return ranks


@jit(part=True)
def is_before(a: HitRow, b: HitRow) -> bool:
    """Return True if hit `a` ranks before hit `b`."""
    if a.score != b.score:
        return a.score > b.score
    if a.record != b.record:
        return a.record < b.record
    if a.there != b.there:
        return a.there < b.there
    if a.strand != b.strand:
        return a.strand < b.strand
    return a.begin < b.begin


@jit(part=True)
def rate_hits(
    rows: HitRows, ranks: Int64s, length: int, choice: ReportRules, out: tuple[Int64s, Int64s]
) -> None:
    """Set kind (dropped, primary, secondary) and mapping quality of a query's hits, best first."""
    kinds, qualities = out
    best, others = np.empty(ranks.size, np.int64), np.zeros((ranks.size, 2), np.int64)
    found = 0
    for at in range(ranks.size):
        i = ranks[at]
        if is_twin(rows, ranks[:at], i, kinds):
            continue
        parent = 0
        while parent < found and not shares(rows[best[parent]], rows[i], length):
            parent += 1
        if parent == found:
            best[found], kinds[i] = i, PRIMARY
            found += 1
            continue
        # with a sample of positions, hits at untried ones may be as good
        own = rows[i].score if rows[i].anchors != UNSURE else rows[best[parent]].score
        others[parent, SECOND] = max(others[parent, SECOND], own)
        is_near = 100 * rows[i].score >= choice.share * rows[best[parent]].score
        if is_near and others[parent, KEPT] < choice.secondary:
            others[parent, KEPT] += 1
            kinds[i] = SECONDARY
    for parent in range(found):
        hit = rows[best[parent]]
        sure = min(1.0, hit.anchors / SURE_ANCHORS) * np.log(float(max(1, hit.score)))
        quality = 40.0 * (1.0 - others[parent, SECOND] / max(1, hit.score)) * sure
        qualities[best[parent]] = min(MOST_QUALITY, int(quality + 0.5))


@jit(part=True)
def shares(a: HitRow, b: HitRow, length: int) -> bool:
    """Return True if two hits share half of the query bases of the shorter one."""
    begin, end = (length - a.end, length - a.begin) if a.strand else (a.begin, a.end)
    other, other_end = (length - b.end, length - b.begin) if b.strand else (b.begin, b.end)
    shared = min(end, other_end) - max(begin, other)
    return 2 * shared >= min(end - begin, other_end - other)


@jit(part=True)
def is_twin(rows: HitRows, better: Int64s, i: int, kinds: Int64s) -> bool:
    """Return True if a hit is within a better one, or begins or ends at the same pair of bases."""
    own = rows[i]
    for j in better:
        other = rows[j]
        if kinds[j] == DROPPED and other.score > own.score:
            continue
        if own.strand != other.strand or own.record != other.record:
            continue
        begins = own.begin == other.begin and own.there == other.there
        ends = own.end == other.end and own.there_end == other.there_end
        inside = own.begin >= other.begin and own.end <= other.end
        inside = inside and own.there >= other.there and own.there_end <= other.there_end
        if begins or ends or inside:
            return True
    return False
