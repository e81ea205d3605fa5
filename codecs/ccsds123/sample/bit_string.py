"""Bit strings of an encoder: separate ones of lanes, joined after the header."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes, Int64s, NumpyArray, UInt64s
from gangsaw.codecs.core.numba.bits import load_be64, store_be64
from gangsaw.codecs.core.numba.jit import jit

MARGIN = 16  # bytes that a store may write after the last codeword


class BitString:
    """Growing buffer for the bytes of a stream: header and body."""

    def __init__(self, start: bytes, expected: int) -> None:
        self.data = np.empty(len(start) + expected + MARGIN, np.uint8)
        self.data[: len(start)] = np.frombuffer(start, np.uint8)
        self.bits = 8 * len(start)

    def reserve(self, bits: int) -> npt.NDArray[np.uint8]:
        """Return the buffer, with capacity for `bits` more bits and a margin."""
        needed = (self.bits + bits) // 8 + 1 + MARGIN
        if needed > self.data.size:
            grown = np.empty(max(needed, self.data.size * 3 // 2), np.uint8)
            used = self.bits // 8 + 1
            grown[:used] = self.data[:used]
            self.data = grown
        return self.data

    def padded(self, word_bytes: int) -> npt.NDArray[np.uint8]:
        """Return the bytes, padded with zero bits to a whole number of words."""
        self.reserve(8 * word_bytes)
        used = -(-self.bits // 8)
        if self.bits % 8:
            self.data[used - 1] &= 0xFF << (8 - self.bits % 8) & 0xFF
        end = -(-used // word_bytes) * word_bytes
        self.data[used:end] = 0
        return self.data[:end]


class BitStrings:
    """Growing bit strings of a group of bands, one per band (lane), in scratch memory."""

    def __init__(self, n_lanes: int, stride: int, sums: NumpyArray) -> None:
        self.stride = stride
        self.scratch = np.empty(n_lanes * stride, np.uint8)
        self.sums = sums
        self.words = np.zeros(n_lanes, np.int64)
        self.used = np.zeros(n_lanes, sums.dtype)
        self.positions = np.arange(n_lanes, dtype=np.int64) * stride

    def reserve(self, more: int) -> None:
        """Grow the scratch memory if a band lacks capacity for `more` bytes."""
        starts = np.arange(self.positions.size) * self.stride
        filled = int((self.positions - starts).max())
        if filled + more <= self.stride:
            return
        stride = max(filled + more, self.stride * 3 // 2)
        grown = np.empty((self.positions.size, stride), np.uint8)
        grown[:, :filled] = self.scratch.reshape(-1, self.stride)[:, :filled]
        self.positions += np.arange(self.positions.size) * (stride - self.stride)
        self.scratch, self.stride = grown.reshape(-1), stride

    @property
    def bits(self) -> npt.NDArray[np.int64]:
        """Number of bits of each band so far, (n_lanes,) int64."""
        starts = np.arange(self.positions.size) * self.stride
        bits: npt.NDArray[np.int64] = 8 * (self.positions - starts) + self.used
        return bits

    def arrays(self) -> tuple[NumpyArray, ...]:
        """Return the fields of a `LaneState` as a tuple: Numba unboxes named tuples slowly."""
        return self.sums, self.words, self.used, self.positions, self.scratch


@jit
def finish_lanes(words: UInt64s, used: NumpyArray, positions: Int64s, scratch: Bytes) -> None:
    """Write the pending bits of each lane, at most one word, to its bytes.

    words, used, positions, scratch : see `LaneState`
    """
    for lane in range(words.size):
        if used[lane] > 0:
            store_be64(scratch, positions[lane], words[lane] << (64 - used[lane]))


@jit
def join_lanes(scratch: Bytes, stride: int, lane_bits: Int64s, out: Bytes, bit: int) -> int:
    """Append each lane's bits, scratch[lane * stride:], to `out` from `bit` on; return the end.

    The bits of out's last byte before `bit` must be present. The kernel writes up to MARGIN bytes
    after the end.
    """
    for lane in range(lane_bits.size):
        place, shift = bit >> 3, bit & 7
        held = (
            np.uint64(out[place] >> (8 - shift)) << np.uint64(64 - shift) if shift else np.uint64(0)
        )
        left = lane_bits[lane]
        source = lane * stride
        while left > 0:
            word = load_be64(scratch, source)
            if left < 64:
                word &= ~(np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(left))
            store_be64(out, place, held | (word >> np.uint64(shift)))
            held = (word << np.uint64(63 - shift)) << np.uint64(1)
            left, source, place = left - 64, source + 8, place + 8
        bit += lane_bits[lane]
        store_be64(out, place, held)
    return bit
