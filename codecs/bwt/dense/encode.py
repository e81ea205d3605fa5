from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.bwt.dense.contexts import begin_length, begin_rank, end_run
from gangsaw.codecs.bwt.dense.model import LANES, OF_LANES, learn, predict
from gangsaw.codecs.bwt.dense.tables import DONE, IN_BITS, IS_LENGTH, NODE, NODES, PLACE, SHIFT, SHIFT_MASK
from gangsaw.codecs.core.numba.bits import trailing_zeros
from gangsaw.codecs.core.numba.jit import jit_restrict
from gangsaw.codecs.core.numba.vectors.gather import quotients
from gangsaw.codecs.core.numba.vectors.integers import bits_of, load, maximum, minimum, resize_to, select, store
from gangsaw.codecs.core.numba.vectors.items import load_items
from gangsaw.codecs.core.numba.vectors.logic import logical_shift_right as shifted


@jit_restrict
def code(model: Any, lane: Any, rows: int, has_ranks: bool, places: Any, rank_start: Any, length_start: Any,
         labels: Any, ranks: Any, lengths: Any, records: Any, own_at: Any, weight_at: Any, n_alive: int) -> int:
    step = 0
    own_first = load(own_at, 0, OF_LANES)
    weight_first = load(weight_at, 0, OF_LANES)
    while n_alive > 0:
        place = load(lane.place, 0, OF_LANES)
        node = place & NODE
        at_state = load(lane.state, 0, OF_LANES) + node
        at_symbol = load(lane.symbol, 0, OF_LANES) + node
        at_own = at_symbol + own_first
        at_weights = weight_first + node
        p, s, w, own = predict(model, at_state, at_symbol, at_own, at_weights)
        rest = shifted(load(lane.value, 0, OF_LANES), shifted(place, SHIFT) & SHIFT_MASK)
        bit = select((place & IN_BITS) > 0, rest & 1, minimum(rest, 1))
        alive = place > 65535
        bit = select(alive, bit, 0)
        store(records, step * LANES, resize_to(select(alive, p, 0) | (bit << 15), records))
        learn(model, at_state, at_symbol, at_own, at_weights, bit, p, s, w, own)
        place = load_items(places, (shifted(place, PLACE) << 1) + bit)
        store(lane.place, 0, place)
        done = (place & DONE) > 0
        of_length = (place & (DONE | IS_LENGTH)) > DONE
        lengths_done = bits_of(of_length)
        ranks_done = bits_of(done) ^ lengths_done
        while ranks_done:
            k = trailing_zeros(ranks_done)
            ranks_done &= ranks_done - np.uint64(1)
            run = lane.at[k]
            begin_length(lane, k, rows, lane.label[k], np.int64(ranks[run]), length_start, lengths[run])
        while lengths_done:
            k = trailing_zeros(lengths_done)
            lengths_done &= lengths_done - np.uint64(1)
            run = lane.at[k]
            end_run(lane, k, rows, np.int64(lengths[run]))
            run += 1
            lane.at[k] = run
            if run == lane.end[k]:
                n_alive -= 1
                lane.place[k] = 0
                lane.state[k] = model.states.size - NODES
                lane.symbol[k] = (rows - 1) * NODES
            elif has_ranks:
                begin_rank(lane, k, rows, np.int64(labels[run]), rank_start, ranks[run])
            else:
                begin_length(lane, k, rows, np.int64(labels[run]), 1, length_start, lengths[run])
        step += 1
    return step


@jit_restrict
def rans(records: Any, steps: int, words: Any, states: Any) -> int:
    """Backwards; returns the place of the first word."""
    at = words.size
    x = load(states, 0, OF_LANES)
    for step in range(steps - 1, -1, -1):
        record = resize_to(load(records, step * LANES, OF_LANES), states)
        p, bit = record & 0x7FFF, record > 0x7FFF
        f = select(bit, p, 16384 - p)
        big = bits_of(((shifted(x, 18) - f) > -1))
        if big:
            store(states, 0, x)
            while big:
                k = 63 - (np.int64(_lz(big)))
                big ^= np.uint64(1) << np.uint64(k)
                at -= 1
                words[at] = states[k]
                states[k] >>= np.uint32(16)
            x = load(states, 0, OF_LANES)
        q = quotients(x, f)
        x = (q << 14) + (x - q * f) + select(bit, 0, p)
    store(states, 0, x)
    return at


from gangsaw.codecs.core.numba.bits import leading_zeros as _lz
