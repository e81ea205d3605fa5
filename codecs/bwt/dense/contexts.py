"""Where lanes stand in their runs, and what of those before says which counts to take."""

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
from gangsaw.codecs.core.numba.bits import leading_zeros
from gangsaw.codecs.core.numba.jit import jit, jit_norefs_inline

Words = npt.NDArray[np.uint32]
Numbers = npt.NDArray[np.int64]

STATE_CLASSES, RANK_KINDS, HISTORY_KINDS, LENGTH_KINDS = 8, 6, 8, 3
assert RANK_STATES == STATE_CLASSES * HISTORY_KINDS * LENGTH_KINDS
assert LENGTH_STATES == STATE_CLASSES * HISTORY_KINDS * RANK_KINDS
FEWEST_RANKED = 3  # symbols of the longest list: of two, a run's symbol always moves to rank 1


class TokenPlaces(NamedTuple):
    """What tokens a block has.

    Attributes
    ----------
    rows : labels of symbols, and one of no symbol
    has_ranks : whether ranks are coded: else all are 1
    rank, length : words of the first places of tokens
    places : (n,) uint32, what follows each: `tables.tree`
    """

    rows: int
    has_ranks: bool
    rank: int
    length: int
    places: Words


class Standing(NamedTuple):
    """Where lanes stand: (LANES,) each.

    Attributes
    ----------
    place : uint32, in a tree of decisions
    state, symbol : uint32, where the counts of the token begin, shared ones and the lane's
    value : uint32, of encoders the token; of decoders the bits so far
    own, weights : uint32, where these begin, of each lane
    label, rank : int64, of the run
    ranks, lengths : int64, those before, smoothed
    width : int64, bits of the last length below the first
    at, end : int64, the byte or run, and where the lane's end
    histories : (n_lanes * rows,) uint8, of each symbol the width of its last rank, and below a
        smoothed one of its lengths
    alive : (1,) int64, lanes that are not at their end
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


def tokens_of(sizes: Numbers, rows: int) -> TokenPlaces:
    """Return the tokens of lanes with lists of so many symbols."""
    longest = max(2, int(sizes.max()))
    places, rank, length = tree(max(1, (longest - 1).bit_length() - 1))
    return TokenPlaces(rows, longest >= FEWEST_RANKED, rank, length, places)


def standing_at(starts: Numbers, tokens: TokenPlaces, sizes: Numbers) -> Standing:
    """Return lanes before their first tokens, (n_lanes,) each; those of one symbol have none."""
    n_lanes, rows = sizes.size, tokens.rows
    place, state, symbol, value, own, weights = np.zeros((6, LANES), np.uint32)
    numbers = np.zeros((7, LANES), np.int64)
    label, rank, ranks, lengths, width, at, end = numbers
    histories, alive = np.zeros(n_lanes * rows, np.uint8), np.zeros(1, np.int64)
    standing = Standing(
        *(place, state, symbol, value, own, weights),
        *(label, rank, ranks, lengths, width, at, end),
        *(histories, alive),
    )
    standing.place[:] = AT_END
    standing.state[:], standing.symbol[:] = NOWHERE, (rows - 1) * NODES
    standing.own[:n_lanes] = np.arange(n_lanes) * rows * NODES
    standing.weights[:] = np.arange(LANES) * NODES
    standing.at[:n_lanes], standing.end[:n_lanes] = starts[:-1], starts[1:]
    standing.alive[0] = np.count_nonzero(sizes > 1)
    return standing


@jit
def begin(standing: Any, tokens: Any, sizes: Any, labels: Any, ranks: Any, lengths: Any) -> None:
    """Let each lane with more than one symbol begin its first run, of labels[k] and so on."""
    for k in range(sizes.size):
        if sizes[k] > 1:
            begin_run(standing, tokens, k, labels[k], ranks[k], lengths[k])


@jit_norefs_inline
def begin_run(standing: Any, tokens: Any, k: Any, label: Any, rank: Any, length: Any) -> None:
    """Let lane k stand before the next run. A decoder gives 1 for what it does not know."""
    standing.label[k] = label
    standing.symbol[k] = label * NODES
    if not tokens.has_ranks:
        begin_length(standing, tokens, k, 1, length)
        return
    history = np.int64(standing.histories[k * tokens.rows + label]) >> HISTORY_BITS
    state = np.int64(CLASSES[standing.ranks[k]]) * HISTORY_KINDS + history
    state = state * LENGTH_KINDS + min(standing.width[k], LENGTH_KINDS - 1)
    standing.state[k] = state * RANK_NODES
    standing.place[k] = tokens.rank
    standing.value[k] = rank


@jit_norefs_inline
def begin_length(standing: Any, tokens: Any, k: Any, rank: Any, length: Any) -> None:
    """Let lane k stand before the length of its run, behind its rank."""
    at = k * tokens.rows + standing.label[k]
    history: Any = min(np.int64(standing.histories[at]) & HISTORY, MOST_LENGTH_HISTORY)
    state = np.int64(CLASSES[standing.lengths[k]]) * HISTORY_KINDS + history
    state = state * RANK_KINDS + np.int64(RANK_CLASSES[rank])
    # nodes of lengths stand behind those of ranks
    standing.state[k] = RANK_STATES * RANK_NODES + state * LENGTH_NODES - RANK_NODES
    standing.place[k] = tokens.length
    standing.value[k] = length
    standing.rank[k] = rank


@jit_norefs_inline
def end_run(standing: Any, tokens: Any, k: Any, length: Any) -> None:
    """Remember a run of lane k."""
    rank, width = standing.rank[k], _width(length)
    at = k * tokens.rows + standing.label[k]
    history = np.int64(
        HISTORIES[(np.int64(standing.histories[at]) & HISTORY) << WIDTH_BITS | width]
    )
    standing.histories[at] = _width(rank) << HISTORY_BITS | history
    standing.ranks[k] += ((min(rank, 12) - 1) * RANK_SCALE - standing.ranks[k]) >> 2
    standing.lengths[k] += (min(width, 7) * LENGTH_SCALE - standing.lengths[k]) >> 2
    standing.width[k] = width


@jit_norefs_inline
def end_lane(standing: Any, tokens: Any, k: Any) -> None:
    """Let lane k count nothing from here on."""
    standing.place[k], standing.state[k] = AT_END, NOWHERE
    standing.symbol[k] = (tokens.rows - 1) * NODES
    standing.alive[0] -= 1


@jit_norefs_inline
def _width(value: Any) -> Any:
    """Bits below the first."""
    return 63 - np.int64(leading_zeros(np.uint64(value)))
