"""Ungapped extension on packed bytes (Satyanvesh, Kaliuday and Baruah, 2015), by words.

From a pair of 4-mers on, forwards or backwards: score = high = 0. For each pair, if score > high -
8: partial = score + equal bases before the first mismatch, a new high if it is above; else, if high
- score >= brink: stop. Then score += value. The difference is at least 8 at that check, so a brink
below 8 counts as 8.

Value "B", 2 * equal bases - 4: a word of 32 bases with X mismatches cannot stop if bound - score +
X < brink, for an upper bound of the high. So whole words are added, and single pairs are visited
only where a stop is possible, and once more for the position of the high. A word of equal bases
above the bound is a restart position for that.

Value "A", the number of equal bases: the score never falls behind the high, so nothing stops. The
high lies behind the last pair that begins with equal bases, or at that.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gangsaw.codecs.core.arrays import Int64s
from gangsaw.codecs.core.numba.bits import count_ones, leading_zeros, trailing_zeros
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.genomics.align.packed.bases import four_bases, unequal_bases, word_of_bases
from gangsaw.tasks.genomics.align.sets.pairs import Codes

# columns of the results of a seed: sum of both highs, bases to each, forwards and backwards
SCORE, AHEAD, BACK = range(3)
FOUND = 3
LEAST_BRINK = 8
WORD = 32  # bases
FOURS = 8  # 4-mers of a word
APART = 16  # words between restart positions: recording each would cost an unpredictable branch


class Strand(NamedTuple):
    """One direction of an extension: query and target from a pair of positions on.

    Attributes
    ----------
    query, target : (bytes,) uint8, packed bases
    query_at, target_at : positions of the seed, where the extension begins
    pairs : number of 4-mers that both have from there on
    step : 1 forwards, -1 backwards
    """

    query: Codes
    target: Codes
    query_at: int
    target_at: int
    pairs: int
    step: int


class Extended(NamedTuple):
    """State of an extension without gaps, before a pair of 4-mers.

    Attributes
    ----------
    pair : number of this pair of 4-mers
    score, high : score before it, and highest score so far
    length : bases up to the highest score
    stopped : True if the extension stops here
    """

    pair: int
    score: int
    high: int
    length: int
    stopped: bool


@jit(inline=True, part=True, norefs=True)
def _unequal_word(strand: Strand, pair: int) -> np.uint64:
    """Return a mask of unequal bases in 8 pairs of 4-mers, as `_unequal`; all 8 must exist."""
    behind = 4 * pair if strand.step > 0 else -4 * pair - WORD
    ours = word_of_bases(strand.query, strand.query_at + behind)
    return unequal_bases(ours ^ word_of_bases(strand.target, strand.target_at + behind))


@jit(inline=True, part=True, norefs=True)
def _unequal(strand: Strand, pair: int) -> np.uint64:
    """Return a mask of unequal bases in 8 pairs of 4-mers; pairs behind the end are 0.

    Forwards the first pair is in the highest bits, backwards in the lowest.
    """
    if pair + FOURS <= strand.pairs:
        return _unequal_word(strand, pair)
    word = np.uint64(0)
    for i in range(strand.pairs - pair):
        behind = 4 * (pair + i) if strand.step > 0 else -4 * (pair + i) - 4
        ours = four_bases(strand.query, strand.query_at + behind)
        differ = np.uint64(ours ^ four_bases(strand.target, strand.target_at + behind))
        word |= differ << np.uint64(56 - 8 * i if strand.step > 0 else 8 * i)
    return unequal_bases(word)


@jit(inline=True, part=True, norefs=True)
def _equal_first(unequal: np.uint64, step: int) -> Any:
    """Return the number of equal bases before the first mismatch in the first pair of 4-mers."""
    if step > 0:
        return min(4, np.int64(leading_zeros(unequal)) >> 1)
    return min(4, trailing_zeros(unequal | np.uint64(1 << 63)) >> 1)  # "Leftmatch"


@jit(inline=True, part=True, norefs=True)
def _first(unequal: np.uint64, step: int) -> np.uint64:
    return unequal >> np.uint64(56) if step > 0 else unequal & np.uint64(0xFF)


@jit(inline=True, part=True, norefs=True)
def _others(unequal: np.uint64, step: int) -> np.uint64:
    return unequal << np.uint64(8) if step > 0 else unequal >> np.uint64(8)


@jit(part=True, norefs=True)
def by_pairs(strand: Strand, state: Extended, end: int, brink: int, is_b: bool) -> Extended:
    """Extend pair by pair of 4-mers, from a state to pair `end` or to its stop.

    A pair counts 2 * equal bases - 4 if `is_b`, else the number of equal bases.
    """
    pair, score, high, length, _ = state
    while pair < end:
        unequal = _unequal(strand, pair)
        for _ in range(min(FOURS, end - pair)):
            if score > high - LEAST_BRINK:
                partial = score + _equal_first(unequal, strand.step)
                if partial > high:
                    high, length = partial, 4 * pair + partial - score
            elif high - score >= brink:
                return Extended(pair, score, high, length, True)
            matches = 4 - count_ones(_first(unequal, strand.step))
            score += 2 * matches - 4 if is_b else matches
            unequal = _others(unequal, strand.step)
            pair += 1
    return Extended(pair, score, high, length, False)


@jit(norefs=True)
def by_words(strand: Strand, brink: int) -> Extended:
    """Extend as `by_pairs` over all pairs with values 2 * equal bases - 4, by words of 32 bases.

    `brink` is 8 or more.
    """
    state = Extended(0, 0, 0, 0, False)
    score = bound = word = 0
    begin = APART
    while word < strand.pairs // FOURS:
        unequal = count_ones(_unequal_word(strand, FOURS * word))
        if bound - score + unequal >= brink:
            state = by_pairs(strand, state, FOURS * (word + 1), brink, True)
            if state.stopped:
                return state
            score, bound, begin = state.score, state.high, word + APART
        elif word >= begin and unequal == 0 and score + WORD > bound:
            score += WORD
            bound, begin = score, word + APART
            state = Extended(FOURS * (word + 1), score, score, WORD * (word + 1), False)
        else:
            bound = max(bound, score + WORD - unequal)
            score += WORD - 2 * unequal
        word += 1
    return by_pairs(strand, state, strand.pairs, brink, True)


@jit(part=True, norefs=True)
def by_counts(strand: Strand, brink: int) -> Extended:
    """Extend as `by_pairs` over all pairs with values that are equal bases, by bit counts."""
    score = 4 * strand.pairs
    for word in range((strand.pairs + FOURS - 1) // FOURS):
        score -= count_ones(_unequal(strand, FOURS * word))
    pair, equal = strand.pairs, 0
    while pair > 0 and equal == 0:
        pair -= 1
        unequal = _unequal(strand, pair)
        score -= 4 - count_ones(_first(unequal, strand.step))
        equal = _equal_first(unequal, strand.step)
    # earlier highs are at most this score, and the pair's own is above it
    return by_pairs(strand, Extended(pair, score, score, 0, False), strand.pairs, brink, False)


class Bases(NamedTuple):
    """Sequences and rule of extensions without gaps.

    Attributes
    ----------
    query, target : (bytes,) uint8, packed bases
    query_bases, target_bases : numbers of bases
    brink : fall of the score below the highest one at which extensions stop, 8 or more
    is_b : 1 if a pair of 4-mers counts 2 * equal bases - 4, 0 if it counts equal bases
    """

    query: Codes
    target: Codes
    query_bases: int
    target_bases: int
    brink: int
    is_b: int


@jit(norefs=True)
def extend(bases: Bases, seeds: Int64s, found: Int64s) -> None:
    """Extend each seed in both directions.

    Parameters
    ----------
    seeds : (n, 2) int64, positions in query and target
    found : (n, FOUND) int64, gets the sum of the highest scores of both directions, and the
        bases up to each
    """
    for i in range(len(seeds)):
        at, target_at = seeds[i]
        left = min(bases.query_bases - at, bases.target_bases - target_at) // 4
        ahead = _one_way(Strand(bases.query, bases.target, at, target_at, left, 1), bases)
        before = min(at, target_at) // 4
        back = _one_way(Strand(bases.query, bases.target, at, target_at, before, -1), bases)
        found[i, SCORE] = ahead.high + back.high
        found[i, AHEAD], found[i, BACK] = ahead.length, back.length


@jit(inline=True, part=True, norefs=True)
def _one_way(strand: Strand, bases: Bases) -> Extended:
    if bases.is_b:
        return by_words(strand, bases.brink)
    return by_counts(strand, bases.brink)
