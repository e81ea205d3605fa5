"""Sections of a long query: alignments from end to end between two anchors.

In a section whose lengths differ by LONG_GAP or more there is a long gap. An affine cost would cut
it in pieces, one at each error beside it, since the bases of all pieces cost the same together. So
the section is extended from both ends as far as it goes, and the gap is where both together score
most: one gap, whatever its length. Where both ends do not meet there are several: these are the
long ones of the best alignment by an opening of LONG_OPEN and an extension of 1 (two pieces of an
affine cost: H. Li, 2018, minimap2), and what lies between them is aligned again.
"""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.arrays import Bytes, Int64s
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.genomics.align.search.extension.band import global_path
from gangsaw.tasks.genomics.align.search.extension.extend import (
    END_COLUMN,
    END_SCORE,
    back_to_start,
    backwards,
    extension,
)
from gangsaw.tasks.genomics.align.search.extension.paths import (
    DELETION,
    INSERTION,
    LEAST,
    OP_BITS,
    OP_MASK,
    PathCosts,
    append_path_run,
    i64,
    push_pairs,
    score_of,
)

LONG_GAP, LONG_OPEN = 40, 10  # bases of a long gap, and matches that it costs besides a short one
MEET_DROP = 50  # matches by which the score of either end may drop
MEET_SHARE = 60  # percent of the matches of the shorter side that both ends score, or there is more


@jit
def section(query: Bytes, text: Bytes, costs: PathCosts) -> Int64s:
    """Return the runs of the best end-to-end alignment between two anchors.

    If the lengths differ by LONG_GAP or more, it has one long gap, or several.
    """
    n, m = query.size, text.size
    if abs(n - m) < LONG_GAP or min(n, m) == 0:
        return close_section(query, text, costs)
    score, runs = (
        across_gap(query, text, costs, DELETION)
        if n < m
        else across_gap(text, query, costs, INSERTION)
    )
    if 100 * score >= MEET_SHARE * costs.match * min(n, m):
        return runs
    return by_long_gaps(query, text, costs)


@jit(part=True)
def across_gap(short: Bytes, long: Bytes, costs: PathCosts, op: int) -> tuple[int, Int64s]:
    """Return score and runs of the best end-to-end alignment with one long gap of operation `op`.

    The gap itself does not count. If the extensions from both ends do not meet, there are no runs.
    """
    n, m, drop = short.size, long.size, MEET_DROP * costs.match
    rows, cells, ends, _ = extension(short, long, costs, drop)
    other, there = backwards(short, i64(0), n), backwards(long, i64(0), m)
    back_rows, back_cells, back_ends, _ = extension(other, there, costs, drop)
    best, best_i = LEAST // 2, -1  # above the sum of an end and of none
    for i in range(max(0, n + 1 - back_ends.shape[0]), ends.shape[0]):
        score = ends[i, END_SCORE] + back_ends[n - i, END_SCORE]
        if score > best and ends[i, END_COLUMN] + back_ends[n - i, END_COLUMN] <= m:
            best, best_i = score, i
    runs = np.empty(n + m, np.int64)
    if best_i < 0:
        return best, runs[:0]
    begin, end = ends[best_i, END_COLUMN], m - back_ends[n - best_i, END_COLUMN]
    before = back_to_start(short, long, costs, (best_i, begin), rows, cells)[2]
    after = back_to_start(other, there, costs, (n - best_i, m - end), back_rows, back_cells)[2]
    found = push_all(runs, i64(0), before[::-1].copy())
    found = append_path_run(runs, found, DELETION, end - begin)
    found = push_all(runs, found, after)
    if op == INSERTION:
        for at in range(found):
            own, length = runs[at] & OP_MASK, runs[at] >> OP_BITS
            if own in (INSERTION, DELETION):
                runs[at] = length << OP_BITS | (INSERTION + DELETION - own)
    return best, runs[:found]


@jit(part=True)
def by_long_gaps(query: Bytes, text: Bytes, costs: PathCosts) -> Int64s:
    """Return the runs of an alignment from end to end with several long gaps."""
    opening = costs.open + LONG_OPEN * costs.match
    by_gaps = PathCosts(costs.match, costs.mismatch, opening, i64(1), costs.free_unknown)
    rough = global_path(query, text, by_gaps)[3]
    runs, found = np.empty(query.size + text.size, np.int64), i64(0)
    i = j = begin_i = begin_j = i64(0)
    for run in rough:
        op, length = run & OP_MASK, run >> OP_BITS
        if length >= LONG_GAP and op in (INSERTION, DELETION):
            part = close_section(query[begin_i:i], text[begin_j:j], costs)
            found = append_path_run(runs, push_all(runs, found, part), op, length)
            begin_i, begin_j = i + (length if op == INSERTION else 0), j
            begin_j += length if op == DELETION else 0
        i += 0 if op == DELETION else length
        j += 0 if op == INSERTION else length
    found = push_all(runs, found, close_section(query[begin_i:], text[begin_j:], costs))
    return runs[:found]


@jit(part=True)
def close_section(query: Bytes, text: Bytes, costs: PathCosts) -> Int64s:
    """Return the runs of the best end-to-end alignment of sequences without a long gap.

    With few mismatches no gap is tried: two gaps, and a pair less, would cost more.
    """
    n = query.size
    if n == text.size:
        runs = np.empty(n, np.int64)
        found = push_pairs(runs, i64(0), (query, i64(0), text, i64(0)), n, costs)
        gapped = costs.match * (n - 1) - 2 * (costs.open + costs.extend)
        if score_of(runs[:found], costs) >= gapped:
            return runs[:found]
    return global_path(query, text, costs)[3]


@jit(part=True)
def push_all(runs: Int64s, n: int, more: Int64s) -> int:
    """Append path runs behind n others; return the number of all runs."""
    for run in more:
        n = append_path_run(runs, n, run & OP_MASK, run >> OP_BITS)
    return n
