"""Match model: predict the base that followed the same 16 bases earlier, on either strand.

Only bases of earlier steps are read, so that lanes are independent within a step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.arrays import Bytes
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.dna.dense.model.contexts import BACK, load_each
from gangsaw.codecs.dna.dense.model.logs import LOGS
from gangsaw.codecs.dna.dense.model.shape import Shape
from gangsaw.codecs.dna.dense.model.state import (
    CLASSES,
    MATCH,
    NOWHERE,
    DenseState,
    Matches,
    ModelTables,
)

MATCH_X, MATCH_CLASS = 4 * MATCH, CLASSES * MATCH
MOST_EQUAL = 32  # most bases compared
MOST_MISSES = 8  # most misses in the last 16 bases
MOST_LENGTH = 65535
RATE = 6
KEPT, RECENT = 0xFFFF, 0xFF  # masks of the miss history


@jit(inline=True, part=True, norefs=True)
def ones_in(word: int) -> Any:
    """Return the number of one bits in a 16-bit word."""
    word = (word & 0x5555) + (word >> 1 & 0x5555)
    word = (word & 0x3333) + (word >> 2 & 0x3333)
    word = word + (word >> 4) & 0x0F0F
    return word + (word >> 8) & 31


@jit(inline=True, part=True, norefs=True)
def equal_before(
    codes: Bytes, at: int | np.int64, step: int | np.int64, here: int | np.int64, now: int
) -> int:
    """Return how many bases before two positions are equal, counted backwards, at most 32.

    at, step : position in `codes` and step in its lane of the earlier bases
    here, now : the same of the current lane
    """
    n = 0
    if step < now:
        while n < MOST_EQUAL and n < step and codes[at - 1 - n] == codes[here - 1 - n]:
            n += 1
    return n


@jit(inline=True, part=True, norefs=True)
def equal_behind(
    codes: Bytes, at: int | np.int64, step: int | np.int64, here: int | np.int64, now: int
) -> int:
    """Return how many bases from `at` on complement those before `here`, at most 32.

    step : step of `at` in its lane
    now : current step; bases from it on are not decoded yet
    """
    n = 0
    while n < MOST_EQUAL and step + n < now and codes[at + n] == 3 - codes[here - 1 - n]:
        n += 1
    return n


@jit(inline=True, part=True, norefs=True)
def begin_match(
    matches: Matches,
    lane: int,
    low: int | np.int64,
    at: int | np.int64,
    step: int | np.int64,
    length: int,
) -> None:
    """Start the match of a lane at position `at`, whose base predicts the lane's next base.

    low : first position of the lane that contains `at`
    step : 1 forwards, -1 on the reverse complement
    length : number of equal bases before
    """
    matches.at[lane], matches.low[lane], matches.step[lane] = at, low, step
    matches.length[lane], matches.misses[lane] = length, 0


@jit(inline=True, part=True, norefs=True)
def is_checked(entry: int, key: int, bits: int) -> bool:
    """Return True if an entry of the match table is of this key, by its check bits.

    bits : bits of the position, below the check bits
    """
    above = np.uint32(bits)
    return bool(entry != 0 and entry >> above == np.uint32(key << above) >> above)


@jit(part=True, norefs=True)
def find_match(
    codes: Bytes, shape: Shape, lanes: DenseState, matches: Matches, lane: int, now: int
) -> None:
    """Search an earlier occurrence of a lane's last 16 bases, and start a match there.

    The own strand is tried first. An entry of the match table gives the step after 16 bases. On the
    reverse complement these bases and those after them are compared, and the prediction is the
    complement of the base before them.
    """
    here, mask = lane * shape.stride + now, (1 << shape.step_bits) - 1
    entry, complement = lanes.entry[lane], lanes.complement_entry[lane]
    if is_checked(entry, lanes.key[lane], shape.place_bits):
        place = np.int64(entry) & (1 << shape.place_bits) - 1
        step, low = place & mask, (place >> shape.step_bits) * shape.stride
        length = equal_before(codes, low + step, step, here, now)
        if length >= BACK:
            begin_match(matches, lane, low, low + step, 1, length)
            return
    if is_checked(complement, lanes.complement_key[lane], shape.place_bits):
        place = np.int64(complement) & (1 << shape.place_bits) - 1
        step, low = (place & mask) - BACK, (place >> shape.step_bits) * shape.stride
        if step > 0:
            length = equal_behind(codes, low + step, step, here, now)
            if length >= BACK:
                begin_match(matches, lane, low, low + step - 1, -1, length)


@jit(part=True, norefs=True)
def load_entries(tables: ModelTables, lanes: DenseState, n: int) -> None:
    """Look up the match table for the last 16 bases of n lanes, on both strands."""
    load_each(tables.entries, lanes.of_entry, lanes.entry, n)
    load_each(tables.entries, lanes.to_entry, lanes.complement_entry, n)


@jit(part=True, norefs=True)
def find_matches(
    codes: Bytes,
    shape: Shape,
    tables: ModelTables,
    lanes: DenseState,
    matches: Matches,
    now: int,
    n: int,
) -> None:
    """Search a match for those of n lanes that have none; `now` is the current step."""
    if shape.enters_first:
        load_entries(tables, lanes, n)
    for lane in range(n):
        if matches.at[lane] == NOWHERE:
            find_match(codes, shape, lanes, matches, lane, now)


@jit(inline=True, part=True, norefs=True)
def length_class(length: int) -> int:
    """Return the class of a match length, 0 to 7, which selects its statistics."""
    short = int(length >= 16) + int(length >= 20) + int(length >= 24) + int(length >= 32)
    return short + int(length >= 48) + int(length >= 96) + int(length >= 256)


@jit(part=True, norefs=True)
def predict_matches(
    codes: Bytes, tables: ModelTables, lanes: DenseState, matches: Matches, n: int
) -> None:
    """Fill the match model's logarithms of n lanes: log odds of the predicted base, else 0."""
    x, hits = lanes.x, tables.hits
    for lane in range(n):
        x[MATCH_X, lane] = x[MATCH_X + 1, lane] = x[MATCH_X + 2, lane] = x[MATCH_X + 3, lane] = 0
        lanes.place[MATCH, lane] = np.uint32(MATCH_CLASS)
        if matches.at[lane] == NOWHERE:
            continue
        base, is_forward = np.int64(codes[matches.at[lane]]), matches.step[lane] > 0
        base = base if is_forward else 3 - base
        misses, size = matches.misses[lane], length_class(matches.length[lane])
        wrong, is_long = ones_in(misses), size >= 4
        recent = int(misses & RECENT != 0)
        state = ((size * 17 + wrong) * 2 + recent) * 2 + int(is_forward)
        matches.base[lane], matches.state[lane] = base, state
        p = np.int64(hits[state])
        x[MATCH_X + base, lane] = LOGS[p >> 4] - LOGS[(65536 - p) // 3 >> 4]
        kind = 1 + min(7, wrong) + (0 if not is_long else 8 if wrong < 7 else 7)
        lanes.place[MATCH, lane] = np.uint32(MATCH_CLASS + kind)


@jit(part=True, norefs=True)
def learn_matches(tables: ModelTables, lanes: DenseState, matches: Matches, n: int) -> None:
    """Update hit probabilities of matches with the coded bases; advance or end each match."""
    hits, state, change = tables.hits, matches.state, matches.change
    for lane in range(n):
        if matches.at[lane] != NOWHERE:
            p, is_hit = hits[state[lane]], matches.base[lane] == lanes.base[lane]
            change[lane] = (
                (65535 - p) >> RATE if is_hit else -(p >> RATE)
            )  # 64 lanes stay in 16 bits
    for lane in range(n):
        if matches.at[lane] != NOWHERE:
            hits[state[lane]] += change[lane]
            move_match(matches, lane, matches.base[lane] == lanes.base[lane])


@jit(inline=True, part=True, norefs=True)
def move_match(matches: Matches, lane: int, is_hit: bool) -> None:
    """Advance a match to its next base; end it at the lane's start or with too many misses."""
    length = matches.length[lane]
    less = length // 2 if length > 32 else 0
    matches.length[lane] = min(MOST_LENGTH, length + 1) if is_hit else less
    misses = (matches.misses[lane] << 1 | int(not is_hit)) & KEPT
    at = matches.at[lane] + matches.step[lane]
    matches.misses[lane] = misses
    is_over = at < matches.low[lane] or ones_in(misses) > MOST_MISSES
    matches.at[lane] = NOWHERE if is_over else at


@jit(part=True, norefs=True)
def enter_positions(shape: Shape, tables: ModelTables, lanes: DenseState, now: int, n: int) -> None:
    """Enter step `now` of n lanes in the match table as the position after their last 16 bases.

    Previous entries are looked up first: after the update a lane would find its own entry.
    """
    if not shape.enters_first:
        load_entries(tables, lanes, n)
    bits, entries = np.uint32(shape.place_bits), tables.entries
    for lane in range(n):
        place = np.uint32(lane << shape.step_bits | now)
        entries[lanes.of_entry[lane]] = np.uint32(lanes.key[lane] << bits) | place
