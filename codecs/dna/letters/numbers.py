"""Variable-length numbers of 7 bits per byte, low bits first (LEB128). SPEC.md, Block."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes
from gangsaw.codecs.core.numba.jit import jit

MOST_BYTES = 5
WRONG = -1
# numbers of one or two bytes are written without a branch, which is hard to predict
SHORT = 1 << 14
Ints = npt.NDArray[np.int64]
NO_BYTES = np.zeros(MOST_BYTES, np.uint8)


@jit(inline=True, part=True, norefs=True)
def put_leb128(out: Bytes, at: int, value: int) -> int:
    """Write a number 0 to 2^35 - 1 as LEB128 at offset `at`; return the offset after it.

    One byte after it may be overwritten.
    """
    while value >= SHORT:
        out[at] = value & 127 | 128
        value >>= 7
        at += 1
    is_long = int(value > 127)
    out[at] = value & 127 | is_long << 7
    out[at + 1] = value >> 7
    return at + 1 + is_long


@jit(inline=True, part=True, norefs=True)
def get_leb128(data: Bytes, at: int) -> tuple[int, int]:
    """Read a LEB128 number at offset `at`; return it and the offset after it, or WRONG twice.

    It is WRONG if the data ends before, or the number is longer than MOST_BYTES.
    """
    if at + 1 < data.size:
        byte, behind = int(data[at]), int(data[at + 1])
        is_long = byte >> 7
        if (behind >> 7) & is_long == 0:
            return byte & 127 | behind << 7 & -is_long, at + 1 + is_long
    value = 0
    for i in range(MOST_BYTES):
        if at + i >= data.size:
            return WRONG, WRONG
        byte = int(data[at + i])
        value |= (byte & 127) << (7 * i)
        if byte < 128:
            return value, at + i + 1
    return WRONG, WRONG


def number_ends(data: npt.NDArray[np.uint8]) -> Ints:
    """Return the end of the LEB128 number that starts at each byte of data, or at the next two.

    The result, (n + 2,), is n + 1 where the data ends before the number.
    """
    none = data.size + 1
    ends = np.where(data < 128, np.arange(1, none), none)
    return np.append(np.minimum.accumulate(ends[::-1])[::-1], [none, none])


def numbers_at(data: npt.NDArray[np.uint8], begins: Ints, ends: Ints) -> Ints:
    """Return the LEB128 numbers between these offsets, (n,) int64, each MOST_BYTES long at most."""
    place = begins[:, None] + np.arange(MOST_BYTES)
    parts = (np.append(data, NO_BYTES)[place] & 127).astype(np.int64) << 7 * np.arange(MOST_BYTES)
    values: Ints = np.where(place < ends[:, None], parts, 0).sum(axis=1)
    return values


def least_bytes(exceptions: Ints, cases: Ints) -> Ints:
    """Return the least bytes that this many runs of exceptions and of lower case take."""
    return 3 * exceptions + 2 * cases


def most_mark_bytes(runs: Ints, sizes: Ints) -> Ints:
    """Return an upper bound of the stored bytes of marks of one kind, for each block.

    A number takes a byte, and one more for each 128 letters that it counts.

    runs : number of runs in each block; sizes : letters of each block
    """
    return 3 * runs + sizes // 128


def most_runs(n_bytes: Ints, has_values: Ints) -> Ints:
    """Return an upper bound of the runs of one kind stored in `n_bytes` bytes.

    has_values : 1 for exceptions, whose runs have a letter, else 0
    """
    return -(-n_bytes // (2 + has_values))
