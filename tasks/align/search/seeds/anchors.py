"""Anchors: k-mers that a query and the genome share, on either strand.

An anchor is one word, so that they are sorted by strand, place in the genome, place in the query.
On the other strand places are those in the query's reverse complement, so that both grow along an
alignment.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.numba.jit import jit_part
from gangsaw.tasks.align.search.seeds.index import PLACE_MASK, PlaceIndex, look_up
from gangsaw.tasks.align.search.seeds.minimizers import Minimizers

QUERY_BITS = 30
QUERY_MASK = (1 << QUERY_BITS) - 1
STRAND_BIT = 62
MOST_ANCHORS = 1 << 22  # of a query: 32 MiB, and as much again for their chains
FIRST, END = range(2)  # of a run of entries of the index
FEW = 32  # so many are sorted by insertion
SAMPLE = 1 << 12  # anchors of a query whose minimizers have too many places
SAME = 16  # of one minimizer in a query: a run of one letter still tells its length


@jit_part
def anchors_of(index: PlaceIndex, found: Minimizers, length: int, k: int, most_places: int) -> Any:
    """Return the sorted anchors (n,) int64 of the minimizers of a query of some length.

    Minimizers with more than `most_places` places are left out; there are fewer places where the
    anchors would be too many.
    """
    n = found.hashes.size
    runs = np.empty((n, 2), np.int64)
    for i in range(n):
        runs[i, FIRST], runs[i, END] = look_up(index, found.hashes[i])
    total = n_within(runs, most_places)
    while total > MOST_ANCHORS and most_places > 1:
        most_places //= 2
        total = n_within(runs, most_places)
    anchors = np.empty(total, np.int64)
    at = 0
    for i in range(n):
        if runs[i, END] - runs[i, FIRST] <= most_places:
            for j in range(runs[i, FIRST], runs[i, END]):
                place = np.int64(index.entries[j] & np.uint64(PLACE_MASK))
                anchors[at] = anchor(found.places[i], place, length, k)
                at += 1
    sort_words(anchors)
    return anchors


@jit_part
def sample_of(index: PlaceIndex, found: Minimizers, length: int, k: int, most_places: int) -> Any:
    """Return sorted anchors (n,) int64 of minimizers of which some have more than `most_places`.

    The first places of each, and the first of those that a query has many times, so that copies of
    a repeat keep all of their minimizers. Where none has too many places there are no anchors.
    """
    n = min(found.hashes.size, SAMPLE)
    runs, used = np.empty((n, 2), np.int64), 0
    has_many = False
    for i in range(n):
        low, high = look_up(index, found.hashes[i])
        has_many = has_many or high - low > most_places
        is_used = high > low and n_before(found.hashes, i) < SAME
        runs[i, FIRST], runs[i, END] = low, high if is_used else low
        used += 1 if is_used else 0
    anchors, at = np.empty(SAMPLE if has_many else 0, np.int64), 0
    if has_many:
        most = max(1, SAMPLE // used)
        for i in range(n):
            for j in range(runs[i, FIRST], min(runs[i, END], runs[i, FIRST] + most)):
                place = np.int64(index.entries[j] & np.uint64(PLACE_MASK))
                anchors[at] = anchor(found.places[i], place, length, k)
                at += 1
    anchors = anchors[:at]
    sort_words(anchors)
    return anchors


@jit_part
def n_before(hashes: Any, i: int) -> int:
    """Return how many hashes before number i equal it."""
    same = 0
    for j in range(i):
        same += hashes[j] == hashes[i]
    return same


@jit_part
def n_within(runs: Any, most_places: int) -> int:
    """Return how many places there are of minimizers that have not too many."""
    total = 0
    for i in range(runs.shape[0]):
        own = runs[i, END] - runs[i, FIRST]
        total += own if own <= most_places else 0
    return total


@jit_part
def anchor(query: int, place: Any, length: int, k: int) -> Any:
    """Return the word of places as `Minimizers` has them, of a query of this length."""
    is_back = (query ^ place) & 1
    own = query >> 1
    if is_back:
        own = length - k - own
    return is_back << STRAND_BIT | (place >> 1) << QUERY_BITS | own


@jit_part
def sort_words(words: Any) -> None:
    """Sort words in place."""
    if words.size > FEW:
        words.sort()
        return
    for i in range(1, words.size):
        word, j = words[i], i
        while j > 0 and words[j - 1] > word:
            words[j] = words[j - 1]
            j -= 1
        words[j] = word
