"""Decoder of effort dense: words to lanes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.bwt.dense.contexts import (
    LaneStates,
    TokenTrees,
    begin_length,
    begin_run,
    begin_runs,
    build_token_trees,
    end_lane,
    end_run,
    start_lane_states,
)
from gangsaw.codecs.bwt.dense.model import (
    LANES,
    OF_LANES,
    P_BITS,
    MixedCounts,
    fresh_model,
    learn_decisions,
    predict_decisions,
)
from gangsaw.codecs.bwt.dense.segments import LOWEST, STATE_BYTES, STEPS, WORD_BYTES
from gangsaw.codecs.bwt.dense.step import append_bits, go_on, has_decisions, locate_counts
from gangsaw.codecs.bwt.lanes.cut import list_words
from gangsaw.codecs.bwt.lanes.lists import Heads
from gangsaw.codecs.bwt.lanes.ranks import LIST_WORDS, move_back
from gangsaw.codecs.core.arrays import Bytes, UInt16s, UInt32s
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.numba.bits import trailing_zeros
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.integers import bits_of, load, select, store
from gangsaw.codecs.core.numba.vectors.logic import logical_shift_right as shifted
from gangsaw.codecs.core.numba.words import store_le64

ONE, EACH, BYTE_MASK = np.uint64(1), np.uint64(0x0101010101010101), np.uint64(255)
NUMBERS = np.arange(LANES, dtype=np.uint32)
WRONG = -1
CUT_OFF, NO_STATES = "its states are cut off", "its states are wrong"
NO_WORDS, LEFT = "its words are wrong", "bytes are left after its lanes"


class LanesOut(NamedTuple):
    """Output of the dense decoder, and the move-to-front lists of the lanes.

    Attributes
    ----------
    out : (n,) uint8, the transformed string
    symbols : (rows - 1,) uint8, byte value of each label (labels number the symbols that occur)
    lists : (n_lanes * LIST_WORDS,) uint64, current list of each lane, as labels
    sizes : (n_lanes,) int64, symbols of each list
    numbers : (LANES,) uint32, 0 to LANES - 1
    """

    out: Bytes
    symbols: Bytes
    lists: npt.NDArray[np.uint64]
    sizes: npt.NDArray[np.int64]
    numbers: npt.NDArray[np.uint32]


def decode_tokens(data: Bytes, heads: Heads, out: Bytes) -> None:
    """Decode the segments of a block to the string `out`; raise CorruptChunk if invalid.

    data : (k,) uint8, the bytes after the heads
    """
    n_lanes, sizes = heads.sizes.size, heads.sizes
    symbols, lists = labelled(heads)
    tokens = build_token_trees(sizes, symbols.size + 1)
    text = LanesOut(out, symbols, list_words(lists), sizes, NUMBERS)
    model = fresh_model(n_lanes, tokens.rows)
    lane_states = start_lane_states(heads.bounds, tokens, sizes)
    ones = np.ones(n_lanes, np.int64)
    begin_runs(lane_states, tokens, sizes, lists[:, 0].astype(np.int64), ones, ones)
    for k in np.flatnonzero(sizes == 1):
        out[heads.bounds[k] : heads.bounds[k + 1]] = heads.lists[k, 0]
    at = 0
    while lane_states.alive[0]:
        states, at = _states(data, at, n_lanes)
        words = np.frombuffer(data[at:].tobytes(), "<u2", (data.size - at) // WORD_BYTES)
        used = int(replay(model, lane_states, tokens, text, words.astype(np.uint16), states))
        if used == WRONG or (states != LOWEST).any():
            raise CorruptChunk(NO_WORDS)
        at += WORD_BYTES * used
    if at != data.size:
        raise CorruptChunk(LEFT)


def labelled(heads: Heads) -> tuple[Bytes, Bytes]:
    """Number the symbols of a block: byte value of each label, and the lanes' lists as labels.

    Their shapes are (k,) and (n_lanes, 256), uint8.
    """
    is_there = np.zeros(256, np.bool_)
    for listed, size in zip(heads.lists, heads.sizes, strict=True):
        is_there[listed[:size]] = True
    labels = np.where(is_there, np.cumsum(is_there) - 1, 0).astype(np.uint8)
    return np.flatnonzero(is_there).astype(np.uint8), labels[heads.lists]


def _states(data: Bytes, at: int, n_lanes: int) -> tuple[npt.NDArray[np.uint32], int]:
    """Read the initial rANS states of a segment; return them and the offset of its words."""
    end = at + STATE_BYTES * n_lanes
    if end > data.size:
        raise CorruptChunk(CUT_OFF)
    states = np.full(LANES, LOWEST, np.uint32)
    states[:n_lanes] = np.frombuffer(data[at:end].tobytes(), "<u4")
    if (states < LOWEST).any():
        raise CorruptChunk(NO_STATES)
    return states, end


@jit(norefs=True)
def replay(
    model: MixedCounts,
    lane_states: LaneStates,
    tokens: TokenTrees,
    text: LanesOut,
    words: UInt16s,
    states: UInt32s,
) -> int:
    """Decode a segment with rANS; return the number of words consumed, WRONG if it is invalid.

    words : (n,) uint16, from the segment on
    states : (LANES,) uint32, initial states, filled with the final ones
    """
    x, number = load(states, 0, OF_LANES), load(text.numbers, 0, OF_LANES)
    at, step = 0, 0
    while lane_states.alive[0] > 0 and step < STEPS:
        place, at_state, at_own, at_weights = locate_counts(lane_states)
        p, read = predict_decisions(model, at_state, at_own, at_weights)
        p_there = select(has_decisions(place), p, 0)
        slot = x & ((1 << P_BITS) - 1)
        bit = shifted(slot - p_there, 31)
        is_one = bit > 0
        width = select(is_one, p_there, (1 << P_BITS) - p_there)
        x = shifted(x, P_BITS) * width + slot - select(is_one, 0, p_there)
        empty = bits_of(shifted(x, 16) == 0)
        while empty:
            k = trailing_zeros(empty)
            empty &= empty - ONE
            if at == words.size:
                return WRONG
            x = select(number == k, (x << 16) | np.int64(words[at]), x)
            at += 1
        learn_decisions(model, at_state, at_own, at_weights, p, read, bit)
        append_bits(lane_states, place, bit)
        ranked, ended = go_on(lane_states, tokens, place, bit)
        while ranked:
            k = trailing_zeros(ranked)
            ranked &= ranked - ONE
            rank = np.int64(lane_states.value[k])
            if rank >= text.sizes[k]:
                return WRONG
            begin_length(lane_states, tokens, k, rank, 1)
        while ended:
            k = trailing_zeros(ended)
            ended &= ended - ONE
            if not _end(lane_states, tokens, text, k):
                return WRONG
        step += 1
    store(states, 0, x)
    return at


@jit(inline=True, part=True, norefs=True)
def _end(lane_states: LaneStates, tokens: TokenTrees, text: LanesOut, k: int) -> bool:
    """Write the decoded run of lane k and start its next run; return False if it is too long."""
    at, end, length = lane_states.at[k], lane_states.end[k], np.int64(lane_states.value[k])
    if length > end - at:
        return False
    _fill(text.out, at, at + length, end, text.symbols[lane_states.label[k]])
    end_run(lane_states, tokens, k, length)
    lane_states.at[k] = at + length
    if at + length == end:
        end_lane(lane_states, tokens, k)
        return True
    move_back(text.lists, k * LIST_WORDS, lane_states.rank[k])
    begin_run(lane_states, tokens, k, np.int64(text.lists[k * LIST_WORDS] & BYTE_MASK), 1, 1)
    return True


@jit(inline=True, part=True, norefs=True)
def _fill(out: Bytes, at: int, stop: int, end: int, byte: int) -> None:
    """Write `byte` to out[at:stop] in 8-byte words, which may overwrite up to out[end]."""
    while at < stop and at + 8 <= end:
        store_le64(out, at, np.uint64(byte) * EACH)
        at += 8
    while at < stop:
        out[at] = byte
        at += 1
