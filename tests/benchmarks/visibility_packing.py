"""Two ways to pack leading-zero-suppressed words on several threads, in one another's terms.

Both write, for each word, the count of its leading zeros, and what is left of it. They differ in
how a thread finds where its words go.

Prefix sums: one stream. Lengths are added per segment, prefix sums of these give where each segment
begins, to the bit, and all segments are written into their places at once. A reader adds the same
lengths first.
Independent blocks: each segment is packed where there is room, at one go, and then moved to its
place, which begins at a whole byte. An index of the lengths tells readers where.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.memory.threads import run_blocks
from gangsaw.codecs.core.numba.bits import leading_zeros, load_be64, store_be64
from gangsaw.codecs.core.numba.jit import jit

Words = npt.NDArray[np.uint32]
Octets = npt.NDArray[np.uint8]
Longs = npt.NDArray[np.int64]
PARTS = 16  # pieces of work: enough for threads that do not run alike, few for Python
INDEX_BYTES = 4  # of a block's length
SLACK = 8  # bytes that a store of 8 may pass the end by
COUNT_BITS = {0: 6, 3: 3}  # of a count of zero bits, of zero bytes


class Room:
    """Memory to pack into, made once: new pages would cost more than packing.

    Attributes
    ----------
    counts : (words,) uint8, leading zeros of each word, in units
    left : (bytes,) uint8, what is left of the words
    apart : (segments, bytes) uint8, where blocks are packed before their places are known
    """

    def __init__(self, n_words: int, segment: int) -> None:
        n = -(-n_words // segment)
        self.counts = np.zeros(n_words, np.uint8)
        self.left = np.zeros(4 * n_words + n + SLACK, np.uint8)
        self.apart = np.zeros((n, 4 * segment + SLACK), np.uint8)


@dataclass(frozen=True)
class Packed:
    """A packed array, in a room.

    Attributes
    ----------
    starts : (segments + 1,) int64, bits: prefix sums, or ends of blocks padded to bytes
    stored_bytes : with counts at their own width, and the index where there is one
    """

    room: Room
    starts: Longs
    stored_bytes: int


def pack(words: Words, segment: int, shift: int, independent: bool, room: Room) -> Packed:
    """Pack words in segments of `segment`; `shift` 0 counts bits, 3 bytes.

    Counts stay bytes here either way: packing them is the same work in both.
    """
    n = -(-words.size // segment)
    starts = (_pack_blocks if independent else _pack_stream)(words, segment, n, shift, room)
    index = INDEX_BYTES * n if independent else 0
    counted = -(-words.size * COUNT_BITS[shift] // 8)
    return Packed(room, starts, counted + -(-int(starts[-1]) // 8) + index)


def _pack_stream(words: Words, segment: int, n: int, shift: int, room: Room) -> Longs:
    sums, edges = np.empty(n, np.int64), np.zeros((n, 2), np.uint8)
    over(n, lambda a, b: _count(words, segment, a, b, shift, room.counts, sums))
    starts, left = _starts(sums), room.left
    over(n, lambda a, b: _write(words, segment, a, b, shift, room.counts, starts, left, edges))
    _join(starts, edges, left)
    return starts


def _pack_blocks(words: Words, segment: int, n: int, shift: int, room: Room) -> Longs:
    sums, apart = np.empty(n, np.int64), room.apart
    over(n, lambda a, b: _write_block(words, segment, a, b, shift, room.counts, sums, apart))
    starts = _starts(-(-sums // 8) * 8)
    over(n, lambda a, b: _move(apart, a, b, starts, room.left))
    return starts


def unpack(packed: Packed, segment: int, shift: int, independent: bool, words: Words) -> None:
    """Fill words; without an index the lengths are added first."""
    n, starts = -(-words.size // segment), packed.starts
    counts, left = packed.room.counts, packed.room.left
    if not independent:
        sums = np.empty(n, np.int64)
        over(n, lambda a, b: _add(counts, segment, a, b, shift, sums))
        starts = _starts(sums)
    over(n, lambda a, b: _read(counts, left, segment, a, b, shift, starts, words))


def over(n: int, work: Callable[[int, int], Any]) -> None:
    """Call work(first, last) for runs of segments, on as many threads as the limit allows."""
    per = max(1, -(-n // PARTS))
    run_blocks(lambda i: work(i * per, min(n, (i + 1) * per)), -(-n // per))


def _starts(sums: Longs) -> Longs:
    starts = np.zeros(sums.size + 1, np.int64)
    np.cumsum(sums, out=starts[1:])
    return starts


@jit
def _count(
    words: Any, segment: int, first: int, last: int, shift: int, counts: Any, sums: Any
) -> None:
    for s in range(first, last):
        total = 0
        for i in range(s * segment, min(words.size, (s + 1) * segment)):
            zeros = np.int64(leading_zeros(words[i])) >> shift
            counts[i] = zeros
            total += 32 - (zeros << shift)
        sums[s] = total


@jit
def _add(counts: Any, segment: int, first: int, last: int, shift: int, sums: Any) -> None:
    for s in range(first, last):
        total = 0
        for i in range(s * segment, min(counts.size, (s + 1) * segment)):
            total += 32 - (np.int64(counts[i]) << shift)
        sums[s] = total


@jit
def _write_block(
    words: Any, segment: int, first: int, last: int, shift: int, counts: Any, sums: Any, room: Any
) -> None:
    """Count and write at one go; `room` is (segments, bytes)."""
    for s in range(first, last):
        out = room[s]
        at, used, pending = 0, 0, np.uint64(0)
        for i in range(s * segment, min(words.size, (s + 1) * segment)):
            zeros = (np.int64(leading_zeros(np.uint64(words[i]))) - 32) >> shift  # one instruction
            counts[i] = zeros
            pending, used = _appended(pending, used, words[i], 32 - (zeros << shift))
            store_be64(out, at, pending)
            at, pending, used = at + (used >> 3), pending << np.uint64(used & ~7), used & 7
        sums[s] = 8 * at + used


@jit
def _move(room: Any, first: int, last: int, starts: Any, out: Any) -> None:
    for s in range(first, last):
        begin, end = starts[s] >> 3, starts[s + 1] >> 3
        out[begin:end] = room[s, : end - begin]


@jit
def _write(
    words: Any,
    segment: int,
    first: int,
    last: int,
    shift: int,
    counts: Any,
    starts: Any,
    out: Any,
    edges: Any,
) -> None:
    """Write segments; bytes that two of them share go to `edges`, for no thread may write them.

    Stores are of 8 bytes and pass the end of a segment, so that its last ones go byte by byte.
    """
    for s in range(first, last):
        at, used, pending = starts[s] >> 3, starts[s] & 7, np.uint64(0)
        begin, end = at + (used > 0), starts[s + 1] >> 3
        for i in range(s * segment, min(words.size, (s + 1) * segment)):
            left = 32 - (np.int64(counts[i]) << shift)
            pending, used = _appended(pending, used, words[i], left)
            if begin <= at and at + 8 <= end:
                store_be64(out, at, pending)
            else:
                _put_bytes(out, at, begin, end, pending, edges[s])
            at, pending, used = at + (used >> 3), pending << np.uint64(used & ~7), used & 7


@jit(inline=True)
def _appended(pending: Any, used: int, word: Any, left: int) -> Any:
    """Put the last `left` bits of a word, 0 to 32, behind those pending at the top of a uint64."""
    return pending | (np.uint64(word) << np.uint64(1)) << np.uint64(63 - used - left), used + left


@jit(inline=True)
def _put_bytes(out: Any, at: int, begin: int, end: int, pending: Any, edges: Any) -> None:
    for k in range(8):
        octet = np.uint8(pending >> np.uint64(56 - 8 * k))
        if begin <= at + k < end:
            out[at + k] = octet
        elif at + k < begin:
            edges[0] |= octet
        elif at + k == end:
            edges[1] |= octet


@jit
def _join(starts: Any, edges: Any, out: Any) -> None:
    """Put together the bytes that segments share."""
    for s in range(edges.shape[0] + 1):
        if starts[s] & 7:
            out[starts[s] >> 3] = 0
    for s in range(edges.shape[0]):
        if starts[s] & 7:
            out[starts[s] >> 3] |= edges[s, 0]
        if starts[s + 1] & 7:
            out[starts[s + 1] >> 3] |= edges[s, 1]


@jit
def _read(
    counts: Any,
    data: Any,
    segment: int,
    first: int,
    last: int,
    shift: int,
    starts: Any,
    words: Any,
) -> None:
    for s in range(first, last):
        position = starts[s]
        for i in range(s * segment, min(words.size, (s + 1) * segment)):
            left = 32 - (np.int64(counts[i]) << shift)
            window = load_be64(data, position >> 3) << np.uint64(position & 7)
            words[i] = (window >> np.uint64(1)) >> np.uint64(63 - left)
            position += left
