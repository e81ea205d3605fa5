"""Chains of anchors on one strand of one sequence, by dynamic programming (H. Li, 2018, minimap2).

    f(i) = max(k, max over j of f(j) + min(dq, dt, k) - cost(|dq - dt|))
    cost(g) = k g / 100 + log2(g) / 2, here in integers

Two anchors follow each other if their distance in query and genome is limited, and that of their
diagonals. Only the last LOOK anchors are tried: with all of them a repeat would take quadratic
time.

For a long query the best chain that ends anywhere before an anchor in query and genome is tried as
well, with any number of anchors between them. A Fenwick tree has the best end before each position
of the query (P. Fenwick, 1994). Such a step may bridge more, at a cost that grows slowly:

    far(g, d) = cost(min(g, shift)) + (g - shift) / FAR_GAP + d / FAR_STEP, d = min(dq, dt)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Int64s
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.genomics.align.search.seeds.anchors import (
    QUERY_BITS,
    QUERY_MASK,
    STRAND_BIT,
    sort_words,
)

LOOK = 500  # limit, since a query of 1 Mb has all copies of a repeat at each copy
SINCE_BEST = 12  # predecessors in a row without a better score before the search stops
FAR_GAP, FAR_STEP = 100, 200  # bases for which a far step costs 1
BUCKET_BITS = 4  # positions of a query that share a leaf of the tree
APART = -(1 << 40)
ALONE = -1


class Reach(NamedTuple):
    """Largest distances between two anchors that a chain may join.

    Attributes
    ----------
    k : bases of an anchor
    gap : maximum of bases from anchor to anchor, in the query and in the genome
    shift : maximum of diagonals between two anchors
    far : maximum of bases of a far step, which long queries may take, in either sequence
    """

    k: int
    gap: int
    shift: int
    far: int


class Chains(NamedTuple):
    """Chains of one query, the best first.

    Attributes
    ----------
    scores : (n,) int64
    offsets : (n + 1,) int64, offsets of the members of each chain
    members : (m,) int64, indices of anchors, ascending in each chain
    """

    scores: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.int64]
    members: npt.NDArray[np.int64]


@jit(part=True)
def chains_of(anchors: Int64s, records: Int64s, reach: Reach, length: int) -> Chains:
    """Return the chains of sorted anchors, by dynamic programming.

    `records` (r + 1,) are the offsets of the genome's sequences. `length` is that of a long query;
    0 disables far steps.
    """
    n = anchors.size
    best, parent = np.empty(n, np.int64), np.empty(n, np.int64)
    record, first = 0, 0
    tree = np.full((length >> BUCKET_BITS) + 2, ALONE)
    for i in range(n):
        strand, place, own = parts(anchors[i])
        if i and strand != anchors[i - 1] >> STRAND_BIT:
            record, first = 0, i
        while records[record + 1] <= place:
            record, first = record + 1, i
        best[i], parent[i] = reach.k, ALONE
        tries = 0
        for j in range(i - 1, max(-1, i - 1 - LOOK), -1):
            strand_j, place_j, own_j = parts(anchors[j])
            along = place - place_j
            if strand_j != strand or along > reach.gap or place_j < records[record]:
                break
            added = gain(own - own_j, along, reach)
            if added == APART:
                continue
            score, tries = best[j] + added, tries + 1
            if score > best[i]:
                best[i], parent[i], tries = score, j, 0
            elif tries > SINCE_BEST:
                break
        if length:
            j = best_before(tree, own, best, first)
            if j != ALONE and best[j] + reach.k > best[i]:
                _, place_j, own_j = parts(anchors[j])
                score = best[j] + far_gain(own - own_j, place - place_j, reach)
                if score > best[i]:
                    best[i], parent[i] = score, j
            add_end(tree, own, best, first, i)
    return traced(best, parent)


@jit(part=True)
def best_before(tree: Int64s, own: int, best: Int64s, first: int) -> int:
    """Return the best chain end (an anchor) before a query position, from a Fenwick tree.

    The result is ALONE if there is none. Anchors before index `first` do not count.
    """
    found, at = ALONE, own >> BUCKET_BITS
    while at > 0:
        j = tree[at]
        if j >= first and (found == ALONE or best[j] > best[found]):
            found = j
        at -= at & -at
    return found


@jit(part=True)
def add_end(tree: Int64s, own: int, best: Int64s, first: int, i: int) -> None:
    """Add anchor i as a chain end to the Fenwick tree of best ends before each query position."""
    at = (own >> BUCKET_BITS) + 1
    while at < tree.size:
        if tree[at] < first or best[i] > best[tree[at]]:
            tree[at] = i
        at += at & -at


@jit(part=True)
def parts(anchor: int) -> tuple[int, int, int]:
    """Split an anchor word into strand, genome position and query position on that strand."""
    strand = anchor >> STRAND_BIT
    place = (anchor >> QUERY_BITS) & ((1 << (STRAND_BIT - QUERY_BITS)) - 1)
    return strand, place, anchor & QUERY_MASK


@jit(part=True)
def gain(across: int, along: int, reach: Reach) -> int:
    """Return the score that an anchor adds to a chain, by its distance from the previous one.

    The distances are `across` in the query and `along` in the genome.
    """
    gap = abs(across - along)
    if across <= 0 or along <= 0 or across > reach.gap or gap > reach.shift:
        return APART
    return min(across, along, reach.k) - gap_cost(gap, reach.k)


@jit(part=True)
def far_gain(across: int, along: int, reach: Reach) -> int:
    """Return the score that an anchor adds to a chain of a long query by a far step."""
    gap, step = abs(across - along), min(across, along)
    if step <= 0 or max(across, along) > reach.far:
        return APART
    cost = gap_cost(min(gap, reach.shift), reach.k) + step // FAR_STEP
    return min(step, reach.k) - cost - max(0, gap - reach.shift) // FAR_GAP


@jit(part=True)
def gap_cost(gap: int, k: int) -> int:
    """Return the cost of a gap between two anchors of a chain."""
    if not gap:
        return 0
    cost = 1 + k * gap // 100
    while gap > 3:
        gap >>= 2
        cost += 1
    return cost


@jit(part=True)
def traced(best: Int64s, parent: Int64s) -> Chains:
    """Return the chains, the best first; an anchor belongs to the best chain that reaches it."""
    n = best.size
    order = np.empty(n, np.int64)
    for i in range(n):
        order[i] = -best[i] << 32 | i
    sort_words(order)
    taken = np.zeros(n, np.bool_)
    scores, offsets = np.empty(n, np.int64), np.zeros(n + 1, np.int64)
    members = np.empty(n, np.int64)
    found, at = 0, 0
    for word in order:
        index = word & 0xFFFFFFFF
        if taken[index]:
            continue
        begin, last = at, index
        while index != ALONE and not taken[index]:
            taken[index], members[at] = True, index
            at, index = at + 1, parent[index]
        for step in range((at - begin) // 2):
            first, last_one = begin + step, at - 1 - step
            members[first], members[last_one] = members[last_one], members[first]
        scores[found] = best[last] - (best[index] if index != ALONE else 0)
        found += 1
        offsets[found] = at
    return sorted_chains(scores[:found], offsets, members)


@jit(part=True)
def sorted_chains(scores: Int64s, offsets: Int64s, members: Int64s) -> Chains:
    """Return chains sorted by `scores`, which exclude anchors that belong to other chains."""
    n = scores.size
    order = np.empty(n, np.int64)
    for i in range(n):
        order[i] = -scores[i] << 32 | i
    sort_words(order)
    out, out_offsets = np.empty(n, np.int64), np.zeros(n + 1, np.int64)
    out_members = np.empty(members.size, np.int64)
    at = 0
    for rank in range(n):
        i = order[rank] & 0xFFFFFFFF
        out[rank] = scores[i]
        for j in range(offsets[i], offsets[i + 1]):
            out_members[at] = members[j]
            at += 1
        out_offsets[rank + 1] = at
    return Chains(out, out_offsets, out_members)
