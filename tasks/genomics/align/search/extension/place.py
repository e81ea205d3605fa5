"""Alignments of a query along its chains: score, ends and path.

A short query is aligned as a whole: the alignment is the best of all that touch a diagonal of the
chain (`band.py` has the proof). A long one is cut at anchors. Each section between two anchors is
aligned from end to end, and the ends are extended. If a section costs too much, the alignment is
split, and no part overlaps another one.

A long gap is one event: COUNTED_HERE of its bases are charged where an alignment is split and cut
at its ends, and COUNTED in its score. In a long query a pair with an unknown base costs nothing, so
a run of N, which stands for unread bases, splits no alignment.
"""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.arrays import Bytes, Int64s
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.genomics.align.search.extension.band import FIRST_RADIUS, local_path
from gangsaw.tasks.genomics.align.search.extension.extend import FURTHEST, backwards, extended
from gangsaw.tasks.genomics.align.search.extension.paths import (
    DELETION,
    INSERTION,
    OP_BITS,
    OP_MASK,
    AlignedPath,
    PathCosts,
    i64,
    lenient_score,
    pair_score,
    push_pairs,
    score_of,
)
from gangsaw.tasks.genomics.align.search.extension.section import push_all, section
from gangsaw.tasks.genomics.align.search.seeds.anchors import QUERY_BITS, QUERY_MASK
from gangsaw.tasks.genomics.align.search.seeds.index import PLACE_MASK

SHORT = 512  # letters of a query that is aligned as a whole
STEP = 48  # letters at least between two anchors where a long query is cut
COUNTED_HERE = 30  # bases of a gap that count where an alignment is cut: a long one is one event
MOST_CELLS = 1 << 26  # of a section, a byte each


@jit
def align_whole(
    query: Bytes, text: Bytes, bounds: tuple[int, int], span: tuple[int, int], costs: PathCosts
) -> AlignedPath:
    """Return the best alignment of a short query that touches diagonals low..high of a chain.

    The result is score, ends in query and text, and runs. `bounds` is the range of the text that
    may be aligned, `span` is (low, high).
    """
    low, high = span
    n, best = query.size, 0
    if low == high:
        best, begin, end = run_on(query, text, bounds, low, costs)
        if best >= costs.match * n - costs.open - costs.extend:
            runs = np.empty(end - begin, np.int64)
            n_runs = push_pairs(runs, i64(0), (query, begin, text, begin + low), end - begin, costs)
            return best, (begin, end), (begin + low, end + low), runs[:n_runs]
    first, last = max(bounds[0], low - n), min(bounds[1], high + 2 * n)
    inner = (low - first, high - first)
    score, own, there, runs = local_path(query, text[first:last], inner, costs, best)
    return score, own, (there[0] + first, there[1] + first), runs


@jit(part=True)
def run_on(
    query: Bytes, text: Bytes, bounds: tuple[int, int], diagonal: int, costs: PathCosts
) -> tuple[int, int, int]:
    """Return the best score of an alignment on one diagonal, and its begin and end in the query."""
    score, begin, best, best_begin, best_end = 0, 0, 0, 0, 0
    first, last = max(0, bounds[0] - diagonal), min(query.size, bounds[1] - diagonal)
    begin = first
    for i in range(first, last):
        score += pair_score(query[i], text[i + diagonal], costs)
        if score > best:
            best, best_begin, best_end = score, begin, i + 1
        if score <= 0:
            score, begin = 0, i + 1
    return best, best_begin, best_end


@jit(part=True)
def stretch(
    query: Bytes,
    text: Bytes,
    bounds: tuple[int, int],
    anchors: Int64s,
    costs: PathCosts,
    drop: int,
    behind: tuple[int, int],
) -> tuple[int, int, tuple[int, int], tuple[int, int], Int64s]:
    """Align a long query along the anchors of a chain, until a section between two costs too much.

    Returns the number of anchors used, score, begin and end in query and in text, and runs.
    `behind` is the end in query and text of the alignment along the anchors before these.
    """
    i, j = at_anchor(anchors[0])
    room = query.size + bounds[1] - bounds[0]
    runs = np.empty(min(room, 4 * query.size + (1 << 16)), np.int64)
    own = backwards(query, min(i, max(behind[0], i - FURTHEST)), i)
    there = backwards(text, min(j, max(behind[1], j - FURTHEST)), j)
    left_i, left_j, back = extended(own, there, costs, drop)
    end_i, end_j = query.size, bounds[1]
    n, begin_i, begin_j, used = i64(0), i - left_i, j - left_j, anchors.size
    n = push_all(runs, n, back)
    for member in range(1, anchors.size):
        to_i, to_j = at_anchor(anchors[member])
        is_far = min(to_i - i, to_j - j) >= STEP or member == anchors.size - 1
        if not is_far or min(to_i - i, to_j - j) <= 0:
            continue
        if is_too_large(to_i - i, to_j - j):
            used, end_i, end_j = member, to_i, to_j
            break
        between = section(query[i:to_i], text[j:to_j], costs)
        if lenient_score(between, costs, COUNTED_HERE) < -drop:
            used, end_i, end_j = member, to_i, to_j
            break
        n, i, j = push_all(runs, n, between), to_i, to_j
    ahead = extended(query[i:end_i], text[j:end_j], costs, drop)[2]
    n = push_all(runs, n, ahead[::-1].copy())
    score, first, last, skip, size = best_part(runs[:n], costs)
    begin_i, begin_j = begin_i + skip[0], begin_j + skip[1]
    across, along = (begin_i, begin_i + size[0]), (begin_j, begin_j + size[1])
    return used, score, across, along, runs[first:last].copy()


@jit(part=True)
def is_too_large(n: int, m: int) -> bool:
    """Return True if n by m bases between two anchors need a band of more than MOST_CELLS cells."""
    return (n + m) * (abs(n - m) // 2 + FIRST_RADIUS) > MOST_CELLS


@jit(part=True)
def at_anchor(anchor: int) -> tuple[int, int]:
    """Return the positions in query and text that an anchor word encodes."""
    return anchor & QUERY_MASK, (anchor >> QUERY_BITS) & PLACE_MASK


@jit(part=True)
def best_part(
    runs: Int64s, costs: PathCosts
) -> tuple[int, int, int, tuple[int, int], tuple[int, int]]:
    """Return the best-scoring part of an alignment path: score, first and end run, lengths.

    The lengths are the numbers of query and text bases before the part, and in it. For the choice
    a gap costs as much as one of at most COUNTED_HERE bases; the returned score has full gap costs.
    """
    score, begin, best, first, last = 0, 0, 0, 0, 0
    for at in range(runs.size):
        score += lenient_score(runs[at : at + 1], costs, COUNTED_HERE)
        if score > best:
            best, first, last = score, begin, at + 1
        if score <= 0:
            score, begin = 0, at + 1
    best = score_of(runs[first:last], costs)
    return best, first, last, lengths(runs[:first]), lengths(runs[first:last])


@jit
def lengths(runs: Int64s) -> tuple[int, int]:
    """Return the numbers of query and text bases in a path."""
    i, j = 0, 0
    for run in runs:
        op, length = run & OP_MASK, run >> OP_BITS
        i += 0 if op == DELETION else length
        j += 0 if op == INSERTION else length
    return i, j
