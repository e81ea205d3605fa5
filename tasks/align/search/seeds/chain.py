"""Chains of anchors on one strand of one sequence, by dynamic programming (H. Li, 2018, minimap2).

    f(i) = max(k, max over j of f(j) + min(dq, dt, k) - cost(|dq - dt|))
    cost(g) = k g / 100 + log2(g) / 2, here in whole numbers

Two anchors follow each other where they are not too far apart in query and genome, and where their
diagonals are not too far apart. Only the last LOOK anchors are tried: with all of them a repeat
would take quadratic time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.numba.jit import jit_part
from gangsaw.tasks.align.search.seeds.anchors import QUERY_BITS, QUERY_MASK, STRAND_BIT, sort_words

LOOK = 500  # a query of a megabase meets all copies of a repeat at each of them
SINCE_BEST = 12  # anchors that could come before and are no better, until no more are tried
APART = -(1 << 40)
ALONE = -1


class Reach(NamedTuple):
    """What chains may bridge.

    Attributes
    ----------
    k : letters of an anchor
    gap : most letters from anchor to anchor, in the query and in the genome
    shift : most diagonals between two anchors
    """

    k: int
    gap: int
    shift: int


class Chains(NamedTuple):
    """Chains of one query, the best first.

    Attributes
    ----------
    scores : (n,) int64
    offsets : (n + 1,) int64, of the members of each
    members : anchors by number, ascending in each chain
    """

    scores: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.int64]
    members: npt.NDArray[np.int64]


@jit_part
def chains_of(anchors: Any, records: Any, reach: Reach) -> Chains:
    """Return the chains of sorted anchors; `records` (r + 1,) are the starts of the sequences."""
    n = anchors.size
    best, parent = np.empty(n, np.int64), np.empty(n, np.int64)
    record = 0
    for i in range(n):
        strand, place, own = parts(anchors[i])
        if i and strand != anchors[i - 1] >> STRAND_BIT:
            record = 0
        while records[record + 1] <= place:
            record += 1
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
    return traced(best, parent)


@jit_part
def parts(anchor: int) -> tuple[int, int, int]:
    """Return strand, place in the genome and place in the query on that strand."""
    strand = anchor >> STRAND_BIT
    place = (anchor >> QUERY_BITS) & ((1 << (STRAND_BIT - QUERY_BITS)) - 1)
    return strand, place, anchor & QUERY_MASK


@jit_part
def gain(across: int, along: int, reach: Reach) -> int:
    """Return what an anchor adds behind another, with letters between their starts."""
    gap = abs(across - along)
    if across <= 0 or along <= 0 or across > reach.gap or gap > reach.shift:
        return APART
    cost = 0
    if gap:
        cost = 1 + reach.k * gap // 100
        while gap > 3:
            gap >>= 2
            cost += 1
    return min(across, along, reach.k) - cost


@jit_part
def traced(best: Any, parent: Any) -> Chains:
    """Return the chains, the best first; an anchor belongs to the best one that reaches it."""
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
        i = word & 0xFFFFFFFF
        if taken[i]:
            continue
        begin, last = at, i
        while i != ALONE and not taken[i]:
            taken[i], members[at] = True, i
            at, i = at + 1, parent[i]
        for step in range((at - begin) // 2):
            first, last_one = begin + step, at - 1 - step
            members[first], members[last_one] = members[last_one], members[first]
        scores[found] = best[last] - (best[i] if i != ALONE else 0)
        found += 1
        offsets[found] = at
    return sorted_chains(scores[:found], offsets, members)


@jit_part
def sorted_chains(scores: Any, offsets: Any, members: Any) -> Chains:
    """Return chains by their own scores: what they had from anchors of others does not count."""
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
