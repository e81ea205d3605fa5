"""Kernels for strings in the form of Zarr's serializers, and their concatenated bytes."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.arrays import Bytes
from gangsaw.codecs.core.numba.jit import jit

Lengths: TypeAlias = NDArray[np.uint32]

FIELD = 4  # bytes of the number of items, and of the length before each


@jit
def read_lengths(data: Bytes, lengths: Lengths) -> bool:
    """Fill the length of each string in Zarr's serialized form; return False if that is invalid.

    It is invalid if the bytes are not exactly `lengths.size` strings.
    """
    at = FIELD
    for i in range(lengths.size):
        if data.size - at < FIELD:
            return False
        length = 0
        for k in range(FIELD):
            length |= int(data[at + k]) << (8 * k)
        at += FIELD
        if length > data.size - at:
            return False
        lengths[i] = length
        at += length
    return bool(at == data.size)


@jit
def mark_bytes(data: Bytes, lengths: Lengths, there: NDArray[np.bool_]) -> None:
    """Set `there`, (256,), for each byte value that occurs in strings.

    data : serialized strings, each after its length, without the count before all
    """
    at = 0
    for i in range(lengths.size):
        at += FIELD
        for _ in range(np.int64(lengths[i])):
            there[data[at]] = True
            at += 1


@jit
def concatenate_items(data: Bytes, lengths: Lengths, n_ends: int, end: int, body: Bytes) -> None:
    """Concatenate strings to `body`, with `n_ends` (0 or 1) bytes `end` after each.

    data : serialized strings, each after its length, without the count before all
    """
    at, to = 0, 0
    for i in range(lengths.size):
        at += FIELD
        for _ in range(np.int64(lengths[i])):
            body[to] = data[at]
            at, to = at + 1, to + 1
        for _ in range(n_ends):
            body[to] = end
            to += 1


@jit
def find_ends(body: Bytes, end: int, lengths: Lengths) -> bool:
    """Fill the lengths of strings that end with byte `end`; return False if the number differs."""
    n, start = 0, 0
    for at in range(body.size):
        if body[at] == end:
            if n == lengths.size:
                return False
            lengths[n] = at - start
            n, start = n + 1, at + 1
    return bool(n == lengths.size and start == body.size)


@jit
def restore_items(body: Bytes, lengths: Lengths, n_ends: int, data: Bytes) -> None:
    """Serialize strings from `body`, where `n_ends` (0 or 1) end bytes follow each, to `data`.

    In `data` each string follows its length.
    """
    at, to = 0, 0
    for i in range(lengths.size):
        length = np.int64(lengths[i])
        for k in range(FIELD):
            data[to + k] = (length >> (8 * k)) & 255
        to += FIELD
        for _ in range(length):
            data[to] = body[at]
            at, to = at + 1, to + 1
        at += n_ends


def lengths_of(data: Bytes) -> Lengths | None:
    """Return the length of each string in Zarr's serialized form; None for any other bytes."""
    if data.size < FIELD:
        return None
    count = int.from_bytes(data[:FIELD].tobytes(), "little")
    if count > data.size // FIELD - 1:
        return None
    lengths = np.empty(count, np.uint32)
    return lengths if read_lengths(data, lengths) else None
