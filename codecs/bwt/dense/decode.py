from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.bwt.dense.contexts import begin_length, begin_rank, end_run
from gangsaw.codecs.bwt.dense.model import LANES, OF_LANES, learn, predict
from gangsaw.codecs.bwt.dense.tables import DONE, IN_BITS, IS_LENGTH, NODE, NODES, PLACE, SHIFT, SHIFT_MASK
from gangsaw.codecs.bwt.lanes.ranks import LIST_WORDS, move_back
from gangsaw.codecs.core.numba.bits import trailing_zeros
from gangsaw.codecs.core.numba.floats import store_le64
from gangsaw.codecs.core.numba.jit import jit_restrict, jit_norefs_inline
from gangsaw.codecs.core.numba.vectors.integers import bits_of, load, maximum, minimum, resize_to, select, store
from gangsaw.codecs.core.numba.vectors.items import load_items
from gangsaw.codecs.core.numba.vectors.logic import logical_shift_right as shifted

ONES = np.uint64(0x0101010101010101)

@jit_norefs_inline
def fill(out: Any, at: int, length: int, end: int, octet: Any) -> None:
    pattern = np.uint64(octet) * ONES
    stop = at + length
    while at < stop and at + 8 <= end:
        store_le64(out, at, pattern)
        at += 8
    while at < stop:
        out[at] = octet
        at += 1


@jit_restrict
def code(model: Any, lane: Any, rows: int, has_ranks: bool, places: Any, rank_start: Any, length_start: Any,
         octets: Any, lists: Any, sizes: Any, words: Any, states: Any, numbers: Any, out: Any, own_at: Any, weight_at: Any, n_alive: int) -> int:
    own_first = load(own_at, 0, OF_LANES)
    weight_first = load(weight_at, 0, OF_LANES)
    x = load(states, 0, OF_LANES)
    number = load(numbers, 0, OF_LANES)
    at_word = 0
    while n_alive > 0:
        place = load(lane.place, 0, OF_LANES)
        node = place & NODE
        at_state = load(lane.state, 0, OF_LANES) + node
        at_symbol = load(lane.symbol, 0, OF_LANES) + node
        at_own = at_symbol + own_first
        at_weights = weight_first + node
        p, s, w, own = predict(model, at_state, at_symbol, at_own, at_weights)
        coded = select(place > 65535, p, 0)
        slot = x & 16383
        one = slot < coded
        bit = shifted(slot - coded, 31)
        x = shifted(x, 14) * select(one, coded, 16384 - coded) + slot - select(one, 0, coded)
        wants = bits_of(shifted(x, 16) == 0)
        while wants:
            k = trailing_zeros(wants)
            wants &= wants - np.uint64(1)
            if at_word == words.size:
                return -1
            x = select(number == k, (x << 16) | np.int64(words[at_word]), x)
            at_word += 1
        learn(model, at_state, at_symbol, at_own, at_weights, bit, p, s, w, own)
        value = load(lane.value, 0, OF_LANES)
        value = select((place & IN_BITS) > 0, value + value + bit, value)
        store(lane.value, 0, value)
        place = load_items(places, (shifted(place, PLACE) << 1) + bit)
        store(lane.place, 0, place)
        done = (place & DONE) > 0
        of_length = (place & (DONE | IS_LENGTH)) > DONE
        lengths_done = bits_of(of_length)
        ranks_done = bits_of(done) ^ lengths_done
        while ranks_done:
            k = trailing_zeros(ranks_done)
            ranks_done &= ranks_done - np.uint64(1)
            rank = np.int64(lane.value[k])
            if rank >= sizes[k]:
                return -2
            begin_length(lane, k, rows, lane.label[k], rank, length_start, 1)
        while lengths_done:
            k = trailing_zeros(lengths_done)
            lengths_done &= lengths_done - np.uint64(1)
            length = np.int64(lane.value[k])
            at, end = lane.at[k], lane.end[k]
            if length > end - at:
                return -3
            fill(out, at, length, end, octets[lane.label[k]])
            end_run(lane, k, rows, length)
            at += length
            lane.at[k] = at
            move_back(lists, k * LIST_WORDS, lane.rank[k])
            label = np.int64(lists[k * LIST_WORDS] & np.uint64(255))
            if at == end:
                n_alive -= 1
                lane.place[k] = 0
                lane.state[k] = model.states.size - NODES
                lane.symbol[k] = (rows - 1) * NODES
            elif has_ranks:
                begin_rank(lane, k, rows, label, rank_start, 1)
            else:
                begin_length(lane, k, rows, label, 1, length_start, 1)
    store(states, 0, x)
    return at_word
