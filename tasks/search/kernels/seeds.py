"""Seeds of exact matches: windows of a query that occur in the text, and their rows.

A window is searched from its end. If its letters from some position on do not occur in the text, no
window with this position and end does, and the next one starts after it.

Kernels take rows of bases or of bytes, and None for the other: Numba removes code for None.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.search.kernels import bases, tree
from gangsaw.tasks.search.kernels.patterns import N_BASES

N_BYTES = 256
BEGIN, LOW, HIGH = range(3)  # fields of a window: first letter in the query, first row, end of rows


@jit(norefs=True)
def find_seed_windows(of_bases: Any, of_bytes: Any, data: Any, length: int, windows: Any) -> int:
    """Find windows of `length` letters of a query that occur; return their number.

    `data` (m,) are its codes or bytes. `windows` gets start and range of rows of each, (k, 3)
    int64.
    """
    used = begin = 0
    while begin + length <= data.size:
        low, high, at = np.int64(0), _n_rows(of_bases, of_bytes), begin + length
        while at > begin and low < high:
            at -= 1
            low, high = _longer(of_bases, of_bytes, data[at], low, high)
        if low < high:
            windows[used, BEGIN], windows[used, LOW], windows[used, HIGH] = begin, low, high
            used += 1
        begin = at + 1
    return used


@jit(norefs=True)
def expand_windows(
    of_bases: Any, of_bytes: Any, data: Any, windows: Any, begins: Any, rows: Any
) -> int:
    """Write start and row of each occurrence of windows, (n,) int64 each; return n.

    Occurrences with the same letter before them in text and query are skipped: they extend a match.
    """
    used = 0
    for i in range(len(windows)):
        begin = windows[i, BEGIN]
        for row in range(windows[i, LOW], windows[i, HIGH]):
            if begin == 0 or not _is_before(of_bases, of_bytes, data[begin - 1], row):
                begins[used], rows[used] = begin, row
                used += 1
    return used


@jit(inline=True, part=True, norefs=True)
def _n_rows(of_bases: Any, of_bytes: Any) -> Any:
    n = np.int64(0)
    if of_bases is not None:
        n = of_bases.firsts[N_BASES]
    if of_bytes is not None:
        n = of_bytes.firsts[N_BYTES]
    return n


@jit(inline=True, part=True, norefs=True)
def _longer(of_bases: Any, of_bytes: Any, letter: Any, low: Any, high: Any) -> Any:
    """Return the range of rows of `letter` followed by a match with rows low..high - 1.

    It is empty if that does not occur.
    """
    first = end = low
    if of_bases is not None and letter < N_BASES:
        base = np.uint64(letter)
        first, end = bases.step_base(of_bases, base, low), bases.step_base(of_bases, base, high)
    if of_bytes is not None:
        byte = np.int64(letter)
        if of_bytes.firsts[byte] < of_bytes.firsts[byte + 1]:
            first, end = tree.step_byte(of_bytes, byte, low), tree.step_byte(of_bytes, byte, high)
    return first, end


@jit(inline=True, part=True, norefs=True)
def _is_before(of_bases: Any, of_bytes: Any, letter: Any, row: Any) -> Any:
    """Return True if `letter` precedes the suffix of a row in the text."""
    is_same = False
    if of_bases is not None:
        is_same = np.uint64(letter) == bases.base_at(of_bases.words, row)
        is_same = is_same and not bases.is_odd(of_bases, row)
    if of_bytes is not None and row != of_bytes.primary:
        byte, _ = tree.back(of_bytes, row)
        is_same = byte == np.int64(letter)
    return is_same
