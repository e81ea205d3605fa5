"""Mates: the length of their fragments, and the hits of two mates that belong together.

Mates of a fragment face each other: the mate on the genome's forward strand lies before the other
one. The length of fragments is estimated from mates with a unique best hit each. As in BWA-MEM (H.
Li, 2013) a pair of hits at such a distance has a higher score.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bools, Int64s
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.genomics.align.search.hits import HitRow, HitRows

LEAST_PAIRS = 32  # for an estimate of the length of fragments
USUAL = 1000  # maximum of bases per fragment without an estimate
LONGEST = 10_000
SPREAD = 3  # multiple of the interquartile range
RECORD, STRAND, THERE, THERE_END = range(4)
PAIR_MATCHES = 17  # score of a pair in matches, as in BWA-MEM


class Insert(NamedTuple):
    """Lengths of fragments in bases, from the first base of one mate to the last of the other.

    Attributes
    ----------
    least, most : range of lengths of a proper pair
    """

    least: int
    most: int


def insert_of(rows: npt.NDArray[np.void], n_queries: int) -> Insert:
    """Estimate the length range of fragments from the hits of mates, queries 2i and 2i + 1."""
    best = _only_best(rows, n_queries)
    first, second = best[0::2], best[1::2]
    is_both = (first >= 0) & (second >= 0)
    one, two = rows[first[is_both]], rows[second[is_both]]
    faces = (one["strand"] != two["strand"]) & (one["record"] == two["record"])
    one, two = one[faces], two[faces]
    ahead, behind = (np.where(one["strand"] == s, one["there"], two["there"]) for s in (0, 1))
    ends = np.where(one["strand"] == 1, one["there_end"], two["there_end"])
    sizes = (ends - ahead)[(ahead <= behind) & (ends - ahead < LONGEST)]
    if sizes.size < LEAST_PAIRS:
        return Insert(1, USUAL)
    low, high = (int(x) for x in np.quantile(sizes, (0.25, 0.75)))
    spread = SPREAD * max(10, high - low)
    return Insert(max(1, low - spread), high + spread)


def _only_best(rows: npt.NDArray[np.void], n_queries: int) -> npt.NDArray[np.int64]:
    """Return the row of each query's best hit, -1 without a hit or with several that are best."""
    best = np.full(n_queries, -1, np.int64)
    np.maximum.at(best, rows["query"], rows["score"])
    is_best = rows["score"] == best[rows["query"]]
    times = np.bincount(rows["query"][is_best], minlength=n_queries)
    found = np.full(n_queries, -1, np.int64)
    found[rows["query"][is_best]] = np.flatnonzero(is_best)
    return np.where(times == 1, found, -1)


@jit
def face(
    one: tuple[int, int, int, int], two: tuple[int, int, int, int], least: int, most: int
) -> bool:
    """Return True if two hits face each other at a distance of `least` to `most`: a proper pair.

    A hit is (record, strand, there, there_end), as in HIT.
    """
    if one[RECORD] != two[RECORD] or one[STRAND] == two[STRAND]:
        return False
    size = one[THERE_END] - two[THERE] if one[STRAND] else two[THERE_END] - one[THERE]
    return least <= size <= most


@jit(part=True)
def position_fields(row: HitRow) -> tuple[int, int, int, int]:
    """Return record, strand and both ends of a hit, as `face` takes them."""
    return row.record, row.strand, row.there, row.there_end


@jit
def paired_scores(rows: HitRows, least: int, most: int, bonus: int, out: Int64s) -> None:
    """Set out[i] to the score of hit i plus a bonus for a mate at a proper distance.

    Hits are sorted by query. If a better mate lies elsewhere, the bonus is reduced, down to 0.
    """
    begin = 0
    while begin < rows.size:
        middle, end = find_mate_ends(rows, begin)
        of_first, of_second = highest(rows, begin, middle), highest(rows, middle, end)
        for i in range(begin, end):
            out[i] = rows[i].score
        for i in range(begin, middle):
            for j in range(middle, end):
                if face(position_fields(rows[i]), position_fields(rows[j]), least, most):
                    both = rows[i].score + rows[j].score + bonus
                    out[i] = max(out[i], both - of_second)
                    out[j] = max(out[j], both - of_first)
        begin = end


@jit
def mark_alone(rows: HitRows, least: int, most: int, out: Bools) -> None:
    """Set out[i] to True if hit i is the best of its query and has no mate at a proper distance."""
    begin = 0
    while begin < rows.size:
        middle, end = find_mate_ends(rows, begin)
        of_first, of_second = highest(rows, begin, middle), highest(rows, middle, end)
        for i in range(begin, end):
            out[i] = rows[i].score == (of_first if i < middle else of_second)
        for i in range(begin, middle):
            for j in range(middle, end):
                if face(position_fields(rows[i]), position_fields(rows[j]), least, most):
                    out[i] = out[j] = False
        begin = end


@jit(part=True)
def find_mate_ends(rows: HitRows, begin: int) -> tuple[int, int]:
    """Return the end rows of the hits of two mates; those of the first begin at row `begin`."""
    pair, middle = rows[begin].query >> 1, begin
    while middle < rows.size and rows[middle].query == 2 * pair:
        middle += 1
    end = middle
    while end < rows.size and rows[end].query == 2 * pair + 1:
        end += 1
    return middle, end


@jit(part=True)
def highest(rows: HitRows, begin: int, end: int) -> int:
    """Return the maximal score of rows `begin` to `end` - 1."""
    best = 0
    for i in range(begin, end):
        best = max(best, rows[i].score)
    return best
