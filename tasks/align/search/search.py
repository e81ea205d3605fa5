"""The search: alignments of queries along the best chains of their minimizers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.nucleotides.kernels import paired_code
from gangsaw.codecs.core.numba.jit import jit, jit_part
from gangsaw.tasks.align.search.extension.extend import ungapped
from gangsaw.tasks.align.search.extension.paths import NONE, PathCosts
from gangsaw.tasks.align.search.extension.place import SHORT, at_anchor, stretch, whole
from gangsaw.tasks.align.search.hits import UNSURE, Hits
from gangsaw.tasks.align.search.seeds.anchors import anchors_of, sample_of
from gangsaw.tasks.align.search.seeds.chain import Chains, Reach, chains_of
from gangsaw.tasks.align.search.seeds.index import PlaceIndex
from gangsaw.tasks.align.search.seeds.minimizers import Seeds, minimizers

BEGIN, END, SCORE = range(3)  # of the best chain of a part of the query
SURE = 3  # anchors of a chain that needs no filter


class SearchText(NamedTuple):
    """A text that is searched.

    Attributes
    ----------
    codes : (n,) uint8, of sequences that lie one behind the other
    records : (r + 1,) int64, where each begins, and n
    table : index of its minimizers
    """

    codes: npt.NDArray[np.uint8]
    records: npt.NDArray[np.int64]
    table: PlaceIndex


class Rules(NamedTuple):
    """What is tried.

    Attributes
    ----------
    seeds : which k-mers are seeds
    reach : what chains may bridge
    costs : scores of alignments
    places : most places of a minimizer that counts
    drop : how far a score may fall below the best
    least_run : score of an ungapped extension, from which few anchors are followed
    least : score of a hit
    share : of the best chain's score that another one needs, in percent, where both are of the
        same part of the query
    tries : chains that are followed besides, for each of the best ones
    """

    seeds: Seeds
    reach: Reach
    costs: PathCosts
    places: int
    drop: int
    least_run: int
    least: int
    share: int
    tries: int


@jit
def search(codes: Any, offsets: Any, target: SearchText, rules: Rules, row: Any) -> Hits:
    """Return the hits of queries, codes[offsets[i]:offsets[i + 1]]; `row` is an empty HIT array."""
    rows, runs = np.empty(2 * offsets.size, row.dtype), np.empty(64 * offsets.size, np.int64)
    n, m = NONE, NONE
    for i in range(offsets.size - 1):
        query = codes[offsets[i] : offsets[i + 1]]
        found = minimizers(query, NONE, query.size, rules.seeds)
        anchors = anchors_of(target.table, found, query.size, rules.seeds.k, rules.places)
        strands, first, is_sample = (query, turned(query)), n, False
        while True:
            rows, runs, n, m = along_chains(strands, anchors, target, rules, rows, runs, n, m)
            if n > first or is_sample:
                break
            anchors = sample_of(target.table, found, query.size, rules.seeds.k, rules.places)
            is_sample = True
        for at in range(first, n):
            rows[at].query = i
            if is_sample:
                rows[at].anchors = UNSURE
    return Hits(rows[:n], runs[:m])


@jit_part
def along_chains(
    strands: Any,
    anchors: Any,
    target: SearchText,
    rules: Rules,
    rows: Any,
    runs: Any,
    n: int,
    m: int,
) -> Any:
    """Add the hits along the chains of anchors to n rows and m runs; return as `follow` does."""
    if not anchors.size:
        return rows, runs, n, m
    chains = chains_of(anchors, target.records, rules.reach)
    chosen = choose_chains(chains, anchors, strands[0].size, rules)
    for chain in range(chains.scores.size):
        if chosen[chain]:
            own = anchors[chains.members[chains.offsets[chain] : chains.offsets[chain + 1]]]
            rows, runs, n, m = follow(strands, own, target, rules, rows, runs, n, m)
    return rows, runs, n, m


@jit_part
def turned(query: Any) -> Any:
    """Return the reverse complement of codes."""
    out = np.empty(query.size, np.uint8)
    for i in range(query.size):
        out[i] = paired_code(query[query.size - 1 - i])
    return out


@jit_part
def choose_chains(chains: Chains, anchors: Any, length: int, rules: Rules) -> Any:
    """Return which chains are followed: the best of each part of the query, and those near it."""
    n = chains.scores.size
    chosen = np.zeros(n, np.bool_)
    best, others = np.empty((n, SCORE + 1), np.int64), np.zeros(n, np.int64)
    found = 0
    for i in range(n):
        begin, end = covered(chains, i, anchors, length, rules.reach.k)
        at = 0
        while at < found and not overlaps(best[at, BEGIN], best[at, END], begin, end):
            at += 1
        if at == found:
            best[found, BEGIN], best[found, END] = begin, end
            best[found, SCORE] = chains.scores[i]
            found += 1
            chosen[i] = True
        elif others[at] < rules.tries and 100 * chains.scores[i] >= rules.share * best[at, SCORE]:
            others[at] += 1
            chosen[i] = True
    return chosen


@jit_part
def covered(chains: Chains, i: int, anchors: Any, length: int, k: int) -> tuple[int, int]:
    """Return which part of the query, on its own strand, a chain covers."""
    begin, _ = at_anchor(anchors[chains.members[chains.offsets[i]]])
    last = anchors[chains.members[chains.offsets[i + 1] - 1]]
    end = at_anchor(last)[0] + k
    return (length - end, length - begin) if last >> 62 else (begin, end)


@jit_part
def overlaps(begin: int, end: int, other: int, other_end: int) -> bool:
    """Whether two parts share half of the shorter one."""
    shared = min(end, other_end) - max(begin, other)
    return 2 * shared >= min(end - begin, other_end - other)


@jit_part
def follow(
    strands: Any,
    anchors: Any,
    target: SearchText,
    rules: Rules,
    rows: Any,
    runs: Any,
    n: int,
    m: int,
) -> Any:
    """Add the hits along a chain to n rows and m runs; return both arrays, which may have grown."""
    strand = anchors[0] >> 62
    query = strands[1] if strand else strands[0]
    i, j = at_anchor(anchors[0])
    record = np.searchsorted(target.records, j, "right") - 1
    bounds = (target.records[record], target.records[record + 1])
    text = target.codes[bounds[0] : bounds[1]]
    if anchors.size < SURE:
        run = ungapped(query, text, i, j - bounds[0], rules.costs, rules.drop)
        if run < rules.least_run:
            return rows, runs, n, m
    used = 0
    while used < anchors.size:
        if query.size <= SHORT:
            span = diagonals(anchors)
            score, own, there, path = whole(query, target.codes, bounds, span, rules.costs)
            count = anchors.size
        else:
            count, score, own, there, path = stretch(
                query, target.codes, bounds, anchors[used:], rules.costs, rules.drop
            )
        used += count
        if score < rules.least:
            continue
        if n == rows.size:
            more = np.empty(2 * n, rows.dtype)
            for at in range(n):
                more[at] = rows[at]
            rows = more
        if m + path.size > runs.size:
            longer = np.empty(2 * runs.size + path.size, np.int64)
            for at in range(m):
                longer[at] = runs[at]
            runs = longer
        hit = rows[n]
        hit.strand, hit.record, hit.score, hit.anchors = strand, record, score, count
        hit.begin, hit.end, hit.there, hit.there_end = own[0], own[1], there[0], there[1]
        hit.runs, hit.runs_end = m, m + path.size
        for at in range(path.size):
            runs[m + at] = path[at]
        n, m = n + 1, m + path.size
    return rows, runs, n, m


@jit_part
def diagonals(anchors: Any) -> tuple[int, int]:
    """Return the lowest and the highest diagonal of a chain."""
    i, j = at_anchor(anchors[0])
    low = high = j - i
    for anchor in anchors:
        i, j = at_anchor(anchor)
        low, high = min(low, j - i), max(high, j - i)
    return low, high
