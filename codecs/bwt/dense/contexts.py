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
from gangsaw.codecs.core.numba.jit import jit, jit_norefs_inline

Words = npt.NDArray[np.uint32]
Numbers = npt.NDArray[np.int64]

STATE_CLASSES, RANK_KINDS, HISTORY_KINDS, LENGTH_KINDS = 8, 6, 8, 3
assert RANK_STATES == STATE_CLASSES * HISTORY_KINDS * LENGTH_KINDS
assert LENGTH_STATES == STATE_CLASSES * HISTORY_KINDS * RANK_KINDS
# least symbols of a longest list with coded ranks: with two, the rank is always 1
FEWEST_RANKED = 3


class TokenTrees(NamedTuple):
    """Decision trees of a block's tokens.

    Attributes
    ----------
    rows : symbol labels, and one for no symbol
    has_ranks : True if ranks are coded; else all are 1
    rank, length : words of the first nodes of rank and length tokens
    places : (n,) uint32, successor of each node and decision: `tables.tree`
    """

    rows: int
    has_ranks: bool
    rank: int
    length: int
    places: Words


class LaneStates(NamedTuple):
    """State of the lanes, (LANES,) each.

    Attributes
    ----------
    place : uint32, node in a decision tree
    state, symbol : uint32, offsets of the token's counts: shared ones, and those of the symbol
    value : uint32, the token in encoders; its bits so far in decoders
    own, weights : uint32, offsets of each lane's counts and weights
    label, rank : int64, of the current run
    ranks, lengths : int64, smoothed values of previous runs
    width : int64, bits of the last length below the first
    at, end : int64, current byte or run, and the lane's end
    histories : (n_lanes * rows,) uint8, per symbol: the width of its last rank in the high bits, a
        smoothed width of its lengths in the low bits
    alive : (1,) int64, number of lanes before their end
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
    """Return the token trees for lanes with lists of these sizes."""
    longest = max(2, int(sizes.max()))
    places, rank, length = tree(max(1, (longest - 1).bit_length() - 1))
    return TokenTrees(rows, longest >= FEWEST_RANKED, rank, length, places)


def start_lane_states(starts: Numbers, tokens: TokenTrees, sizes: Numbers) -> LaneStates:
    """Return the state of lanes before their first tokens; lanes of one symbol have no tokens."""
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
    """Start the first run, labels[k] and so on, of each lane with more than one symbol."""
    for k in range(sizes.size):
        if sizes[k] > 1:
            begin_run(lane_states, tokens, k, labels[k], ranks[k], lengths[k])


@jit_norefs_inline
def begin_run(
    lane_states: LaneStates, tokens: TokenTrees, k: int, label: Int64, rank: Int64, length: Int64
) -> None:
    """Start the next run of lane k. A decoder passes 1 for unknown values."""
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


@jit_norefs_inline
def begin_length(
    lane_states: LaneStates, tokens: TokenTrees, k: int, rank: Int64, length: Int64
) -> None:
    """Move lane k from the rank to the length of its run."""
    at = k * tokens.rows + lane_states.label[k]
    history: Any = min(np.int64(lane_states.histories[at]) & HISTORY, MOST_LENGTH_HISTORY)
    state = np.int64(CLASSES[lane_states.lengths[k]]) * HISTORY_KINDS + history
    state = state * RANK_KINDS + np.int64(RANK_CLASSES[rank])
    # length nodes come after rank nodes
    lane_states.state[k] = RANK_STATES * RANK_NODES + state * LENGTH_NODES - RANK_NODES
    lane_states.place[k] = tokens.length
    lane_states.value[k] = length
    lane_states.rank[k] = rank


@jit_norefs_inline
def end_run(lane_states: LaneStates, tokens: TokenTrees, k: int, length: Int64) -> None:
    """Update the histories of lane k after a run."""
    rank, width = lane_states.rank[k], _width(length)
    at = k * tokens.rows + lane_states.label[k]
    history = np.int64(
        HISTORIES[(np.int64(lane_states.histories[at]) & HISTORY) << WIDTH_BITS | width]
    )
    lane_states.histories[at] = _width(rank) << HISTORY_BITS | history
    lane_states.ranks[k] += ((min(rank, 12) - 1) * RANK_SCALE - lane_states.ranks[k]) >> 2
    lane_states.lengths[k] += (min(width, 7) * LENGTH_SCALE - lane_states.lengths[k]) >> 2
    lane_states.width[k] = width


@jit_norefs_inline
def end_lane(lane_states: LaneStates, tokens: TokenTrees, k: int) -> None:
    """Move lane k to its end, where it counts no decisions."""
    lane_states.place[k], lane_states.state[k] = AT_END, NOWHERE
    lane_states.symbol[k] = (tokens.rows - 1) * NODES
    lane_states.alive[0] -= 1


@jit_norefs_inline
def _width(value: Int64) -> Any:
    """Return the bits below the first."""
    return 63 - np.int64(leading_zeros(np.uint64(value)))
