"""Segments of all D genes in references without wildcards, by lookup of words."""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.numba.bits import trailing_zeros
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.integers import load, static, store
from gangsaw.tasks.tcr.counting.kernels.d_words import (
    GROUP,
    LONG,
    OF_LENGTH,
    SHORT,
    SHORT_WORDS,
    SHORTER,
    WORDS,
)
from gangsaw.tasks.tcr.counting.kernels.stages.match import (
    NOTHING,
    ONE,
    list_longer_at,
    list_short,
    update_longest,
)
from gangsaw.tasks.tcr.counting.kernels.tables import WORD
from gangsaw.tasks.tcr.model import MAX_LENGTH

COUNTS = static(SHORT)


@jit(part=True, norefs=True)
def find_words(symbols: Any, length: int, n_d: int, long_holders: Any, scratch: Any) -> None:
    """Fill scratch.words[b] with the last LONG symbols before b, and list their hits in D genes.

    scratch.hits[gene * MAX_LENGTH :] gets the boundaries b at which a segment of LONG symbols of
    the gene ends, in ascending order; n_hits[gene] gets their number.
    """
    words, hits, n_hits = scratch.words, scratch.hits, scratch.n_hits
    n_hits[:n_d] = 0
    word = np.int64(0)
    for b in range(1, length + 1):
        code = np.int64(symbols[b - 1])
        word = (word << 2 | (code >> 1) - (code >> 3)) & (WORDS - 1)
        words[b] = word
        if b < LONG:
            continue
        for first in range(0, n_d, GROUP):
            holders = long_holders[(first // GROUP) * WORDS + word]
            while holders != NOTHING:
                gene = first + trailing_zeros(holders)
                n = n_hits[gene]
                hits[gene * MAX_LENGTH + n] = b
                n_hits[gene] = n + 1
                holders &= holders - ONE


@jit(inline=True, part=True, norefs=True)
def look_up_d(
    symbols: Any, length: int, d: Any, of_words: Any, n_d: int, window: Any, scratch: Any
) -> Any:
    """Find segments of a D gene like find_pieces, from the words of find_words.

    `of_words` is (counts, ends, short_holders) of DWords; DP-1 passes both_counts as counts.
    """
    counts, ends, short_holders = of_words
    crossing = _look_up_short(length, d, counts, ends, n_d, window, scratch)
    n, crossing, longest = _extend_hits(symbols, d, window, crossing, scratch)
    if d[4] and longest[0] == 0:
        longest = _longest_short(length, d[1], short_holders, scratch.words)
    return n, crossing, longest[0], longest[1], longest[2]


@jit(inline=True, part=True, norefs=True)
def _look_up_short(
    length: int, d: Any, counts: Any, ends: Any, n_d: int, window: Any, scratch: Any
) -> int:
    """Copy the numbers of D segments of 1..SHORT symbols that end at each boundary.

    Segments that end in the palindrome of D are listed; return their number.
    """
    last_a, first_b = window
    crossing, word = 0, NOTHING
    last = min(length, last_a + SHORT)
    for b in range(max(1, first_b), last + 1):
        at = (np.int64(scratch.words[b]) & (SHORT_WORDS - 1)) * n_d + d[1]
        store(scratch.matches, b * SHORT, load(counts, at * SHORT, COUNTS))
        if d[4]:
            skipped = np.uint64(4 * max(0, b - 1 - last_a))
            missing = np.uint64(4 * max(0, SHORT - b))  # would begin before the reference
            own = (np.uint64(ends[at]) << missing & np.uint64(0xFFFF)) >> missing
            word |= (own >> skipped) << skipped << np.uint64(16 * (b & 3))
            if b & 3 == 3 or b == last:
                crossing = list_short(word, b & ~3, scratch.crossing, crossing)
                word = NOTHING
    return crossing


@jit(inline=True, part=True, norefs=True)
def _extend_hits(symbols: Any, d: Any, window: Any, crossing: int, scratch: Any) -> Any:
    """Extend each hit to the left, and list the D segments of LONG and more symbols.

    Return the numbers of longer and crossing segments, and the result of update_longest.
    """
    masks, gene = d[0], d[1]
    lists = (scratch.longer, scratch.crossing)
    numbers, longest = (0, crossing), (0, 0, 0)
    own = 16 * gene
    for k in range(scratch.n_hits[gene]):
        b: Any = np.int64(scratch.hits[gene * MAX_LENGTH + k])
        run = masks[own + symbols[b - 1]]
        for t in range(1, LONG):
            run &= masks[own + symbols[b - 1 - t]] << np.uint64(t)
        t = LONG
        while run != NOTHING:
            if b >= window[1] and b - t <= window[0]:
                numbers = list_longer_at(b - t, b, run, d, lists, numbers)
            t += 1
            if t > b or t > WORD:
                break
            run &= masks[own + symbols[b - t]] << np.uint64(t - 1)
        if t > LONG:
            longest = update_longest(t - 1, b, longest)
    return numbers[0], numbers[1], longest


@jit(part=True, norefs=True)
def _longest_short(length: int, gene: int, short_holders: Any, words: Any) -> Any:
    """Find the longest match of a D gene of at most SHORT symbols, as from update_longest."""
    group, bit = gene // GROUP * SHORTER, np.uint64(gene % GROUP)
    for t in range(min(SHORT, length), 0, -1):
        first, last = 0, 0
        at, shorter = group + OF_LENGTH[t], (1 << 2 * t) - 1
        for b in range(t, length + 1):
            if short_holders[at + (np.int64(words[b]) & shorter)] >> bit & ONE:
                first = b if first == 0 else first
                last = b
        if last:
            return t, first - t + 1, last
    return 0, 0, 0
