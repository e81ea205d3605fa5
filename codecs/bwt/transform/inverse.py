"""Inverse transform: interleaved chains of rows, one from each stored row.

A row leads to that of the suffix one byte shorter, so a chain waits for memory at every byte; 64
chains wait together. Tried: two bytes per step (the table takes longer than is saved).
"""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.bwt.transform.rows import MOST_ROWS, Rows, row_count, spacing
from gangsaw.codecs.core.arrays import Bytes, UInt32s, UInt64
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.numba.jit import jit

BYTE = np.uint32(8)  # bits of the byte, below the row, in a word
LOW = np.uint32(255)
ONE = np.uint64(1)
BYTE_VALUES = 256
# Parts of the transform with separate counts, processed in turn: equal bytes follow each other, and
# each would wait for the count stored by the one before.
PARTS = np.uint64(4)
OUTSIDE = "a row lies outside of the transform"
BROKEN_CHAIN = "a chain of rows does not end at the next sampled row"


def invert(bwt: Bytes, rows: Rows, out: Bytes) -> None:
    """Invert the Burrows-Wheeler transform `bwt`, (n,) uint8, to the block `out`, (n,) uint8.

    `rows` are the stored rows of the transform. No memory is shared.

    Raises
    ------
    CorruptChunk : the rows are not those of these bytes
    """
    n = bwt.size
    if out.size != n or rows.size != row_count(n):
        raise CorruptChunk(f"{rows.size} rows of {n} bytes are not those of {out.size}")
    if n == 0:
        return
    if not (int(rows.min()) >= 1 and int(rows.max()) <= n):
        raise CorruptChunk(OUTSIDE)
    words = np.empty(n + 2, np.uint32)
    fill_words(bwt, int(rows[0]), words)
    if not follow_chains(words, rows, spacing(n), np.empty(MOST_ROWS, np.uint32), out):
        raise CorruptChunk(BROKEN_CHAIN)


@jit
def fill_words(bwt: Bytes, first: int, words: UInt32s) -> None:
    """Fill the table that the inverse transform follows: per row, next row << 8 | first byte.

    The next row is that of the suffix one byte shorter. Row 0, the end, leads to n + 1, and that to
    itself: a chain that ends early does not return. No row leads to `first`, the row of the
    sentinel. Therefore n steps from there that end at row 0 have visited each row once, for any
    bytes.

    words : (n + 2,) uint32, filled
    """
    n, part = np.uint64(bwt.size), np.uint64(bwt.size) // PARTS
    next_of = np.zeros((PARTS, BYTE_VALUES), np.uint32)
    _count(bwt, part, next_of)
    row = np.uint32(1)
    for symbol in range(BYTE_VALUES):
        for k in range(PARTS):
            count = next_of[k, symbol]
            next_of[k, symbol] = row
            row += count
    words[0] = words[n + ONE] = np.uint32(n + ONE) << BYTE
    for i in range(part):
        for k in range(PARTS):
            _put_word(bwt, k * part + i, k, np.uint64(first), next_of, words)
    for i in range(PARTS * part, n):
        _put_word(bwt, i, PARTS - ONE, np.uint64(first), next_of, words)


@jit(inline=True, part=True, norefs=True)
def _count(bwt: Bytes, part: UInt64, counts: UInt32s) -> None:
    """Count the byte values in each of PARTS parts; the last part includes the remainder."""
    for i in range(part):
        for k in range(PARTS):
            counts[k, bwt[k * part + i]] += np.uint32(1)
    for i in range(PARTS * part, np.uint64(bwt.size)):
        counts[PARTS - ONE, bwt[i]] += np.uint32(1)


@jit(inline=True, part=True, norefs=True)
def _put_word(
    bwt: Bytes, i: UInt64, k: UInt64, first: UInt64, next_of: UInt32s, words: UInt32s
) -> None:
    """Write the table word of the row whose next row is that of bwt[i].

    That next row is i, plus 1 after the row of the sentinel.
    """
    symbol = np.uint32(bwt[i])
    row = next_of[k, symbol]
    words[row] = np.uint32(i) + np.uint32(i >= first) << BYTE | symbol
    next_of[k, symbol] = row + np.uint32(1)


@jit(norefs=True)
def follow_chains(words: UInt32s, rows: UInt32s, every: int, at: UInt32s, out: Bytes) -> bool:
    """Fill `out` along the chains from all stored rows; return True if each ends at the next one.

    at : (MOST_ROWS,) uint32, scratch for the current rows
    """
    chains, step = np.uint64(rows.size), np.uint64(every)
    last = np.uint64(out.size) - (chains - ONE) * step  # steps of the last chain
    for c in range(chains):
        at[c] = rows[c]
    _steps(words, np.uint64(0), last, step, chains, at, out)
    _steps(words, last, step, step, chains - ONE, at, out)
    good = at[chains - ONE] == np.uint32(0)
    for c in range(chains - ONE):
        good &= at[c] == rows[c + ONE]
    return bool(good)


@jit(inline=True, part=True, norefs=True)
def _steps(
    words: UInt32s,
    begin: np.uint64,
    end: np.uint64,
    step: np.uint64,
    chains: np.uint64,
    at: UInt32s,
    out: Bytes,
) -> None:
    """Follow the first `chains` chains from step `begin` to step `end`, interleaved."""
    for i in range(begin, end):
        for c in range(chains):
            word = words[at[c]]
            out[c * step + i] = np.uint8(word & LOW)
            at[c] = word >> BYTE
