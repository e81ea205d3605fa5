"""Encoder of qualities: converts tokens to lanes, several interleaved."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Int64s, UInt16s
from gangsaw.codecs.core.entropy.rans_tables import LOWEST, PRECISION, TOTAL
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.reads.quality.contexts import ONE, U
from gangsaw.codecs.reads.quality.syntax import SYNTAX_TABLES
from gangsaw.codecs.reads.quality.tokens import TokenRuns

SIDE = 4  # interleaved lanes
WINDOW, LEFT, PLACE, STATE, AT, FIELDS = range(6)  # fields of a lane that is being written
NONE = -1
STATE_WORDS = 2
INVERSE_BITS, WORD_BITS = U(44), U(16)
Entries = npt.NDArray[np.uint64]


class WindowLanes(NamedTuple):
    """Windows of qualities whose lanes are being encoded, several of them interleaved.

    Attributes
    ----------
    runs : coder tokens of the windows
    entries : encoder's table, see `build_quality_entries`
    lane_ends : (n_windows,) int64, end of each lane in words
    sizes : (n_windows,) int64, words of each lane, filled
    lanes : (SIDE, FIELDS) int64, state of the interleaved lanes
    """

    runs: TokenRuns
    entries: Entries
    lane_ends: Int64s
    sizes: Int64s
    lanes: npt.NDArray[np.int64]


def build_quality_entries(frequencies: npt.NDArray[np.uint16], n_values: int) -> Entries:
    """Return the rANS encoder's table of all tokens, (2 * n_tokens,) uint64.

    Each token has the inverse of its frequency, see `push_token`, then the frequency, with its
    first slot from bit 16 on.
    """
    wide = frequencies.astype(np.uint64)
    low = np.cumsum(wide, axis=1, dtype=np.uint64) - wide
    syntax = _packed(wide[:SYNTAX_TABLES], low[:SYNTAX_TABLES])
    values = _packed(wide[SYNTAX_TABLES:, :n_values], low[SYNTAX_TABLES:, :n_values])
    return np.concatenate((syntax, _raw_entries(), values))


@cache
def _raw_entries() -> Entries:
    """Return the encoder's entries of raw bits; the token of n bits v has index 2^n + v."""
    number = np.arange(2 << PRECISION)
    bits = np.frexp(np.maximum(number, 1))[1] - 1
    frequency = (TOTAL >> np.minimum(bits, PRECISION)).astype(np.uint64)
    return _packed(frequency, (number - (1 << bits)).astype(np.uint64) * frequency)


def _packed(frequency: Entries, low: Entries) -> Entries:
    divisor = np.maximum(frequency, ONE)
    inverse = ((ONE << INVERSE_BITS) + divisor - ONE) // divisor
    return np.stack((inverse, frequency | low << WORD_BITS), axis=-1).ravel()


def encoded_windows(runs: TokenRuns, entries: Entries) -> tuple[npt.NDArray[np.uint16], Int64s]:
    """Return the concatenated lanes of some windows, in words, and the words of each."""
    n_tokens = runs.ends - runs.begins
    lane_ends = np.cumsum(
        n_tokens + STATE_WORDS * (n_tokens > 0)
    )  # no token takes more than a word
    out = np.empty(int(lane_ends[-1]), np.uint16)
    lanes = np.zeros((SIDE, FIELDS), np.int64)
    lanes[:, WINDOW] = NONE
    job = WindowLanes(runs, entries, lane_ends, np.zeros_like(lane_ends), lanes)
    write_quality_lanes(job, out)
    return out[: int(close_up(job.lane_ends, job.sizes, out))].copy(), job.sizes


@jit
def close_up(lane_ends: Int64s, sizes: Int64s, out: UInt16s) -> int:
    """Move the lanes together to the front of `out`; return the number of words."""
    at = 0
    for i in range(sizes.size):
        begin = lane_ends[i] - sizes[i]
        for k in range(sizes[i]):
            out[at + k] = out[begin + k]
        at += sizes[i]
    return at


@jit(norefs=True)
def write_quality_lanes(job: WindowLanes, out: UInt16s) -> None:
    """Write lanes backwards so that they end at `lane_ends`; set their numbers of words."""
    lanes, queue = job.lanes, 0
    while True:
        n = 1 << 62
        for k in range(SIDE):
            if lanes[k, LEFT] == 0:
                queue = next_window(job, queue, k, out)
            n = min(n, lanes[k, LEFT])
        if n == 0:
            break
        write_side_by_side(job, n, out)
    for k in range(SIDE):
        while lanes[k, LEFT]:
            write_rest(job, k, out)
            queue = next_window(job, queue, k, out)


