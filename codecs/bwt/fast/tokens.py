"""Conversion of lanes to tokens: one symbol with context for each run's rank and each length."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.bwt.fast.symbols import (
    STEP,
    TOKENS,
    WIDTH,
    length_context,
    number_to_symbol,
    rank_context,
    symbols_of,
    update_symbol_state,
)
from gangsaw.codecs.bwt.lanes.cut import RunLanes
from gangsaw.codecs.core.arrays import Int64s, UInt16s
from gangsaw.codecs.core.numba.jit import jit

U = np.uint64
SMALL = symbols_of(1 << 10)  # symbols of most numbers


class RunTokens(NamedTuple):
    """Symbols of the runs of a block for rANS, each with its context.

    Attributes
    ----------
    ranks, lengths : (m,) uint16, token of each run's rank and length: context * WIDTH + symbol
    counts : (2, TOKENS) int64, counts of rank tokens and of length tokens
    """

    ranks: npt.NDArray[np.uint16]
    lengths: npt.NDArray[np.uint16]
    counts: npt.NDArray[np.int64]


def tokenise_lanes(lanes: RunLanes) -> RunTokens:
    """Convert the runs of all lanes to tokens."""
    ranks, lengths = np.empty((2, lanes.symbols.size), np.uint16)
    counts = np.zeros((2, TOKENS), np.int64)
    tokenise(lanes, ranks, lengths, counts[0], counts[1])
    return RunTokens(ranks, lengths, counts)


@jit
def tokenise(
    lanes: RunLanes, ranks: UInt16s, lengths: UInt16s, rank_counts: Int64s, length_counts: Int64s
) -> None:
    """Fill the tokens of all lanes, and their counts; see `RunTokens`."""
    symbol_states = np.empty(256, np.uint8)
    for lane in range(lanes.sizes.size):
        symbol_states[:] = 0
        smoothed = U(0)
        for run in range(lanes.starts[lane], lanes.starts[lane + 1]):
            symbol = lanes.symbols[run]
            symbol_state = symbol_states[symbol]
            rank = U(SMALL[U(lanes.ranks[run]) - U(1)])
            value = U(lanes.lengths[run] - 1)
            length = U(SMALL[value]) if value < U(SMALL.size) else U(number_to_symbol(value))
            token = rank_context(smoothed, symbol_state) * U(WIDTH) + rank
            ranks[run] = token
            rank_counts[token] += 1
            token = length_context(symbol_state, rank) * U(WIDTH) + length
            lengths[run] = token
            length_counts[token] += 1
            smoothed += U((np.int64(STEP[rank]) - np.int64(smoothed)) >> 2)
            symbol_states[symbol] = update_symbol_state(symbol_state, rank, length)
