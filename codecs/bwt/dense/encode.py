"""Encoder of effort dense, lanes to words: model decisions forwards, then rANS code backwards."""

from __future__ import annotations

from collections.abc import Iterator
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
from gangsaw.codecs.bwt.dense.segments import LOWEST, STEPS, most_steps
from gangsaw.codecs.bwt.dense.step import asked_bits, go_on, is_alive, places_of
from gangsaw.codecs.bwt.lanes.cut import RunLanes
from gangsaw.codecs.core.arrays import UInt16s, UInt32s
from gangsaw.codecs.core.numba.bits import leading_zeros, trailing_zeros
from gangsaw.codecs.core.numba.jit import jit, jit_norefs, jit_norefs_inline
from gangsaw.codecs.core.numba.vectors.integers import bits_of, load, resize_to, select, store
from gangsaw.codecs.core.numba.vectors.logic import logical_shift_right as shifted
from gangsaw.codecs.core.numba.vectors.ratios import small_quotients

Octets = npt.NDArray[np.uint8]
ONE = np.uint64(1)
OF_ONE = (1 << 15) - 1  # mask of a record: probability of 1; the bit above it is the decision


class LabelledRuns(NamedTuple):
    """Runs to encode: labels of symbols and ranks, (m,) uint8, and lengths, (m,) int32."""

    labels: Octets
    ranks: Octets
    lengths: npt.NDArray[np.int32]


class Begun(NamedTuple):
    """State of an encoder."""

    model: MixedCounts
    standing: Standing
    tokens: TokenPlaces
    runs: LabelledRuns


def begun(lanes: RunLanes) -> Begun:
    """Return the encoder state of lanes before their first decisions."""
    is_there = np.zeros(256, np.bool_)
    for listed, size in zip(lanes.lists, lanes.sizes, strict=True):
        is_there[listed[:size]] = True
    labels = (np.cumsum(is_there) - 1).astype(np.uint8)
    runs = LabelledRuns(labels[lanes.symbols], lanes.ranks, lanes.lengths)
    tokens = tokens_of(lanes.sizes, int(is_there.sum()) + 1)
    standing = standing_at(lanes.starts, tokens, lanes.sizes)
    first = np.minimum(lanes.starts[:-1], lanes.symbols.size - 1)
    begin(standing, tokens, lanes.sizes, *(part[first].astype(np.int64) for part in runs))
    return Begun(fresh_model(lanes.sizes.size, tokens.rows), standing, tokens, runs)


def encode_tokens(lanes: RunLanes) -> Iterator[Octets]:
    """Yield the bytes of lanes, segment by segment."""
    work = begun(lanes)
    records = np.empty(LANES * most_steps(lanes.bounds), np.uint16)
    while work.standing.alive[0]:
        steps = record(*work, records)
        yield _coded(records, int(steps), lanes.sizes.size)


def _coded(records: npt.NDArray[np.uint16], steps: int, n_lanes: int) -> Octets:
    """Return the bytes of a segment: states, words."""
    states, words = np.full(LANES, LOWEST, np.uint32), np.empty(LANES * steps, np.uint16)
    first = int(code_back(records, steps, words, states))
    heads = states[:n_lanes].astype("<u4").view(np.uint8)
    return np.concatenate((heads, words[first:].astype("<u2", copy=False).view(np.uint8)))


@jit_norefs
def record(
    model: MixedCounts,
    standing: Standing,
    tokens: TokenPlaces,
    runs: LabelledRuns,
    records: UInt16s,
) -> int:
    """Fill records, (LANES * steps,) uint16, with decisions of one segment; return its steps."""
    step = 0
    while standing.alive[0] > 0 and step < STEPS:
        place, at_state, at_own, at_weights = places_of(standing)
        p, read = predict(model, at_state, at_own, at_weights)
        bit = asked_bits(standing, place)
        p_there = select(is_alive(place), p, 0)  # 0: nothing is coded
        store(records, step * LANES, resize_to(p_there | (bit << 15), records))
        learn(model, at_state, at_own, at_weights, p, read, bit)
        ranked, ended = go_on(standing, tokens, place, bit)
        while ranked:
            k = trailing_zeros(ranked)
            ranked &= ranked - ONE
            run = standing.at[k]
            begin_length(standing, tokens, k, np.int64(runs.ranks[run]), runs.lengths[run])
        while ended:
            k = trailing_zeros(ended)
            ended &= ended - ONE
            _end(standing, tokens, runs, k)
        step += 1
    return step


@jit_norefs_inline
def _end(standing: Standing, tokens: TokenPlaces, runs: LabelledRuns, k: int) -> None:
    """Move lane k to its next run."""
    run = standing.at[k]
    end_run(standing, tokens, k, np.int64(runs.lengths[run]))
    run += 1
    standing.at[k] = run
    if run == standing.end[k]:
        end_lane(standing, tokens, k)
    else:
        label, rank = np.int64(runs.labels[run]), np.int64(runs.ranks[run])
        begin_run(standing, tokens, k, label, rank, runs.lengths[run])


@jit
def code_back(records: UInt16s, steps: int, words: UInt16s, states: UInt32s) -> int:
    """Code the records of a segment into states, last first; return the offset of its first word.

    Parameters
    ----------
    words : (n,) uint16, filled from its end
    states : (LANES,) uint32, updated
    """
    at, x = words.size, load(states, 0, OF_LANES)
    for step in range(steps - 1, -1, -1):
        each = resize_to(load(records, step * LANES, OF_LANES), states)
        p, is_one = each & OF_ONE, each > OF_ONE
        width = select(is_one, p, (1 << P_BITS) - p)
        full = bits_of(shifted(x, 32 - P_BITS) > (width - 1))
        if full:
            store(states, 0, x)
            while full:
                k = 63 - np.int64(leading_zeros(full))
                full ^= ONE << np.uint64(k)
                at -= 1
                words[at] = states[k] & np.uint32(0xFFFF)
                states[k] >>= np.uint32(16)
            x = load(states, 0, OF_LANES)
        quotient = small_quotients(x, width)
        x = (quotient << P_BITS) + (x - quotient * width) + select(is_one, 0, p)
    store(states, 0, x)
    return int(at)
