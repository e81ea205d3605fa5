"""Lanes to tokens: a symbol in its context for the rank of each run, and one for its length."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.bwt.fast.symbols import (
    EXACT,
    STEP,
    TOKENS,
    WIDTH,
    after,
    bits_below,
    length_context,
    rank_context,
    symbol_of,
)
from gangsaw.codecs.bwt.lanes.cut import Lanes
from gangsaw.codecs.core.numba.jit import jit


class Tokens(NamedTuple):
    """What the runs of a block say.

    Attributes
    ----------
    ranks, lengths : (m,) uint16, context * WIDTH + symbol, of each run
    counts : (2, TOKENS) int64, of tokens of each kind
    words : (n_lanes,) int64, words of 16 bits that a lane takes at most
    bits : bits below symbols, of all
    """

    ranks: npt.NDArray[np.uint16]
    lengths: npt.NDArray[np.uint16]
    counts: npt.NDArray[np.int64]
    words: npt.NDArray[np.int64]
    bits: int


def tokens_of(lanes: Lanes) -> Tokens:
    """Return the tokens of lanes."""
    ranks, lengths = np.empty((2, lanes.symbols.size), np.uint16)
    counts, words = np.zeros((2, TOKENS), np.int64), np.zeros(lanes.sizes.size, np.int64)
    bits = tokenise(lanes, ranks, lengths, counts[0], counts[1], words)
    return Tokens(ranks, lengths, counts, words, int(bits))


@jit
def tokenise(
    lanes: Any, ranks: Any, lengths: Any, rank_counts: Any, length_counts: Any, words: Any
) -> int:
    """Fill the tokens of lanes, see `Tokens`; return the bits below them."""
    habits, bits = np.empty(256, np.uint8), 0
    for lane in range(words.size):
        habits[:] = 0
        smoothed, more = 0, 0
        for run in range(lanes.starts[lane], lanes.starts[lane + 1]):
            symbol = lanes.symbols[run]
            habit = habits[symbol]
            rank = symbol_of(np.int64(lanes.ranks[run]) - 1)
            length = symbol_of(np.int64(lanes.lengths[run]) - 1)
            token = rank_context(smoothed, habit) * np.uint64(WIDTH) + np.uint64(rank)
            ranks[run] = token
            rank_counts[token] += 1
            token = length_context(habit, rank) * np.uint64(WIDTH) + np.uint64(length)
            lengths[run] = token
            length_counts[token] += 1
            if rank >= EXACT:
                bits += bits_below(rank)
                more += 1
            if length >= EXACT:
                bits += bits_below(length)
                more += 2
            smoothed += (STEP[rank] - smoothed) >> 2
            habits[symbol] = after(habit, rank, length)
        words[lane] = 2 * (lanes.starts[lane + 1] - lanes.starts[lane]) + more + 2
    return bits
