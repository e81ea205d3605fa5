"""Alignments of a query along its chains: score, ends and path.

A short query is aligned as a whole: the alignment is the best of all that touch a diagonal of the
chain (`band.py` has the proof). A long one is cut at anchors, and each section between two of them
is aligned from end to end, the best way that there is; the ends are extended. Where a section costs
too much the alignment is split.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.numba.jit import jit, jit_part
from gangsaw.tasks.align.search.extension.band import global_path, local_path
from gangsaw.tasks.align.search.extension.extend import FURTHEST, backwards, extended
from gangsaw.tasks.align.search.extension.paths import (
    DELETION,
    INSERTION,
    NONE,
    OP_BITS,
    OP_MASK,
    PathCosts,
    push,
    push_pairs,
    score_of,
)
from gangsaw.tasks.align.search.seeds.anchors import QUERY_BITS, QUERY_MASK
from gangsaw.tasks.align.search.seeds.index import PLACE_MASK

SHORT = 512  # letters of a query that is aligned as a whole
STEP = 48  # letters at least between two anchors where a long query is cut


@jit
def whole(query: Any, text: Any, bounds: Any, span: Any, costs: PathCosts) -> Any:
    """Return score, ends in query and text, and runs of the best alignment at diagonals low..high.

    `bounds` is the part of the text that counts.
    """
    low, high = span
    n, best = query.size, 0
    if low == high:
        best, begin, end = run_on(query, text, bounds, low, costs)
        if best >= costs.match * n - costs.open - costs.extend:
            runs = np.empty(end - begin, np.int64)
            n_runs = push_pairs(runs, NONE, (query, begin, text, begin + low), end - begin)
            return best, (begin, end), (begin + low, end + low), runs[:n_runs]
    first, last = max(bounds[0], low - n), min(bounds[1], high + 2 * n)
    inner = (low - first, high - first)
    score, own, there, runs = local_path(query, text[first:last], inner, costs, best)
    return score, own, (there[0] + first, there[1] + first), runs


@jit_part
def run_on(query: Any, text: Any, bounds: Any, diagonal: int, costs: PathCosts) -> Any:
    """Return the best score of a run on a diagonal, and where it begins and ends in the query."""
    score, begin, best, best_begin, best_end = 0, 0, 0, 0, 0
    first, last = max(0, bounds[0] - diagonal), min(query.size, bounds[1] - diagonal)
    begin = first
    for i in range(first, last):
        if query[i] == text[i + diagonal] and query[i] < 4:
            score += costs.match
            if score > best:
                best, best_begin, best_end = score, begin, i + 1
        else:
            score -= costs.mismatch
            if score <= 0:
                score, begin = 0, i + 1
    return best, best_begin, best_end


@jit_part
def stretch(query: Any, text: Any, bounds: Any, anchors: Any, costs: PathCosts, drop: int) -> Any:
    """Return how many anchors of a chain one alignment took, and score, ends and runs of it."""
    i, j = at_anchor(anchors[0])
    room = query.size + bounds[1] - bounds[0]
    runs = np.empty(min(room, 4 * query.size + (1 << 16)), np.int64)
    own = backwards(query, max(0, i - FURTHEST), i)
    left_i, left_j, back = extended(
        own, backwards(text, max(bounds[0], j - FURTHEST), j), costs, drop
    )
    n, begin_i, begin_j, used = NONE, i - left_i, j - left_j, anchors.size
    n = push_all(runs, n, back)
    for member in range(1, anchors.size):
        to_i, to_j = at_anchor(anchors[member])
        is_far = min(to_i - i, to_j - j) >= STEP or member == anchors.size - 1
        if not is_far or min(to_i - i, to_j - j) <= 0:
            continue
        between = section(query[i:to_i], text[j:to_j], costs)
        if score_of(between, costs) < -drop:
            used = member
            break
        n, i, j = push_all(runs, n, between), to_i, to_j
    ahead = extended(query[i:], text[j : bounds[1]], costs, drop)[2]
    n = push_all(runs, n, ahead[::-1].copy())
    score, first, last, skip, size = best_part(runs[:n], costs)
    begin_i, begin_j = begin_i + skip[0], begin_j + skip[1]
    across, along = (begin_i, begin_i + size[0]), (begin_j, begin_j + size[1])
    return used, score, across, along, runs[first:last].copy()


@jit_part
def at_anchor(anchor: int) -> tuple[int, int]:
    """Return the places of an anchor in query and text."""
    return anchor & QUERY_MASK, (anchor >> QUERY_BITS) & PLACE_MASK


@jit
def section(query: Any, text: Any, costs: PathCosts) -> Any:
    """Return the runs of the best alignment from end to end.

    With few mismatches no gap is tried: two gaps, and a pair less, would cost more.
    """
    n = query.size
    if n == text.size:
        runs = np.empty(n, np.int64)
        found = push_pairs(runs, NONE, (query, NONE, text, NONE), n)
        gapped = costs.match * (n - 1) - 2 * (costs.open + costs.extend)
        if score_of(runs[:found], costs) >= gapped:
            return runs[:found]
    return global_path(query, text, costs)[3]


@jit_part
def push_all(runs: Any, n: int, more: Any) -> int:
    """Add runs behind n others; return how many these are."""
    for run in more:
        n = push(runs, n, run & OP_MASK, run >> OP_BITS)
    return n


@jit_part
def best_part(runs: Any, costs: PathCosts) -> Any:
    """Return the best score of neighbouring runs, which these are, what lies before, how long."""
    score, begin, best, first, last = 0, 0, 0, 0, 0
    for at in range(runs.size):
        score += score_of(runs[at : at + 1], costs)
        if score > best:
            best, first, last = score, begin, at + 1
        if score <= 0:
            score, begin = 0, at + 1
    return best, first, last, lengths(runs[:first]), lengths(runs[first:last])


@jit
def lengths(runs: Any) -> tuple[int, int]:
    """Return how many letters of query and text a path takes."""
    i, j = 0, 0
    for run in runs:
        op, length = run & OP_MASK, run >> OP_BITS
        i += 0 if op == DELETION else length
        j += 0 if op == INSERTION else length
    return i, j
