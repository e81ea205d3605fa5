"""Coder state of lanes within their runs, and contexts that select the counts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.bwt.dense.model import LANES, NOWHERE
from gangsaw.codecs.bwt.dense.tables import (
    AT_END,
    CLASSES,
    HISTORIES,
    HISTORY,
    HISTORY_BITS,
    LENGTH_NODES,
    LENGTH_SCALE,
    LENGTH_STATES,
    MOST_LENGTH_HISTORY,
    NODES,
    RANK_CLASSES,
    RANK_NODES,
    RANK_SCALE,
    RANK_STATES,
    WIDTH_BITS,
    tree,
)
from gangsaw.codecs.core.arrays import Int64, Int64s
from gangsaw.codecs.core.numba.bits import leading_zeros
from gangsaw.codecs.core.numba.jit import jit

Words = npt.NDArray[np.uint32]
Numbers = npt.NDArray[np.int64]

STATE_CLASSES, RANK_KINDS, HISTORY_KINDS, LENGTH_KINDS = 8, 6, 8, 3
assert RANK_STATES == STATE_CLASSES * HISTORY_KINDS * LENGTH_KINDS
assert LENGTH_STATES == STATE_CLASSES * HISTORY_KINDS * RANK_KINDS
# least symbols of a longest list with coded ranks: with two, the rank is always 1
FEWEST_RANKED = 3


class TokenTrees(NamedTuple):
    """Binary decision trees that code rank and length of each run of the transformed string.

    Attributes
    ----------
    rows : number of symbols in the block (each has a label), and one for no symbol
    has_ranks : True if ranks are coded; with two symbols all ranks are 1
    rank, length : root nodes of the trees of ranks and of lengths, as words of `places`
    places : (2 * n,) uint32, next node after each node and decision, from `tables.tree`
    """

    rows: int
    has_ranks: bool
    rank: int
    length: int
    places: Words


class LaneStates(NamedTuple):
    """Coder state of the lanes, which are parts of the transformed string; (LANES,) each.

    Attributes
    ----------
    place : uint32, current node in the decision tree of a rank or length
    state, symbol : uint32, offsets of the current counts: shared ones, and those of the symbol
    value : uint32, current rank or length in encoders; its bits so far in decoders
    own, weights : uint32, offset of the first of each lane's own counts, and of its mixing weights
    label, rank : int64, label of the symbol and rank of the current run
    ranks, lengths : int64, running averages over ranks and bit lengths of previous runs
    width : int64, floor(log2) of the previous run's length
    at, end : int64, index of the current byte (decoders) or run (encoders), and the lane's end
    histories : (n_lanes * rows,) uint8, per symbol: the width of its last rank in the high bits, a
        smoothed width of its lengths in the low bits
    alive : (1,) int64, number of lanes that have not ended
    """

    place: Words
    state: Words
    symbol: Words
    value: Words
    own: Words
    weights: Words
    label: Numbers
    rank: Numbers
    ranks: Numbers
    lengths: Numbers
    width: Numbers
    at: Numbers
    end: Numbers
    histories: npt.NDArray[np.uint8]
    alive: Numbers


def build_token_trees(sizes: Numbers, rows: int) -> TokenTrees:
    """Build the decision trees for a block.

    sizes : (n_lanes,) int64, symbols of each lane
    rows : symbols of the block plus 1
    """
    longest = max(2, int(sizes.max()))
    places, rank, length = tree(max(1, (longest - 1).bit_length() - 1))
    return TokenTrees(rows, longest >= FEWEST_RANKED, rank, length, places)


def start_lane_states(starts: Numbers, tokens: TokenTrees, sizes: Numbers) -> LaneStates:
    """Return the state of lanes before their first runs; a lane of one symbol codes nothing.

    starts : (n_lanes + 1,) int64, start of each lane, and the end
    sizes : (n_lanes,) int64, symbols of each lane
    """
    n_lanes, rows = sizes.size, tokens.rows
    place, state, symbol, value, own, weights = np.zeros((6, LANES), np.uint32)
    numbers = np.zeros((7, LANES), np.int64)
    label, rank, ranks, lengths, width, at, end = numbers
    histories, alive = np.zeros(n_lanes * rows, np.uint8), np.zeros(1, np.int64)
    lane_states = LaneStates(
        *(place, state, symbol, value, own, weights),
        *(label, rank, ranks, lengths, width, at, end),
        *(histories, alive),
    )
    lane_states.place[:] = AT_END
    lane_states.state[:], lane_states.symbol[:] = NOWHERE, (rows - 1) * NODES
    lane_states.own[:n_lanes] = np.arange(n_lanes) * rows * NODES
    lane_states.weights[:] = np.arange(LANES) * NODES
    lane_states.at[:n_lanes], lane_states.end[:n_lanes] = starts[:-1], starts[1:]
    lane_states.alive[0] = np.count_nonzero(sizes > 1)
    return lane_states


@jit
def begin_runs(
    lane_states: LaneStates,
    tokens: TokenTrees,
    sizes: Int64s,
    labels: Int64s,
    ranks: Int64s,
    lengths: Int64s,
) -> None:
    """Move each lane k of two or more symbols to its first run: labels[k], ranks[k], lengths[k]."""
    for k in range(sizes.size):
        if sizes[k] > 1:
            begin_run(lane_states, tokens, k, labels[k], ranks[k], lengths[k])


@jit(inline=True, part=True, norefs=True)
def begin_run(
    lane_states: LaneStates, tokens: TokenTrees, k: int, label: Int64, rank: Int64, length: Int64
) -> None:
    """Move lane k to its next run, at the root of the rank's decision tree.

    A decoder passes 1 for the unknown rank and length.
    """
    lane_states.label[k] = label
    lane_states.symbol[k] = label * NODES
    if not tokens.has_ranks:
        begin_length(lane_states, tokens, k, 1, length)
        return
    history = np.int64(lane_states.histories[k * tokens.rows + label]) >> HISTORY_BITS
    state = np.int64(CLASSES[lane_states.ranks[k]]) * HISTORY_KINDS + history
    state = state * LENGTH_KINDS + min(lane_states.width[k], LENGTH_KINDS - 1)
    lane_states.state[k] = state * RANK_NODES
    lane_states.place[k] = tokens.rank
    lane_states.value[k] = rank


@jit(inline=True, part=True, norefs=True)
def begin_length(
    lane_states: LaneStates, tokens: TokenTrees, k: int, rank: Int64, length: Int64
) -> None:
    """Move lane k from the rank of its run to the root of the length's decision tree."""
    at = k * tokens.rows + lane_states.label[k]
    history: Any = min(np.int64(lane_states.histories[at]) & HISTORY, MOST_LENGTH_HISTORY)
    state = np.int64(CLASSES[lane_states.lengths[k]]) * HISTORY_KINDS + history
    state = state * RANK_KINDS + np.int64(RANK_CLASSES[rank])
    # length nodes come after rank nodes
    lane_states.state[k] = RANK_STATES * RANK_NODES + state * LENGTH_NODES - RANK_NODES
    lane_states.place[k] = tokens.length
    lane_states.value[k] = length
    lane_states.rank[k] = rank


