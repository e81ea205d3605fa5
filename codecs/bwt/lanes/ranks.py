"""Runs of a Burrows-Wheeler string, and the ranks to which their symbols move in a list.

The list of a lane contains its symbols, the next one first. At the end of a run its symbol moves
back to the position of its next run: the rank, at least 1. Lists are words of 8 symbols, so that a
move within the first word is one masked shift. Ranks are computed backwards: Y. Yokoo's and E.
Binder's distance coding as in libbsc's QLFC. SPEC.md, "Lanes and lists".
"""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.arrays import Bytes, Int32s, Int64, Int64s, UInt64, UInt64s
from gangsaw.codecs.core.numba.bits import trailing_zeros
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.words import load_le64

LIST_WORDS = 32  # words of 8 symbols
U = np.uint64
EIGHT, BYTE_MASK = U(8), U(255)
ONES, HIGHS, ALL = U(0x0101010101010101), U(0x8080808080808080), U(0xFFFFFFFFFFFFFFFF)


@jit(inline=True, part=True, norefs=True)
def find_symbol(word: np.uint64, symbol: np.uint64) -> int:
    """Return the position of a symbol among the eight bytes of a word; 8 if it is not there."""
    difference = word ^ (symbol * ONES)
    same = (difference - ONES) & ~difference & HIGHS
    return trailing_zeros(same) >> 3 if same else 8


@jit(inline=True, part=True, norefs=True)
def moved_back(word: np.uint64, rank: Int64 | UInt64) -> np.uint64:
    """Return a word of eight list items with its first symbol moved back to position `rank` < 8."""
    shift = U(rank) << U(3)
    mask = ALL >> (U(56) - shift)
    return (word & mask) >> EIGHT | (word & BYTE_MASK) << shift | word & ~mask


@jit(inline=True, part=True, norefs=True)
def move_back(words: UInt64s, first: UInt64, rank: UInt64) -> None:
    """Move the first symbol of a list, words[first:first + LIST_WORDS], back to position `rank`."""
    word = words[first]
    if rank < 8:
        words[first] = moved_back(word, rank)
        return
    symbol, last = word & BYTE_MASK, first + (rank >> 3)
    for i in range(first, last):
        following = words[i + 1]
        words[i] = word >> EIGHT | following << U(56)
        word = following
    words[last] = moved_back((word & ~BYTE_MASK) | symbol, rank & 7)


@jit(inline=True, part=True, norefs=True)
def move_to_front(words: UInt64s, head: np.uint64, symbol: np.uint64) -> tuple[np.uint64, int]:
    """Move a symbol to the front of a list; return the first word and the symbol's old position.

    words : (LIST_WORDS,) uint64, eight symbols each
    head : the first word, kept apart from `words`
    """
    place = find_symbol(head, symbol)
    if place < 8:
        mask = ALL >> (U(56) - (U(place) << U(3)))
        return (head & mask >> EIGHT) << EIGHT | symbol | head & ~mask, place
    carried, i = head >> U(56), 1
    place = find_symbol(words[1], symbol)
    while place == 8 and i < LIST_WORDS - 1:
        word = words[i]
        words[i] = word << EIGHT | carried
        carried, i = word >> U(56), i + 1
        place = find_symbol(words[i], symbol)
    mask = ALL >> (U(56) - (U(place) << U(3)))
    words[i] = (words[i] & mask >> EIGHT) << EIGHT | carried | words[i] & ~mask
    return head << EIGHT | symbol, 8 * i + place


@jit
def split_runs(bwt: Bytes, symbols: Bytes, lengths: Int32s) -> int:
    """Split a string into runs of equal bytes: fill symbols and lengths; return their number."""
    i, runs = 0, 0
    while i < bwt.size:
        first, symbol = i, bwt[i]
        pattern, differs = U(symbol) * ONES, U(0)
        while i + 8 <= bwt.size and differs == 0:
            differs = load_le64(bwt, i) ^ pattern
            i += trailing_zeros(differs) >> 3 if differs else 8
        while differs == 0 and i < bwt.size and bwt[i] == symbol:
            i += 1
        symbols[runs], lengths[runs] = symbol, i - first
        runs += 1
    return runs


@jit
def rank_runs(symbols: Bytes, words: UInt64s, ranks: Bytes) -> None:
    """Fill the move-to-front rank of each run; 0 if its symbol has no later run.

    It is the number of distinct symbols until the next run of the same symbol.

    Parameters
    ----------
    symbols : (m,) uint8, no two neighbours are the same
    words : (LIST_WORDS,) uint64, list of all 256 symbols in order; it is changed
    """
    seen = np.zeros(256, np.bool_)
    head = words[0]
    for run in range(symbols.size - 1, -1, -1):
        symbol = symbols[run]
        head, rank = move_to_front(words, head, U(symbol))
        ranks[run] = rank if seen[symbol] else 0
        seen[symbol] = True


@jit
def begin_lists(symbols: Bytes, starts: Int64s, ranks: Bytes, lists: Bytes, sizes: Int64s) -> None:
    """Fill the symbol list of each lane, and the rank of each symbol's last run in its lane.

    That rank is the last position of the list, at least 1.

    Parameters
    ----------
    starts : (n_lanes + 1,) int64, the first run of each lane
    lists : (n_lanes, 256) uint8, filled with symbols by first occurrence
    sizes : (n_lanes,) int64, filled with the number of symbols of each lane
    """
    last = np.empty(256, np.int64)
    for lane in range(starts.size - 1):
        last[:] = -1
        size = 0
        for run in range(starts[lane], starts[lane + 1]):
            symbol = symbols[run]
            if last[symbol] < 0:
                lists[lane, size] = symbol
                size += 1
            last[symbol] = run
        for i in range(size):
            ranks[last[lists[lane, i]]] = max(1, size - 1)
        sizes[lane] = size
