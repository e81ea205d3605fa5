"""Leading-zero suppression: zero counts of all words, then the remaining bits of each (SPEC.md).

The bit positions of words are prefix sums of the counts, so no word depends on another one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes, NumpyArray
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.numba.bits import fit, leading_zeros, load_be64, store_be64
from gangsaw.codecs.core.numba.jit import jit

SLACK = 8  # bytes: words are written eight bytes at a time
UNIT_SHIFTS = {"bits": 0, "bytes": 3}  # log2 of the bits in a unit of counted zeros


def count_width(bits: int, shift: int) -> int:
    """Return the bits of one count of zero units, 0 to as many as a word has."""
    return (bits >> shift).bit_length()


def pack_words(words: NumpyArray, shift: int, head: bytes) -> npt.NDArray[np.uint8]:
    """Return `head`, the zero counts and the remaining bits of words, (n,) uint8.

    Parameters
    ----------
    words : (n_words,) unsigned
    shift : value of UNIT_SHIFTS
    """
    width = count_width(8 * words.itemsize, shift)
    counts = np.empty(-(-words.size * width // 8) + SLACK, np.uint8)
    left = _write_counts(words, shift, width, counts)
    middle = len(head) + counts.size - SLACK
    out = np.empty(middle + -(-left // 8) + SLACK, np.uint8)
    out[: len(head)] = np.frombuffer(head, np.uint8)
    out[len(head) : middle] = counts[:-SLACK]
    _write_left(words, shift, out, middle)
    return out[:-SLACK]


def unpack_words(data: npt.NDArray[np.uint8], first: int, shift: int, words: NumpyArray) -> None:
    """Fill words (n_words,) from data[first:].

    Raises
    ------
    CorruptChunk : the length or a zero count is invalid, or padding bits are set
    """
    width = count_width(8 * words.itemsize, shift)
    middle = first + -(-words.size * width // 8)
    if data.size < middle:
        raise CorruptChunk(f"{data.size} bytes are too few for {words.size} counts of zeros")
    left = _read_counts(data, first, middle, shift, width, words)
    if left < 0:
        raise CorruptChunk("a count of leading zeros exceeds the width of a word")
    if data.size != middle + -(-left // 8):
        raise CorruptChunk(
            f"the counts of zeros say {middle + -(-left // 8)} bytes, there are {data.size}"
        )
    if not _read_left(data, middle, shift, words):
        raise CorruptChunk("leading zeros that are not counted, or fill bits that are set")


@jit(inline=True, part=True, norefs=True)
def _put(
    out: Bytes,
    at: int,
    pending: np.uint64,
    used: int | np.int64,
    value: np.uint64 | np.int64,
    count: int | np.int64,
) -> Any:
    """Append `count` bits, at most 57; return bytes written, pending bits, and their number.

    Pending bits are the top bits of a uint64. They are written each time, and again with those that
    follow, so that there is no branch.
    """
    room = np.uint64(63 - used - count)
    pending |= (np.uint64(value) << np.uint64(1)) << room  # without bits the value is 0
    store_be64(out, at, pending)
    used += count
    return at + (used >> 3), pending << np.uint64(used & ~7), used & 7


@jit(norefs=True)
def _write_counts(words: NumpyArray, shift: int, width: int, out: Bytes) -> Any:
    """Write the zero counts; return the remaining bits of all words."""
    at, pending, used = 0, np.uint64(0), 0
    total: Any = 0
    for word in words:
        zeros = np.int64(leading_zeros(word)) >> shift
        at, pending, used = _put(out, at, pending, used, zeros, width)
        total += zeros
    return 8 * words.itemsize * words.size - (total << shift)


@jit(norefs=True)
def _write_left(words: NumpyArray, shift: int, out: Bytes, at: int) -> None:
    bits = 8 * words.itemsize
    pending, used = np.uint64(0), 0
    for word in words:
        left: int | np.int64 = bits - ((np.int64(leading_zeros(word)) >> shift) << shift)
        if words.itemsize == 8 and left > 32:
            high = np.uint64(word) >> np.uint64(32)
            at, pending, used = _put(out, at, pending, used, high, left - 32)
            left = 32
        low = np.uint64(word) & np.uint64(0xFFFFFFFF)
        at, pending, used = _put(out, at, pending, used, low, left)


@jit(inline=True, part=True, norefs=True)
def _peek(data: Bytes, position: int | np.int64, count: int | np.int64) -> Any:
    """Return `count` bits, 0 to 57, from a bit position; bits beyond the end are 0."""
    at = position >> 3
    if at + 8 <= data.size:
        window = load_be64(data, at)
    else:
        window = np.uint64(0)
        for i in range(8):
            octet = data[at + i] if at + i < data.size else np.uint8(0)
            window = (window << np.uint64(8)) | np.uint64(octet)
    window <<= np.uint64(position & 7)
    return (window >> np.uint64(1)) >> np.uint64(63 - count)


@jit(norefs=True)
def _read_counts(
    data: Bytes, first: int, middle: int, shift: int, width: int, words: NumpyArray
) -> int:
    """Set words to their numbers of remaining bits; return the sum, -1 if a count is invalid."""
    bits = 8 * words.itemsize
    position, total, least = 8 * first, 0, 0
    for i in range(words.size):
        left: Any = bits - (np.int64(_peek(data, position, width)) << shift)
        words[i] = fit(left, words[i])
        total, least = total + left, min(least, left)
        position += width
    if least < 0 or _peek(data, position, 8 * middle - position):
        return -1
    return total


@jit(norefs=True)
def _read_left(data: Bytes, middle: int, shift: int, words: NumpyArray) -> bool:
    """Replace bit lengths by words; return True if an encoder could have written them."""
    unit = 1 << shift
    position, wrong = np.int64(8 * middle), False
    for i in range(words.size):
        left = np.int64(words[i])
        value = np.uint64(0)
        if words.itemsize == 8 and left > 32:
            value = _peek(data, position, left - 32) << np.uint64(32)
            position += left - 32
        low = min(left, np.int64(32))
        value |= _peek(data, position, low)
        position += low
        if left:
            wrong |= bool(value >> np.uint64(left - unit) == 0)
        words[i] = fit(value, words[i])
    return not wrong and _peek(data, position, 8 * data.size - position) == 0
