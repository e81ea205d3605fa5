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
    """Fill the length of each item; return False if the bytes are not that many items."""
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
    """Mark the byte values that occur in items; `data` begins with the first item's length."""
    at = 0
    for i in range(lengths.size):
        at += FIELD
        for _ in range(np.int64(lengths[i])):
            there[data[at]] = True
            at += 1


@jit
def concatenate_items(data: Bytes, lengths: Lengths, n_ends: int, end: int, body: Bytes) -> None:
    """Concatenate items, with `n_ends` bytes `end` after each; `data` as in `mark_bytes`."""
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
    """Fill the lengths of items that end with `end`; return False if their number differs."""
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
    """Write items, each after its length; in `body` each is followed by `n_ends` end bytes."""
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
    """Return the length of each item; None if the bytes are not those of strings."""
    if data.size < FIELD:
        return None
    count = int.from_bytes(data[:FIELD].tobytes(), "little")
    if count > data.size // FIELD - 1:
        return None
    lengths = np.empty(count, np.uint32)
    return lengths if read_lengths(data, lengths) else None