@jit(inline=True, part=True, norefs=True)
def end_run(lane_states: LaneStates, tokens: TokenTrees, k: int, length: Int64) -> None:
    """Update the histories and running averages of lane k, which select counts, after a run."""
    rank, width = lane_states.rank[k], _width(length)
    at = k * tokens.rows + lane_states.label[k]
    history = np.int64(
        HISTORIES[(np.int64(lane_states.histories[at]) & HISTORY) << WIDTH_BITS | width]
    )
    lane_states.histories[at] = _width(rank) << HISTORY_BITS | history
    lane_states.ranks[k] += ((min(rank, 12) - 1) * RANK_SCALE - lane_states.ranks[k]) >> 2
    lane_states.lengths[k] += (min(width, 7) * LENGTH_SCALE - lane_states.lengths[k]) >> 2
    lane_states.width[k] = width


@jit(inline=True, part=True, norefs=True)
def end_lane(lane_states: LaneStates, tokens: TokenTrees, k: int) -> None:
    """Mark lane k as ended: its further decisions are not coded, and use separate counts."""
    lane_states.place[k], lane_states.state[k] = AT_END, NOWHERE
    lane_states.symbol[k] = (tokens.rows - 1) * NODES
    lane_states.alive[0] -= 1


@jit(inline=True, part=True, norefs=True)
def _width(value: Int64) -> Any:
    """Return floor(log2(value)) of a number >= 1."""
    return 63 - np.int64(leading_zeros(np.uint64(value)))
