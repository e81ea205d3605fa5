"""Rows of the suffixes that begin with patterns, found from the last letter of a pattern on."""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.numba.jit import jit_norefs, jit_norefs_inline
from gangsaw.tasks.index.kernels import bases, tree

N_BASES = 4
AT_ONCE = 32  # patterns in turn: while one waits for memory, the others go on


@jit_norefs
def fill_table(of: Any, k: int, table: Any) -> None:
    """Fill the rows of all k-mers: of each its first row and the end, (4**k, 2) uint32.

    A k-mer's number has the code of its last base lowest.
    """
    table[0, 0], table[0, 1] = 0, of.firsts[N_BASES]
    for length in range(k):
        n = 1 << 2 * length
        for base in range(N_BASES - 1, -1, -1):  # that of 0 is where the shorter one was
            for number in range(n):
                for end in range(2):
                    row = np.int64(table[number, end])
                    table[base * n + number, end] = bases.step(of, np.uint64(base), row)


@jit_norefs
def rows_of_bases(
    of: Any, table: Any, k: int, data: Any, begins: Any, rows: Any, lefts: Any
) -> None:
    """Fill the rows of patterns: of each its first row and the end, (n, 2) int64.

    Parameters
    ----------
    table : of k-mers; with k = 0 it is that of the empty one
    data : (m,) uint8, codes of all patterns; one with another code than 0..3 is nowhere
    begins : (n + 1,) int64, where patterns begin in it, and m
    lefts : (AT_ONCE,) int64, scratch
    """
    n = len(begins) - 1
    for first in range(0, n, AT_ONCE):
        lanes = min(AT_ONCE, n - first)
        live = 0
        for lane in range(lanes):
            i = first + lane
            lefts[lane] = _begin(of, table, k, data, begins[i], begins[i + 1], rows, i)
            live += lefts[lane] > 0
        while live:
            live = 0
            for lane in range(lanes):
                if lefts[lane]:
                    i = first + lane
                    lefts[lane] = _longer(of, data, begins[i], lefts[lane], rows, i)
                    live += lefts[lane] > 0


@jit_norefs_inline
def _begin(of: Any, table: Any, k: int, data: Any, begin: int, end: int, rows: Any, i: int) -> Any:
    """Look the last letters of a pattern up; return how many letters are left."""
    rows[i, 0], rows[i, 1] = 0, of.firsts[N_BASES]
    for at in range(begin, end):
        if data[at] >= N_BASES:
            rows[i, 1] = 0
            return 0
    if end - begin < k:
        return end - begin
    number = np.int64(0)
    for at in range(end - k, end):
        number = 4 * number + np.int64(data[at])
    rows[i, 0], rows[i, 1] = table[number, 0], table[number, 1]
    return end - begin - k if rows[i, 0] < rows[i, 1] else 0


@jit_norefs_inline
def _longer(of: Any, data: Any, begin: int, left: int, rows: Any, i: int) -> Any:
    """Take the base before what is found of a pattern; return how many letters are left."""
    base = np.uint64(data[begin + left - 1])
    low, high = bases.step(of, base, rows[i, 0]), bases.step(of, base, rows[i, 1])
    bases.fetch(of.words, low)
    bases.fetch(of.words, high)
    rows[i, 0], rows[i, 1] = low, high
    return left - 1 if low < high else 0


@jit_norefs
def rows_of_bytes(of: Any, data: Any, begins: Any, rows: Any) -> None:
    """Fill the rows of patterns of any bytes, as `rows_of_bases` does."""
    for i in range(len(begins) - 1):
        low, high, at = np.int64(0), np.int64(of.firsts[256]), begins[i + 1]
        while at > begins[i] and low < high:
            at -= 1
            byte = np.int64(data[at])
            if of.firsts[byte] == of.firsts[byte + 1]:  # it has no code
                high = low
            else:
                low, high = tree.step(of, byte, low), tree.step(of, byte, high)
        rows[i, 0], rows[i, 1] = low, high
