"""Anchors: k-mers that a query and the genome share, on either strand.

An anchor is one word; words sort by strand, position in the genome, position in the query. On the
reverse strand, positions are those in the query's reverse complement, so that both grow along an
alignment.
"""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.arrays import Int64, Int64s, UInt32s
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.genomics.align.search.seeds.index import PLACE_MASK, PlaceIndex, look_up
from gangsaw.tasks.genomics.align.search.seeds.minimizers import Minimizers

QUERY_BITS = 30
QUERY_MASK = (1 << QUERY_BITS) - 1
STRAND_BIT = 62
MOST_ANCHORS = 1 << 22  # maximum per query: 32 MiB, and as much again for their chains
FIRST, END = range(2)  # columns of a run of entries of the index
FEW = 32  # maximum of words for insertion sort
SAMPLE = 1 << 12  # anchors of a query whose minimizers have too many positions
SAME = 16  # maximum per minimizer in a query: enough for the length of a homopolymer
MANY = 10  # positions in query and in genome from which on a minimizer is a repeat
BARE = 2000  # bases of a query without a seed before a repeat's minimizer is used


@jit(part=True)
def find_seed_anchors(
    index: PlaceIndex, found: Minimizers, length: int, k: int, most_positions: int, is_long: bool
) -> Int64s:
    """Return the sorted anchors (n,) int64 of a query's minimizers: positions shared with a genome.

    Minimizers with more than `most_positions` positions are left out; the limit is halved while
    there are too many anchors. In a long query minimizers of repeats are left out, too.
    """
    n = found.hashes.size
    runs = np.empty((n, 2), np.int64)
    for i in range(n):
        runs[i, FIRST], runs[i, END] = look_up(index, found.hashes[i])
    if is_long:
        thin_repeats(found, runs, most_positions)
    total = n_within(runs, most_positions)
    while total > MOST_ANCHORS and most_positions > 1:
        most_positions //= 2
        total = n_within(runs, most_positions)
    anchors = np.empty(total, np.int64)
    at = 0
    for i in range(n):
        if runs[i, END] - runs[i, FIRST] <= most_positions:
            for j in range(runs[i, FIRST], runs[i, END]):
                place = np.int64(index.entries[j] & np.uint64(PLACE_MASK))
                anchors[at] = anchor(found.positions[i], place, length, k)
                at += 1
    sort_words(anchors)
    return anchors


@jit(part=True)
def thin_repeats(found: Minimizers, runs: Int64s, most_positions: int) -> None:
    """Drop minimizers that are frequent in query and genome, but one per BARE bases without seeds.

    A tandem repeat of n copies has n^2 anchors for each minimizer of its unit. They add nothing to
    the anchors on both sides of it.
    """
    n, m = found.hashes.size, 0
    words = np.empty(n, np.int64)
    for i in range(n):
        if MANY <= runs[i, END] - runs[i, FIRST] <= most_positions:
            words[m] = np.int64(found.hashes[i]) << 32 | i
            m += 1
    words = words[:m]
    sort_words(words)
    is_many, first = np.zeros(n, np.bool_), 0
    for at in range(m):
        if words[at] >> 32 != words[first] >> 32:
            first = at
        if at - first == MANY - 1:
            for before in range(first, at):
                is_many[words[before] & 0xFFFFFFFF] = True
        if at - first >= MANY - 1:
            is_many[words[at] & 0xFFFFFFFF] = True
    last = 0
    for i in range(n):
        is_bare = found.positions[i] >> 1 >= last + BARE
        if is_many[i] and not is_bare:
            runs[i, END] = runs[i, FIRST]
        elif 0 < runs[i, END] - runs[i, FIRST] <= most_positions:
            last = found.positions[i] >> 1


@jit(part=True)
def sample_anchors(
    index: PlaceIndex, found: Minimizers, length: int, k: int, most_positions: int
) -> Int64s:
    """Return sorted anchors (n,) int64 at a sample of the positions of a query's minimizers.

    It includes minimizers with more than `most_positions` positions, by their first positions. Of a
    minimizer that is frequent in the query, only the first occurrences count, so that copies of a
    repeat keep all of their minimizers. If no minimizer has too many positions, there are no
    anchors.
    """
    n = min(found.hashes.size, SAMPLE)
    runs, used = np.empty((n, 2), np.int64), 0
    has_many = False
    for i in range(n):
        low, high = look_up(index, found.hashes[i])
        has_many = has_many or high - low > most_positions
        is_used = high > low and n_before(found.hashes, i) < SAME
        runs[i, FIRST], runs[i, END] = low, high if is_used else low
        used += 1 if is_used else 0
    anchors, at = np.empty(SAMPLE if has_many else 0, np.int64), 0
    if has_many:
        most = max(1, SAMPLE // used)
        for i in range(n):
            for j in range(runs[i, FIRST], min(runs[i, END], runs[i, FIRST] + most)):
                place = np.int64(index.entries[j] & np.uint64(PLACE_MASK))
                anchors[at] = anchor(found.positions[i], place, length, k)
                at += 1
    anchors = anchors[:at]
    sort_words(anchors)
    return anchors


@jit(part=True)
def n_before(hashes: UInt32s, i: int) -> int:
    """Return the number of hashes before index i that equal hash i."""
    same = 0
    for j in range(i):
        same += hashes[j] == hashes[i]
    return same


@jit(part=True)
def n_within(runs: Int64s, most_positions: int) -> int:
    """Return the number of genome positions of minimizers with at most `most_positions` of them."""
    total = 0
    for i in range(runs.shape[0]):
        own = runs[i, END] - runs[i, FIRST]
        total += own if own <= most_positions else 0
    return total


@jit(part=True)
def anchor(query: int, place: Int64, length: int, k: int) -> Int64:
    """Return the anchor word of positions in query and genome, both encoded as in `Minimizers`."""
    is_back = (query ^ place) & 1
    own = query >> 1
    if is_back:
        own = length - k - own
    return is_back << STRAND_BIT | (place >> 1) << QUERY_BITS | own


@jit(part=True)
def sort_words(words: Int64s) -> None:
    """Sort int64 words in place."""
    if words.size > FEW:
        words.sort()
        return
    for i in range(1, words.size):
        word, j = words[i], i
        while j > 0 and words[j - 1] > word:
            words[j] = words[j - 1]
            j -= 1
        words[j] = word