@jit(part=True, norefs=True)
def next_window(job: WindowLanes, queue: int, k: int, out: UInt16s) -> int:
    """Finish the window of lane k, if it has one, and begin the next one.

    Return the index of the next window that no lane has; `queue` is the one before the call.

    LEFT is 0 if there are no more windows.
    """
    lanes, window = job.lanes, job.lanes[k, WINDOW]
    if window != NONE:
        at = lanes[k, AT] - STATE_WORDS
        out[at], out[at + 1] = U(lanes[k, STATE]) & U(0xFFFF), U(lanes[k, STATE]) >> WORD_BITS
        job.sizes[window], lanes[k, WINDOW] = job.lane_ends[window] - at, NONE
    while queue < job.runs.ends.size and job.runs.begins[queue] == job.runs.ends[queue]:
        queue += 1
    if queue < job.runs.ends.size:
        lanes[k, WINDOW], lanes[k, PLACE] = queue, job.runs.ends[queue]
        lanes[k, LEFT] = job.runs.ends[queue] - job.runs.begins[queue]
        lanes[k, STATE], lanes[k, AT] = LOWEST, job.lane_ends[queue]
        queue += 1
    return queue


@jit(inline=True, part=True, norefs=True)
def push_token(
    x: np.uint64, at: np.uint64, place: np.uint64, job: WindowLanes, out: UInt16s
) -> tuple[np.uint64, np.uint64]:
    """Encode the token before index `place` into the rANS state x.

    Return the new state and the offset of its last word; the word before `at` is always written.

    With an inverse of 2^44 / frequency, rounded up, the quotient is exact for x < frequency * 2^20,
    and nothing overflows 2^64.
    """
    token = U(job.runs.tokens[place - ONE])
    inverse, entry = job.entries[token << ONE], job.entries[token << ONE | ONE]
    frequency, low = entry & U(0xFFFF), entry >> WORD_BITS
    out[at - ONE] = x & U(0xFFFF)
    n_words = U(x >> U(32 - PRECISION) >= frequency)  # words; a branch would be unpredictable
    x >>= n_words << U(4)
    quotient = x * inverse >> INVERSE_BITS
    return x + low + quotient * (U(TOTAL) - frequency), at - n_words


@jit(part=True, norefs=True)
def write_rest(job: WindowLanes, k: int, out: UInt16s) -> None:
    """Encode the remaining tokens of the window of lane k."""
    lanes = job.lanes
    x, at, place = U(lanes[k, STATE]), U(lanes[k, AT]), U(lanes[k, PLACE])
    for i in range(U(lanes[k, LEFT])):
        x, at = push_token(x, at, place - i, job, out)
    lanes[k, STATE], lanes[k, AT], lanes[k, LEFT] = x, at, 0


@jit(part=True, norefs=True)
def write_side_by_side(job: WindowLanes, n: int, out: UInt16s) -> None:
    """Encode n tokens of each interleaved lane."""
    lanes = job.lanes
    a, b, c, d = U(lanes[0, STATE]), U(lanes[1, STATE]), U(lanes[2, STATE]), U(lanes[3, STATE])
    at_a, at_b, at_c, at_d = U(lanes[0, AT]), U(lanes[1, AT]), U(lanes[2, AT]), U(lanes[3, AT])
    p, q, r, s = U(lanes[0, PLACE]), U(lanes[1, PLACE]), U(lanes[2, PLACE]), U(lanes[3, PLACE])
    for i in range(U(n)):
        a, at_a = push_token(a, at_a, p - i, job, out)
        b, at_b = push_token(b, at_b, q - i, job, out)
        c, at_c = push_token(c, at_c, r - i, job, out)
        d, at_d = push_token(d, at_d, s - i, job, out)
    for k in range(SIDE):
        lanes[k, LEFT] -= n
        lanes[k, PLACE] -= n
    lanes[0, STATE], lanes[1, STATE], lanes[2, STATE], lanes[3, STATE] = a, b, c, d
    lanes[0, AT], lanes[1, AT], lanes[2, AT], lanes[3, AT] = at_a, at_b, at_c, at_d
