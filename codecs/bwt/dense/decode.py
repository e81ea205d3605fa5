"""Decoder of effort dense: words to lanes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.bwt.dense.contexts import (
    Standing,
    TokenPlaces,
    begin,
    begin_length,
    begin_run,
    end_lane,
    end_run,
    standing_at,
    tokens_of,
)
from gangsaw.codecs.bwt.dense.model import (
    LANES,
    OF_LANES,
    P_BITS,
    MixedCounts,
    fresh_model,
    learn,
    predict,
)
from gangsaw.codecs.bwt.dense.segments import LOWEST, STATE_BYTES, STEPS, WORD_BYTES
from gangsaw.codecs.bwt.dense.step import go_on, is_alive, places_of, told_bits
from gangsaw.codecs.bwt.lanes.cut import list_words
from gangsaw.codecs.bwt.lanes.lists import Heads
from gangsaw.codecs.bwt.lanes.ranks import LIST_WORDS, move_back
from gangsaw.codecs.core.arrays import Bytes, UInt16s, UInt32s
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.numba.bits import trailing_zeros
from gangsaw.codecs.core.numba.jit import jit_norefs, jit_norefs_inline
from gangsaw.codecs.core.numba.vectors.integers import bits_of, load, select, store
from gangsaw.codecs.core.numba.vectors.logic import logical_shift_right as shifted
from gangsaw.codecs.core.numba.words import store_le64

Octets = npt.NDArray[np.uint8]
ONE, EACH, OCTET = np.uint64(1), np.uint64(0x0101010101010101), np.uint64(255)
NUMBERS = np.arange(LANES, dtype=np.uint32)
WRONG = -1
CUT_OFF, NO_STATES = "its states are cut off", "its states are wrong"
NO_WORDS, LEFT = "its words are wrong", "bytes are left behind its lanes"


class LanesOut(NamedTuple):
    """Output of the decoder.

    Attributes
    ----------
    out : (n,) uint8
    octets : (rows - 1,) uint8, the symbol of each label
    lists : (n_lanes * LIST_WORDS,) uint64, labels in the order of the lanes' lists
    sizes : (n_lanes,) int64, symbols of each list
    numbers : (LANES,) uint32, lane indices
    """

    out: Octets
    octets: Octets
    lists: npt.NDArray[np.uint64]
    sizes: npt.NDArray[np.int64]
    numbers: npt.NDArray[np.uint32]


def decode_tokens(data: Octets, heads: Heads, out: Octets) -> None:
    """Fill (n,) uint8 from the lanes of (k,) uint8; raise CorruptChunk if these are invalid."""
    n_lanes, sizes = heads.sizes.size, heads.sizes
    octets, lists = labelled(heads)
    tokens = tokens_of(sizes, octets.size + 1)
    text = LanesOut(out, octets, list_words(lists), sizes, NUMBERS)
    model = fresh_model(n_lanes, tokens.rows)
    standing = standing_at(heads.bounds, tokens, sizes)
    ones = np.ones(n_lanes, np.int64)
    begin(standing, tokens, sizes, lists[:, 0].astype(np.int64), ones, ones)
    for k in np.flatnonzero(sizes == 1):
        out[heads.bounds[k] : heads.bounds[k + 1]] = heads.lists[k, 0]
    at = 0
    while standing.alive[0]:
        states, at = _states(data, at, n_lanes)
        words = np.frombuffer(data[at:].tobytes(), "<u2", (data.size - at) // WORD_BYTES)
        used = int(replay(model, standing, tokens, text, words.astype(np.uint16), states))
        if used == WRONG or (states != LOWEST).any():
            raise CorruptChunk(NO_WORDS)
        at += WORD_BYTES * used
    if at != data.size:
        raise CorruptChunk(LEFT)


def labelled(heads: Heads) -> tuple[Octets, Octets]:
    """Return the symbol of each label, (k,) uint8, and the lists as labels, (n_lanes, 256)."""
    is_there = np.zeros(256, np.bool_)
    for listed, size in zip(heads.lists, heads.sizes, strict=True):
        is_there[listed[:size]] = True
    labels = np.where(is_there, np.cumsum(is_there) - 1, 0).astype(np.uint8)
    return np.flatnonzero(is_there).astype(np.uint8), labels[heads.lists]


def _states(data: Octets, at: int, n_lanes: int) -> tuple[npt.NDArray[np.uint32], int]:
    """Return the initial states of a segment, and the offset of its words."""
    end = at + STATE_BYTES * n_lanes
    if end > data.size:
        raise CorruptChunk(CUT_OFF)
    states = np.full(LANES, LOWEST, np.uint32)
    states[:n_lanes] = np.frombuffer(data[at:end].tobytes(), "<u4")
    if (states < LOWEST).any():
        raise CorruptChunk(NO_STATES)
    return states, end


@jit_norefs
def replay(
    model: MixedCounts,
    standing: Standing,
    tokens: TokenPlaces,
    text: LanesOut,
    words: UInt16s,
    states: UInt32s,
) -> int:
    """Decode a segment; return the number of (n,) uint16 words consumed, WRONG if it is invalid."""
    x, number = load(states, 0, OF_LANES), load(text.numbers, 0, OF_LANES)
    at, step = 0, 0
    while standing.alive[0] > 0 and step < STEPS:
        place, at_state, at_own, at_weights = places_of(standing)
        p, read = predict(model, at_state, at_own, at_weights)
        p_there = select(is_alive(place), p, 0)
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
        learn(model, at_state, at_own, at_weights, p, read, bit)
        told_bits(standing, place, bit)
        ranked, ended = go_on(standing, tokens, place, bit)
        while ranked:
            k = trailing_zeros(ranked)
            ranked &= ranked - ONE
            rank = np.int64(standing.value[k])
            if rank >= text.sizes[k]:
                return WRONG
            begin_length(standing, tokens, k, rank, 1)
        while ended:
            k = trailing_zeros(ended)
            ended &= ended - ONE
            if not _end(standing, tokens, text, k):
                return WRONG
        step += 1
    store(states, 0, x)
    return at


@jit_norefs_inline
def _end(standing: Standing, tokens: TokenPlaces, text: LanesOut, k: int) -> bool:
    """Write the run of lane k and start its next run; return False if the run is too long."""
    at, end, length = standing.at[k], standing.end[k], np.int64(standing.value[k])
    if length > end - at:
        return False
    _fill(text.out, at, at + length, end, text.octets[standing.label[k]])
    end_run(standing, tokens, k, length)
    standing.at[k] = at + length
    if at + length == end:
        end_lane(standing, tokens, k)
        return True
    move_back(text.lists, k * LIST_WORDS, standing.rank[k])
    begin_run(standing, tokens, k, np.int64(text.lists[k * LIST_WORDS] & OCTET), 1, 1)
    return True


@jit_norefs_inline
def _fill(out: Bytes, at: int, stop: int, end: int, octet: int) -> None:
    """Fill out[at:stop] by words, which may reach further, but not beyond `end`."""
    while at < stop and at + 8 <= end:
        store_le64(out, at, np.uint64(octet) * EACH)
        at += 8
    while at < stop:
        out[at] = octet
        at += 1
