"""Search: alignments of queries along the best chains of their minimizers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bools, Bytes, Int64s
from gangsaw.codecs.core.nucleotides.kernels import paired_code
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.genomics.align.search.extension.extend import score_ungapped
from gangsaw.tasks.genomics.align.search.extension.paths import PathCosts, free_of_unknown, i64
from gangsaw.tasks.genomics.align.search.extension.place import (
    SHORT,
    align_whole,
    at_anchor,
    stretch,
)
from gangsaw.tasks.genomics.align.search.hits import UNSURE, HitRows, Hits
from gangsaw.tasks.genomics.align.search.seeds.anchors import (
    STRAND_BIT,
    find_seed_anchors,
    sample_anchors,
)
from gangsaw.tasks.genomics.align.search.seeds.chain import Chains, Reach, chains_of
from gangsaw.tasks.genomics.align.search.seeds.index import PlaceIndex
from gangsaw.tasks.genomics.align.search.seeds.minimizers import Seeds, minimizers

FIRST, LAST, SCORE = range(3)  # columns of a best chain: its parts, its score
BEGIN, END = range(2)  # columns of a part of the query
SURE = 3  # anchors of a chain that needs no ungapped extension as a filter
HOLE = 1000  # bases of a query between two anchors of a chain that leave space for another chain
SLICE = 1 << 20  # anchors of chains before these are aligned: 8 MiB


class SearchText(NamedTuple):
    """Part of a genome that is searched.

    Attributes
    ----------
    codes : (n,) uint8, codes of concatenated sequences
    records : (r + 1,) int64, offsets of the sequences
    table : index of its minimizers
    """

    codes: npt.NDArray[np.uint8]
    records: npt.NDArray[np.int64]
    table: PlaceIndex


class Rules(NamedTuple):
    """Limits of the search for hits, as the kernels take them.

    Attributes
    ----------
    seeds : selection of k-mers as seeds
    reach : distances that chains may bridge
    costs : scores of alignments
    max_positions : minimizers with more positions in the genome are ignored
    drop : X-drop, maximum of the fall of a score below the best
    least_run : minimum score of an ungapped extension for a chain of few anchors
    least : minimum score of a hit
    share : minimum score of further chains of the same part of the query, in percent of the best
    tries : maximum of further chains for each of the best ones
    """

    seeds: Seeds
    reach: Reach
    costs: PathCosts
    max_positions: int
    drop: int
    least_run: int
    least: int
    share: int
    tries: int


class FoundChains(NamedTuple):
    """Chains of several queries, sorted by query, then with the best first.

    Attributes
    ----------
    queries : (c,) int64, query of each chain
    offsets : (c + 1,) int64, offsets of the anchors of each chain
    anchors : (n,) int64, anchor words (strand, position in genome, position in query)
    """

    queries: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.int64]
    anchors: npt.NDArray[np.int64]


def search_queries(
    codes: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.int64],
    target: SearchText,
    rules: Rules,
    row: npt.NDArray[np.void],
) -> Hits:
    """Return the hits of queries codes[offsets[i]:offsets[i + 1]]; `row` is an empty HIT array.

    Queries without a hit are tried again with a sample of the positions of their seeds. Chains and
    alignments are two kernels, so that both are compiled at once.
    """
    n = offsets.size - 1
    found, is_hit = [], np.zeros(n, np.bool_)
    for is_sample in (False, True):
        at, is_left = 0, ~is_hit
        while at < n:
            chains, at = find_chains(codes, offsets, at, is_left, target, rules, is_sample)
            if chains.queries.size:
                hits = align_chains(codes, offsets, chains, target, rules, row, is_sample)
                is_hit[hits.rows["query"]] = True
                found.append(hits)
    return _concatenated(found, row)


def _concatenated(found: list[Hits], row: npt.NDArray[np.void]) -> Hits:
    """Concatenate the hits of several searches; the result is sorted by query."""
    if len(found) == 1:
        return found[0]
    first = 0
    for hits in found:
        hits.rows["runs"] += first
        hits.rows["runs_end"] += first
        first += hits.runs.size
    rows = np.concatenate([row, *(hits.rows for hits in found)])
    runs = np.concatenate([np.empty(0, np.int64), *(hits.runs for hits in found)])
    return Hits(rows[np.argsort(rows["query"], kind="stable")], runs)


@jit
def find_chains(
    codes: Bytes,
    offsets: Int64s,
    first: int,
    is_wanted: Bools,
    target: SearchText,
    rules: Rules,
    is_sample: bool,
) -> tuple[FoundChains, int]:
    """Return the chains to align of wanted queries from `first` on, and the next query.

    It stops before the last query if there are more than SLICE anchors.
    """
    queries, bounds = np.empty(offsets.size, np.int64), np.zeros(offsets.size + 1, np.int64)
    taken, n, k = np.empty(SLICE // 8, np.int64), i64(0), rules.seeds.k
    i = first
    while i < offsets.size - 1 and bounds[n] < SLICE:
        query, i = codes[offsets[i] : offsets[i + 1]], i + 1
        if not is_wanted[i - 1]:
            continue
        found = minimizers(query, i64(0), query.size, rules.seeds)
        if is_sample:
            anchors = sample_anchors(target.table, found, query.size, k, rules.max_positions)
        else:
            is_long = query.size > SHORT
            anchors = find_seed_anchors(
                target.table, found, query.size, k, rules.max_positions, is_long
            )
        if not anchors.size:
            continue
        length = query.size if query.size > SHORT else 0
        chains = chains_of(anchors, target.records, rules.reach, length)
        chosen = choose_chains(chains, anchors, query.size, rules)
        for chain in range(chains.scores.size):
            if not chosen[chain]:
                continue
            members = chains.members[chains.offsets[chain] : chains.offsets[chain + 1]]
            if n == queries.size:
                queries, bounds = reserve_items(queries, n, n), reserve_items(bounds, n + 1, n)
            if bounds[n] + members.size > taken.size:
                taken = reserve_items(taken, bounds[n], members.size)
            for at in range(members.size):
                taken[bounds[n] + at] = anchors[members[at]]
            queries[n], bounds[n + 1] = i - 1, bounds[n] + members.size
            n += 1
    return FoundChains(queries[:n], bounds[: n + 1], taken[: bounds[n]]), i


@jit(part=True)
def reserve_items(items: Int64s, n: int, more: int) -> Int64s:
    """Return an array with the first n items, and capacity for at least `more` further ones."""
    out = np.empty(2 * items.size + more, items.dtype)
    for at in range(n):
        out[at] = items[at]
    return out


@jit
def align_chains(
    codes: Bytes,
    offsets: Int64s,
    chains: FoundChains,
    target: SearchText,
    rules: Rules,
    row: HitRows,
    is_sample: bool,
) -> Hits:
    """Align queries along their chains; return the hits."""
    size = 2 * chains.queries.size
    rows, runs = np.empty(size, row.dtype), np.empty(32 * size, np.int64)
    n, m, last = i64(0), i64(0), -1
    strands = (codes[:0], reverse_complement_codes(codes[:0]))
    for chain in range(chains.queries.size):
        i = chains.queries[chain]
        if i != last:
            query, last = codes[offsets[i] : offsets[i + 1]], i
            strands = (query, reverse_complement_codes(query))
        own = chains.anchors[chains.offsets[chain] : chains.offsets[chain + 1]]
        before = n
        rows, runs, n, m = append_hits(strands, own, target, rules, rows, runs, n, m)
        for at in range(before, n):
            rows[at].query = i
            if is_sample:
                rows[at].anchors = UNSURE
    return Hits(rows[:n], runs[:m])


@jit(part=True)
def reverse_complement_codes(query: Bytes) -> Bytes:
    """Return the reverse complement of base codes."""
    out = np.empty(query.size, np.uint8)
    for i in range(query.size):
        out[i] = paired_code(query[query.size - 1 - i])
    return out


@jit(part=True)
def choose_chains(chains: Chains, anchors: Int64s, length: int, rules: Rules) -> Bools:
    """Return a mask of the chains to align: the best of each part of the query, and close ones."""
    n = chains.scores.size
    chosen, others = np.zeros(n, np.bool_), np.zeros(n, np.int64)
    best, found, first = np.empty((n, 3), np.int64), 0, 0
    parts = np.empty((anchors.size, 2), np.int64)
    for i in range(n):
        last = add_parts(chains, i, anchors, length, rules.reach.k, parts, first)
        at = 0
        while at < found and not are_same_parts(
            parts, best[at, FIRST], best[at, LAST], first, last
        ):
            at += 1
        if at == found:
            best[found, FIRST], best[found, LAST] = first, last
            best[found, SCORE] = chains.scores[i]
            found, first = found + 1, last
            chosen[i] = True
        elif others[at] < rules.tries and 100 * chains.scores[i] >= rules.share * best[at, SCORE]:
            others[at] += 1
            chosen[i] = True
    return chosen


@jit(part=True)
def add_parts(
    chains: Chains, i: int, anchors: Int64s, length: int, k: int, parts: Int64s, found: int
) -> int:
    """Append the intervals of the query that a chain covers to `parts`; return their number.

    Between two anchors that are HOLE apart may lie another chain: an inversion.
    """
    members = chains.members[chains.offsets[i] : chains.offsets[i + 1]]
    first = anchors[members[0]]
    for at in range(members.size):
        last = anchors[members[at]]
        is_last = at + 1 == members.size
        after = last if is_last else anchors[members[at + 1]]
        if is_last or at_anchor(after)[0] - at_anchor(last)[0] > HOLE:
            begin, end = at_anchor(first)[0], at_anchor(last)[0] + k
            if last >> STRAND_BIT:
                begin, end = length - end, length - begin
            parts[found, BEGIN], parts[found, END] = begin, end
            first, found = after, found + 1
    return found


@jit(part=True)
def are_same_parts(parts: Int64s, first: int, last: int, other: int, other_last: int) -> bool:
    """Return True if two ranges of query intervals in `parts` share half of the bases of either."""
    shared, size, other_size = 0, 0, 0
    for i in range(first, last):
        size += parts[i, END] - parts[i, BEGIN]
        for j in range(other, other_last):
            both = min(parts[i, END], parts[j, END]) - max(parts[i, BEGIN], parts[j, BEGIN])
            shared += max(0, both)
    for j in range(other, other_last):
        other_size += parts[j, END] - parts[j, BEGIN]
    return 2 * shared >= min(size, other_size)


@jit(part=True)
def append_hits(
    strands: tuple[Bytes, Bytes],
    anchors: Int64s,
    target: SearchText,
    rules: Rules,
    rows: HitRows,
    runs: Int64s,
    n: int,
    m: int,
) -> tuple[HitRows, Int64s, int, int]:
    """Append the hits along a chain behind n rows and m runs.

    Return the arrays, new if too small.
    """
    strand = anchors[0] >> 62
    query = strands[1] if strand else strands[0]
    i, j = at_anchor(anchors[0])
    record = np.searchsorted(target.records, j, "right") - 1
    bounds = (target.records[record], target.records[record + 1])
    text = target.codes[bounds[0] : bounds[1]]
    if anchors.size < SURE:
        run = score_ungapped(query, text, i, j - bounds[0], rules.costs, rules.drop)
        if run < rules.least_run:
            return rows, runs, n, m
    used, behind, costs = 0, (i64(0), bounds[0]), free_of_unknown(rules.costs)
    while used < anchors.size:
        if query.size <= SHORT:
            span = diagonals(anchors)
            score, own, there, path = align_whole(query, target.codes, bounds, span, rules.costs)
            count = anchors.size
        else:
            count, score, own, there, path = stretch(
                query, target.codes, bounds, anchors[used:], costs, rules.drop, behind
            )
            behind = own[1], there[1]
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


@jit(part=True)
def diagonals(anchors: Int64s) -> tuple[int, int]:
    """Return the lowest and the highest diagonal of the anchors of a chain."""
    i, j = at_anchor(anchors[0])
    low = high = j - i
    for anchor in anchors:
        i, j = at_anchor(anchor)
        low, high = min(low, j - i), max(high, j - i)
    return low, high
