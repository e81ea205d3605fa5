"""Checksum of a set of records in any order: XXH64 of each record, added modulo 2^64.

XXH64 is Y. Collet's, according to its specification (version 0.2), with seed 0.
"""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.arrays import Bytes, Int64s, UInt64s
from gangsaw.codecs.core.numba.items import put_items
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.words import load_le64
from gangsaw.tasks.genomics.reads.files.kernels import FieldArrays

P1 = np.uint64(0x9E3779B185EBCA87)
P2 = np.uint64(0xC2B2AE3D27D4EB4F)
P3 = np.uint64(0x165667B19E3779F9)
P4 = np.uint64(0x85EBCA77C2B2AE63)
P5 = np.uint64(0x27D4EB2F165667C5)
STRIPE = 32


@jit(inline=True, part=True)
def _rotate(x: np.uint64, n: int) -> np.uint64:
    return x << np.uint64(n) | x >> np.uint64(64 - n)


@jit(inline=True)
def _round(state: np.uint64, lane: np.uint64) -> np.uint64:
    return _rotate(state + lane * P2, 31) * P1


@jit(inline=True)
def _merge(state: np.uint64, lane: np.uint64) -> np.uint64:
    return (state ^ _round(np.uint64(0), lane)) * P1 + P4


@jit(part=True)
def xxh64(data: Bytes, n: int) -> np.uint64:
    """Return XXH64 (seed 0) of the first n bytes of (m,) uint8, m >= n + 8."""
    at = 0
    if n >= STRIPE:
        a, b, c, d = P1 + P2, P2, np.uint64(0), np.uint64(0) - P1
        while at + STRIPE <= n:
            a = _round(a, load_le64(data, at))
            b = _round(b, load_le64(data, at + 8))
            c = _round(c, load_le64(data, at + 16))
            d = _round(d, load_le64(data, at + 24))
            at += STRIPE
        state = _rotate(a, 1) + _rotate(b, 7) + _rotate(c, 12) + _rotate(d, 18)
        state = _merge(_merge(_merge(_merge(state, a), b), c), d)
    else:
        state = P5
    return _finish(state + np.uint64(n), data, at, n)


@jit
def _finish(state: np.uint64, data: Bytes, at: int, n: int) -> np.uint64:
    while at + 8 <= n:
        state = _rotate(state ^ _round(np.uint64(0), load_le64(data, at)), 27) * P1 + P4
        at += 8
    if at + 4 <= n:
        word = load_le64(data, at) & np.uint64(0xFFFFFFFF)
        state = _rotate(state ^ word * P1, 23) * P2 + P3
        at += 4
    while at < n:
        state = _rotate(state ^ np.uint64(data[at]) * P5, 11) * P1
        at += 1
    state = (state ^ state >> np.uint64(33)) * P2
    state = (state ^ state >> np.uint64(29)) * P3
    return state ^ state >> np.uint64(32)


@jit
def sum_records(fields: tuple[FieldArrays, ...], scratch: Bytes) -> np.uint64:
    """Return the checksum of records: the sum of their XXH64, modulo 2^64.

    Parameters
    ----------
    fields : tuples (text, begins, ends) of the fields of a record, in the order of hashing; begins
        and ends are (n,) int64. Each field is hashed with a newline
    scratch : (m,) uint8, at least 8 bytes longer than any record
    """
    total = np.uint64(0)
    for i in range(fields[0][1].size):
        at = 0
        for text, begins, ends in fields:
            n = ends[i] - begins[i]
            put_items(scratch, at, text, begins[i], ends[i])
            scratch[at + n] = 10
            at += n + 1
        total += xxh64(scratch, at)
    return total


@jit
def hash_each_line(
    text: Bytes, begins: Int64s, ends: Int64s, scratch: Bytes, hashes: UInt64s
) -> None:
    """Write the XXH64 of each line to hashes (n,) uint64; scratch as in `sum_records`."""
    for i in range(len(begins)):
        n = ends[i] - begins[i]
        put_items(scratch, 0, text, begins[i], ends[i])
        hashes[i] = xxh64(scratch, n)
