"""Encoder of effort dense, lanes to words: model decisions forwards, then rANS code backwards."""

from __future__ import annotations

from collections.abc import Iterator
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
from gangsaw.codecs.bwt.dense.segments import LOWEST, STEPS, most_steps
from gangsaw.codecs.bwt.dense.step import go_on, has_decisions, locate_counts, next_bits
from gangsaw.codecs.bwt.lanes.cut import RunLanes
from gangsaw.codecs.core.arrays import Bytes, UInt16s, UInt32s
from gangsaw.codecs.core.numba.bits import leading_zeros, trailing_zeros
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.integers import bits_of, load, resize_to, select, store
from gangsaw.codecs.core.numba.vectors.logic import logical_shift_right as shifted
from gangsaw.codecs.core.numba.vectors.ratios import small_quotients

ONE = np.uint64(1)
OF_ONE = (1 << 15) - 1  # mask of a record: probability of 1; the bit above it is the decision


class LabelledRuns(NamedTuple):
    """Runs to encode: labels of symbols and ranks, (m,) uint8 each, and lengths, (m,) int32."""

    labels: Bytes
    ranks: Bytes
    lengths: npt.NDArray[np.int32]


class Begun(NamedTuple):
    """State of a dense encoder before the first decision: model, lanes, trees and runs."""

    model: MixedCounts
    lane_states: LaneStates
    tokens: TokenTrees
    runs: LabelledRuns


def begun(lanes: RunLanes) -> Begun:
    """Return the encoder state for a string before its first decisions."""
    is_there = np.zeros(256, np.bool_)
    for listed, size in zip(lanes.lists, lanes.sizes, strict=True):
        is_there[listed[:size]] = True
    labels = (np.cumsum(is_there) - 1).astype(np.uint8)
    runs = LabelledRuns(labels[lanes.symbols], lanes.ranks, lanes.lengths)
    tokens = build_token_trees(lanes.sizes, int(is_there.sum()) + 1)
    lane_states = start_lane_states(lanes.starts, tokens, lanes.sizes)
    first = np.minimum(lanes.starts[:-1], lanes.symbols.size - 1)
    begin_runs(lane_states, tokens, lanes.sizes, *(part[first].astype(np.int64) for part in runs))
    return Begun(fresh_model(lanes.sizes.size, tokens.rows), lane_states, tokens, runs)


def encode_tokens(lanes: RunLanes) -> Iterator[Bytes]:
    """Encode the runs of a string; yield the coded bytes segment by segment."""
    work = begun(lanes)
    records = np.empty(LANES * most_steps(lanes.bounds), np.uint16)
    while work.lane_states.alive[0]:
        steps = record_decisions(*work, records)
        yield _coded(records, int(steps), lanes.sizes.size)


def _coded(records: npt.NDArray[np.uint16], steps: int, n_lanes: int) -> Bytes:
    """Encode the recorded decisions of a segment with rANS; return states and words as bytes."""
    states, words = np.full(LANES, LOWEST, np.uint32), np.empty(LANES * steps, np.uint16)
    first = int(code_back(records, steps, words, states))
    heads = states[:n_lanes].astype("<u4").view(np.uint8)
    return np.concatenate((heads, words[first:].astype("<u2", copy=False).view(np.uint8)))


@jit(norefs=True)
def record_decisions(
    model: MixedCounts,
    lane_states: LaneStates,
    tokens: TokenTrees,
    runs: LabelledRuns,
    records: UInt16s,
) -> int:
    """Model a segment of up to STEPS steps; fill `records` with its decisions; return the steps.

    records : (LANES * steps,) uint16, probability of 1, and the decision in the highest bit
    """
    step = 0
    while lane_states.alive[0] > 0 and step < STEPS:
        place, at_state, at_own, at_weights = locate_counts(lane_states)
        p, read = predict_decisions(model, at_state, at_own, at_weights)
        bit = next_bits(lane_states, place)
        p_there = select(has_decisions(place), p, 0)  # 0: nothing is coded
        store(records, step * LANES, resize_to(p_there | (bit << 15), records))
        learn_decisions(model, at_state, at_own, at_weights, p, read, bit)
        ranked, ended = go_on(lane_states, tokens, place, bit)
        while ranked:
            k = trailing_zeros(ranked)
            ranked &= ranked - ONE
            run = lane_states.at[k]
            begin_length(lane_states, tokens, k, np.int64(runs.ranks[run]), runs.lengths[run])
        while ended:
            k = trailing_zeros(ended)
            ended &= ended - ONE
            _end(lane_states, tokens, runs, k)
        step += 1
    return step


@jit(inline=True, part=True, norefs=True)
def _end(lane_states: LaneStates, tokens: TokenTrees, runs: LabelledRuns, k: int) -> None:
    """Move lane k to its next run, or mark it as ended."""
    run = lane_states.at[k]
    end_run(lane_states, tokens, k, np.int64(runs.lengths[run]))
    run += 1
    lane_states.at[k] = run
    if run == lane_states.end[k]:
        end_lane(lane_states, tokens, k)
    else:
        label, rank = np.int64(runs.labels[run]), np.int64(runs.ranks[run])
        begin_run(lane_states, tokens, k, label, rank, runs.lengths[run])


@jit
def code_back(records: UInt16s, steps: int, words: UInt16s, states: UInt32s) -> int:
    """Encode the records of a segment with rANS, last first; return the index of the first word.

    Parameters
    ----------
    words : (n,) uint16, filled from its end
    states : (LANES,) uint32, rANS states, updated
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
