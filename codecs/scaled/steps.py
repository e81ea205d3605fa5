"""Host kernels for floats and their integers, and for exceptions.

The code of each float of a block is 0 for a scaled integer, 1 for an exception, and 2 or more for
the value of that mask.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.arrays import Bytes, Float64s, Int64s, NumpyArray
from gangsaw.codecs.core.numba.jit import jit

OTHER, FIRST_MASK = 1, 2  # codes
MOST_VARINT = 5  # bytes of a number below 2^31


@jit(inline=True)
def decode_float(number: float, constants: NumpyArray, is_product: bool) -> Any:
    """Return the float of an integer, in the precision of the constants."""
    kind = constants.dtype.type
    if is_product:
        return kind(number) * constants[0] + constants[1]
    return kind(number) / constants[0] + constants[1]


@jit
def scale_down(
    floats: Any,
    constants: NumpyArray,
    is_product: bool,
    limits: Float64s,
    integers: NumpyArray,
    codes: Bytes,
) -> int:
    """Fill the integer and the code of each float; return the number of exceptions.

    Exceptions are floats that their integer does not restore.

    Parameters
    ----------
    floats : (n,) float32 or float64
    constants : (2,), scale and offset
    limits : (2,) float64, smallest and largest integer
    integers : (n,), 0 for floats outside the limits
    codes : (n,) uint8, OTHER for exceptions, else 0
    """
    offset, low, high, wrong = np.float64(constants[1]), limits[0], limits[1], np.int64(0)
    factor = np.float64(constants[0])
    if is_product:
        factor = 1 / factor
    for i in range(floats.size):
        found = np.rint((np.float64(floats[i]) - offset) * factor)
        fits = (found >= low) & (found <= high)
        number = found if fits else 0.0
        again = floats.dtype.type(decode_float(number, constants, is_product))
        one = np.float32(1)
        is_signed = np.copysign(one, np.float32(again)) == np.copysign(one, np.float32(floats[i]))
        code = not (fits & (again == floats[i]) & is_signed)
        integers[i] = integers.dtype.type(np.int32(number))
        codes[i] = code
        wrong += np.int64(code)
    return int(wrong)


@jit
def scale_up(integers: NumpyArray, constants: NumpyArray, is_product: bool, floats: Any) -> None:
    """Fill (n,) floats from their integers."""
    for i in range(floats.size):
        floats[i] = floats.dtype.type(decode_float(integers[i], constants, is_product))


@jit
def fill_gaps(integers: NumpyArray, codes: Bytes) -> None:
    """Set the integer of exceptions to the one before, or 0 at the start of a block."""
    last = integers.dtype.type(0)
    for i in range(integers.size):
        if codes[i]:
            integers[i] = last
        last = integers[i]


@jit
def find_common(words: NumpyArray, codes: Bytes) -> Any:
    """Return the majority word of exceptions with code OTHER, if there is one, and its count."""
    word, lead, count = words[0], 0, np.int64(0)
    for i in range(words.size):
        if codes[i] == OTHER:
            if lead == 0:
                word = words[i]
            lead += 1 if words[i] == word else -1
    for i in range(words.size):
        count += np.int64((codes[i] == OTHER) & (words[i] == word))
    return word, count


@jit
def mark_word(words: NumpyArray, codes: Bytes, word: NumpyArray, code: int) -> None:
    """Set the code of exceptions whose float bits equal this word."""
    for i in range(words.size):
        if (codes[i] == OTHER) & (words[i] == word):
            codes[i] = code


@jit(inline=True)
def put_varint(out: Bytes, at: int, number: int) -> int:
    """Write a number, seven bits per byte, lowest first; return the offset after it."""
    while number >= 128:
        out[at] = np.uint8(number & 127 | 128)
        at, number = at + 1, number >> 7
    out[at] = np.uint8(number)
    return at + 1


@jit(inline=True)
def get_varint(data: Bytes, at: int) -> Any:
    """Return a number and the offset after it, -1 if the data ends before."""
    number = 0
    for i in range(MOST_VARINT):
        if at + i >= data.size:
            break
        octet = np.int64(data[at + i])
        number |= int(octet & 127) << (7 * i)
        if octet < 128:
            return number, at + i + 1
    return 0, -1


@jit
def pack_mask(codes: Bytes, code: int, plane: int, out: Bytes) -> int:
    """Write where a mask changes from plane to plane, as runs; return the number of bytes.

    code : code of the positions of the mask
    plane : items at one index of the first axis
    out : (n + MOST_VARINT,) uint8; a run of one takes a byte
    """
    at, run, was = 0, 0, False
    for i in range(codes.size):
        before = i >= plane and codes[i - plane] == code
        is_changed = (codes[i] == code) != before
        if is_changed != was:
            at = put_varint(out, at, run)
            run, was = 0, is_changed
        run += 1
    return put_varint(out, at, run)


@jit
def unpack_mask(data: Bytes, at: int, plane: int, mask: Bytes) -> int:
    """Fill a mask, (n,) uint8, from its runs; return the offset after them, -1 if invalid."""
    filled, bit, first = 0, 0, True
    while filled < mask.size:
        run, at = get_varint(data, at)
        if at < 0 or run > mask.size - filled or (run == 0 and not first):
            return -1
        mask[filled : filled + run] = bit
        filled, bit, first = filled + run, 1 - bit, False
    for i in range(plane, mask.size):
        mask[i] ^= mask[i - plane]
    return at


@jit
def put_masked(mask: Bytes, word: int, words: NumpyArray) -> None:
    """Set the float bits at the positions of a mask to its value."""
    for i in range(mask.size):
        if mask[i]:
            words[i] = word


@jit
def pack_positions(positions: Int64s, out: Bytes) -> int:
    """Write the gaps between positions; return the number of bytes.

    out : (MOST_VARINT * n,) uint8
    """
    at, before = 0, -1
    for place in positions:
        at = put_varint(out, at, place - before - 1)
        before = place
    return at


@jit
def unpack_positions(data: Bytes, at: int, n: int, positions: Int64s) -> int:
    """Fill positions below n from their gaps; return the offset after these, -1 if invalid."""
    before = -1
    for i in range(positions.size):
        gap, at = get_varint(data, at)
        if at < 0 or gap >= n - before - 1:
            return -1
        before += gap + 1
        positions[i] = before
    return at
