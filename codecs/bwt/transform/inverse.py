"""The inverse of the transform: chains of rows, one from each row that was kept, in turns.

A row leads to that of the suffix one byte shorter, so a chain waits for memory at every byte; 64 of
them wait together. Failed: two bytes a step (the table takes longer than is saved).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.bwt.transform.rows import MOST_ROWS, Bytes, Rows, row_count, spacing
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.numba.jit import jit, jit_inline, jit_norefs, jit_norefs_inline

BYTE = np.uint32(8)  # bits of the byte, below the row, in a word
LOW = np.uint32(255)
ONE = np.uint64(1)


def invert(bwt: Bytes, rows: Rows, out: Bytes) -> None:
    """Fill out (n,) uint8 with the block whose transform is `bwt`, (n,) uint8; none shares memory.

    Raises
    ------
    CorruptChunk : the rows are not such as these bytes have
    """
    n = bwt.size
    if out.size != n or rows.size != row_count(n):
        raise CorruptChunk(f"{rows.size} rows of {n} bytes are not those of {out.size}")
    if n == 0:
        return
    if not (int(rows.min()) >= 1 and int(rows.max()) <= n):
        raise CorruptChunk("a row lies outside of the transform")
    words = np.empty(n + 2, np.uint32)
    fill_words(bwt, int(rows[0]), words)
    if not follow(words, rows, spacing(n), np.empty(MOST_ROWS, np.uint32), out):
        raise CorruptChunk("a chain of rows does not end at the next row that is kept")


@jit
def fill_words(bwt: Any, first: int, words: Any) -> None:
    """Fill words (n + 2,) uint32: of each row the one of the next suffix << 8 | its first byte.

    Row 0, the end, leads to n + 1, and that to itself: a chain that is there too early does not
    come back. No row leads to `first`, where the sentinel is. So n steps from there that end at
    row 0 have visited each row once, whatever the bytes are.
    """
    n = np.uint64(bwt.size)
    next_of = np.zeros(256, np.uint32)
    for i in range(n):
        next_of[bwt[i]] += np.uint32(1)
    row = np.uint32(1)
    for symbol in range(256):
        count = next_of[symbol]
        next_of[symbol] = row
        row += count
    words[0] = words[n + ONE] = np.uint32(n + ONE) << BYTE
    _scatter(bwt, np.uint64(0), np.uint64(first), np.uint32(0), next_of, words)
    _scatter(bwt, np.uint64(first), n, np.uint32(1), next_of, words)


@jit_inline
def _scatter(bwt: Any, begin: Any, end: Any, ahead: Any, next_of: Any, words: Any) -> None:
    """Fill the words that lead to the rows of bwt[begin:end], which are `ahead` of their places."""
    for i in range(begin, end):
        symbol = np.uint32(bwt[i])
        row = next_of[symbol]
        words[row] = np.uint32(i) + ahead << BYTE | symbol
        next_of[symbol] = row + np.uint32(1)


@jit_norefs
def follow(words: Any, rows: Any, every: int, at: Any, out: Any) -> bool:
    """Fill `out` along the chains from `rows`; return whether each ends where the next begins.

    at : (MOST_ROWS,) uint32, where the chains are
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


@jit_norefs_inline
def _steps(words: Any, begin: Any, end: Any, step: Any, chains: Any, at: Any, out: Any) -> None:
    """Take steps begin to end of the first chains."""
    for i in range(begin, end):
        for c in range(chains):
            word = words[at[c]]
            out[c * step + i] = np.uint8(word & LOW)
            at[c] = word >> BYTE
