"""Exceptions: floats that are not scaled integers, as masks of common values, or singly."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.container.runs import Payload
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.scaled import steps

MOST_MASKS = 3
LEAST = 8  # floats of a mask: fewer are shorter one by one
# a block may have one exception per this many floats; with more it is not coded as integers
MOST_OTHERS = 16

Words = NumpyArray  # (n,) uint32 or uint64, bits of floats
Codes = npt.NDArray[np.uint8]


def mark_masks(words: Words, codes: Codes, n_others: int) -> tuple[list[int], int]:
    """Mark the positions of the most frequent exceptional values, one mask for each value.

    Return these values, and the number of other exceptions.

    codes : (n,) uint8, OTHER for exceptions, changed to that of a mask
    """
    values: list[int] = []
    while len(values) < MOST_MASKS and n_others >= LEAST:
        word, count = steps.find_common(words, codes)
        if count < LEAST or 2 * count <= n_others:
            break
        steps.mark_word(
            words, codes, np.array(word, words.dtype)[()], steps.FIRST_MASK + len(values)
        )
        values.append(int(word))
        n_others -= count
    return values, n_others


def pack_exceptions(
    words: Words, codes: Codes, plane: int, values: list[int]
) -> tuple[Payload, ...]:
    """Return the coded parts of exceptions: masks, then the others with their positions.

    Parameters
    ----------
    words, codes : (n,), bits of the floats of a block, and their codes
    plane : items of the block at one index of its first axis
    values : values of the masks
    """
    parts, little = [], words.dtype.newbyteorder("<")
    for number, value in enumerate(values):
        out = np.empty(codes.size + steps.MOST_VARINT, np.uint8)
        size = steps.pack_mask(codes, steps.FIRST_MASK + number, plane, out)
        parts += [np.array([value], little).view(np.uint8), out[:size].copy()]
    positions = np.flatnonzero(codes == steps.OTHER)
    gaps = np.empty(steps.MOST_VARINT * (positions.size + 1), np.uint8)
    first = steps.put_varint(gaps, 0, positions.size)
    size = first + steps.pack_positions(positions, gaps[first:])
    return *parts, gaps[:size], words[positions].astype(little).view(np.uint8)


def restore_exceptions(data: Payload, n_masks: int, plane: int, words: Words) -> None:
    """Write the bits of exceptions to their positions.

    Parameters
    ----------
    data : coded exceptions
    plane : items of the block at one index of its first axis
    words : (n,), bits of floats decoded from integers, changed

    Raises
    ------
    CorruptChunk : the bytes are not the exceptions of such a block
    """
    at, size = 0, words.itemsize
    mask = np.empty(words.size if n_masks else 0, np.uint8)
    for _ in range(n_masks):
        (value,) = parse_words(data[at : at + size], 1, words.dtype)
        at = _checked(steps.unpack_mask(data, at + size, plane, mask))
        steps.put_masked(mask, value, words)
    count, at = steps.get_varint(data, at)
    if _checked(at) and count * (1 + size) > data.size - at:
        raise CorruptChunk(f"{count} exceptions in {data.size} bytes")
    positions = np.empty(count, np.int64)
    at = _checked(steps.unpack_positions(data, at, words.size, positions))
    words[positions] = parse_words(data[at:], count, words.dtype)


def parse_words(data: Payload, count: int, dtype: Dtype) -> Words:
    """Return the float bits in a payload; raise CorruptChunk if their number differs."""
    if data.size != count * dtype.itemsize:
        raise CorruptChunk(f"{data.size} bytes for {count} values of {dtype.itemsize}")
    return data.view(dtype.newbyteorder("<")).astype(dtype)


def _checked(at: int) -> int:
    if at < 0:
        raise CorruptChunk("the positions of the exceptions are damaged")
    return at
