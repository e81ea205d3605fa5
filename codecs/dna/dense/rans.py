"""One rANS state per lane (J. Duda, 2013): 32 bits, words of 16, frequencies of 16 bits.

The codec of reads looks symbols up in tables of 12 bits; here each base has frequencies of its own,
and four of them are compared.
"""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.arrays import Bytes, Int32s, Int64s, UInt16s, UInt32s
from gangsaw.codecs.core.entropy.rans_tables import LOWEST
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.dna.dense.model.shape import STATE_WORDS, WORD, Shape
from gangsaw.codecs.dna.dense.model.state import DenseState
from gangsaw.codecs.dna.dense.step import lanes_at

HALF = (1 << WORD) - 1


@jit(restrict=True, part=True)
def note_bases(
    frequency: Int32s, base: Bytes, slots: UInt32s, stride: int, now: int, n: int
) -> None:
    """Record first slot and frequency of the base of each lane at step `now`, for rANS encoding.

    slots : (lanes * stride,) uint32, the first slot in the high half, the frequency in the low one
    """
    for lane in range(n):
        came, first = base[lane], 0
        for other in range(3):
            first += frequency[other, lane] if other < came else 0
        slots[lane * stride + now] = first << WORD | frequency[came, lane]


@jit(norefs=True)
def write_lane_words(
    slots: UInt32s, shape: Shape, state: UInt32s, words: UInt16s, begins: Int64s
) -> None:
    """Encode all lanes with rANS, last step first; each ends at the end of its part of `words`.

    Parameters
    ----------
    slots : (lanes * stride,) uint32, filled by `note_bases`
    state : (lanes,) uint32, scratch
    words : (lanes * room,) uint16, room for `most_words` of each lane
    begins : (lanes,) int64, filled with the start of each lane
    """
    room = words.size // shape.lanes
    for lane in range(shape.lanes):
        state[lane] = LOWEST
        begins[lane] = (lane + 1) * room
    for now in range(shape.steps - 1, -1, -1):
        for lane in range(lanes_at(shape, now)):
            slot, x = slots[lane * shape.stride + now], state[lane]
            frequency = slot & np.uint32(HALF)
            if x >= np.uint32(frequency << np.uint32(WORD)):
                begins[lane] -= 1
                words[begins[lane]] = x & np.uint32(HALF)
                x >>= np.uint32(WORD)
            quotient = np.uint32(x // frequency)
            rest = x - np.uint32(quotient * frequency) + (slot >> np.uint32(WORD))
            state[lane] = np.uint32(quotient << np.uint32(WORD)) + rest
    for lane in range(shape.lanes):
        begins[lane] -= STATE_WORDS
        words[begins[lane]] = state[lane] >> np.uint32(WORD)
        words[begins[lane] + 1] = state[lane] & np.uint32(HALF)


@jit(part=True, norefs=True)
def begin_states(words: UInt16s, state: UInt32s, at: Int64s, n: int) -> None:
    """Read the initial rANS state of each of n lanes, high half first; advance `at` past it."""
    for lane in range(n):
        high, low = np.uint32(words[at[lane]]), np.uint32(words[at[lane] + 1])
        state[lane] = np.uint32(high << np.uint32(WORD)) | low
        at[lane] += STATE_WORDS


@jit(restrict=True, part=True)
def choose_bases(frequency: Int32s, state: UInt32s, base: Bytes, n: int) -> None:
    """Decode the next base of n lanes from their rANS states, which may be too low then."""
    zero, one = np.uint32(0), np.uint32(1)
    for lane in range(n):
        x = state[lane]
        slot = x & np.uint32(HALF)
        size, first, came = np.uint32(frequency[0, lane]), zero, zero
        end = size
        for other in range(1, 4):
            more = np.uint32(frequency[other, lane])
            is_behind = slot >= end
            size = more if is_behind else size
            first = end if is_behind else first
            came = np.uint32(came + (one if is_behind else zero))
            end = np.uint32(end + more)
        state[lane] = np.uint32(size * (x >> np.uint32(WORD))) + np.uint32(slot - first)
        base[lane] = came


@jit(restrict=True, part=True)
def fill_states(words: UInt16s, state: UInt32s, at: Int64s, ends: Int64s, n: int) -> None:
    """Append a word to each rANS state that is too low.

    A lane at its end reads its last word again.
    """
    for lane in range(n):
        x, place = state[lane], at[lane]
        # always read: whether it is needed is unpredictable
        word = np.uint32(words[min(place, ends[lane] - 1)])
        is_low = x < np.uint32(LOWEST)
        state[lane] = np.uint32(x << np.uint32(WORD)) | word if is_low else x
        at[lane] = place + int(is_low)


@jit(part=True, norefs=True)
def pull_bases(
    lanes: DenseState, words: UInt16s, state: UInt32s, at: Int64s, ends: Int64s, n: int
) -> None:
    """Decode the next base of n lanes, and refill their rANS states."""
    choose_bases(lanes.frequency, state, lanes.base, n)
    fill_states(words, state, at, ends, n)


@jit(part=True, norefs=True)
def are_whole(state: UInt32s, at: Int64s, ends: Int64s, n: int) -> bool:
    """Return True if all lanes ended in the encoder's initial state, after their last word."""
    whole = True
    for lane in range(n):
        whole &= state[lane] == np.uint32(LOWEST) and at[lane] == ends[lane]
    return whole
