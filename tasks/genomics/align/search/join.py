"""Merge of hits in overlapping parts of a genome: one alignment that both parts found.

If two alignments of the same strand pair the same base of the query with the same base of the
genome, they agree from there on. So the beginning of one and the end of the other are spliced.
"""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.arrays import Int64s
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.genomics.align.search.extension.paths import (
    DELETION,
    EQUAL,
    INSERTION,
    OP_BITS,
    OP_MASK,
    PathCosts,
    append_path_run,
    score_of,
)
from gangsaw.tasks.genomics.align.search.hits import HitRow, Hits


@jit
def merge_hits(hits: Hits, costs: PathCosts) -> Hits:
    """Merge overlapping hits; both are sorted by query, strand, sequence and position."""
    rows, runs = hits.rows.copy(), hits.runs
    n, m = 0, runs.size
    for i in range(hits.rows.size):
        row = hits.rows[i]
        at = n - 1
        while at >= 0 and are_overlapping(rows[at], row):
            shared = find_shared_pair(rows[at], row, runs)
            if shared[0] >= 0:
                break
            at -= 1
        if at < 0 or not are_overlapping(rows[at], row):
            rows[n] = row
            n += 1
        elif row.there_end > rows[at].there_end:
            path = spliced(rows[at], row, shared, runs)
            longer = np.empty(m + path.size, np.int64)
            longer[:m], longer[m:] = runs[:m], path
            runs = longer
            rows[at].end, rows[at].there_end = row.end, row.there_end
            rows[at].anchors = max(rows[at].anchors, row.anchors)
            rows[at].runs, rows[at].runs_end, m = m, m + path.size, m + path.size
            rows[at].score = score_of(path, costs)
    return Hits(rows[:n], runs)


@jit(part=True)
def are_overlapping(a: HitRow, b: HitRow) -> bool:
    """Return True if a hit and one that follows it overlap in query and genome."""
    is_same = a.query == b.query and a.strand == b.strand and a.record == b.record
    return is_same and b.there < a.there_end and b.begin < a.end and a.begin <= b.begin


@jit(part=True)
def find_shared_pair(a: HitRow, b: HitRow, runs: Int64s) -> tuple[int, int]:
    """Return the first positions in query and genome that both hits align as equal; -1 for none."""
    at, i, j = a.runs, a.begin, a.there
    other, k, l = b.runs, b.begin, b.there  # noqa: E741
    while at < a.runs_end and other < b.runs_end:
        end_j, end_l = j + along(runs[at]), l + along(runs[other])
        both = runs[at] & OP_MASK == EQUAL and runs[other] & OP_MASK == EQUAL
        if both and j - i == l - k and max(j, l) < min(end_j, end_l):
            first = max(j, l)
            return first - (j - i), first
        if end_j <= end_l:
            i, j, at = i + across(runs[at]), end_j, at + 1
        else:
            k, l, other = k + across(runs[other]), end_l, other + 1  # noqa: E741
    return -1, -1


@jit(part=True)
def across(run: int) -> int:
    """Return the number of query bases in a run (length << 4 | operation) of a path."""
    return 0 if run & OP_MASK == DELETION else run >> OP_BITS


@jit(part=True)
def along(run: int) -> int:
    """Return the number of genome bases in a run (length << 4 | operation) of a path."""
    return 0 if run & OP_MASK == INSERTION else run >> OP_BITS


@jit(part=True)
def spliced(a: HitRow, b: HitRow, shared: tuple[int, int], runs: Int64s) -> Int64s:
    """Return the path of hit `a` up to a pair of bases that both align, and of `b` from there."""
    out = np.empty(a.runs_end - a.runs + b.runs_end - b.runs + 1, np.int64)
    n, i, j = 0, a.begin, a.there
    for run in runs[a.runs : a.runs_end]:
        if i + across(run) > shared[0] and j + along(run) > shared[1]:
            n = append_path_run(out, n, run & OP_MASK, shared[1] - j)
            break
        n = append_path_run(out, n, run & OP_MASK, run >> OP_BITS)
        i, j = i + across(run), j + along(run)
    i, j = b.begin, b.there
    for run in runs[b.runs : b.runs_end]:
        end_i, end_j = i + across(run), j + along(run)
        if j >= shared[1] and i >= shared[0]:
            n = append_path_run(out, n, run & OP_MASK, run >> OP_BITS)
        elif end_i > shared[0] and end_j > shared[1]:
            n = append_path_run(out, n, run & OP_MASK, end_j - shared[1])
        i, j = end_i, end_j
    return out[:n].copy()
