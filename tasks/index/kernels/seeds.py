"""Seeds of exact matches: windows of a query that are in the text, and the rows of each.

A window is looked for from its end; where the letters from some place on are not in the text, no
window with that place and the end is, and the next one begins behind it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.numba.jit import jit_norefs
from gangsaw.tasks.index.kernels import bases, tree
from gangsaw.tasks.index.kernels.patterns import N_BASES

BEGIN, LOW, HIGH = range(3)  # of a window: its first letter in the query, first row, end of rows


@jit_norefs
def windows_of_bases(of: Any, data: Any, length: int, windows: Any) -> int:
    """Fill the windows (k, 3) int64 of codes (m,) uint8 that are in the text; return how many."""
    used = begin = 0
    while begin + length <= data.size:
        low, high, at = np.int64(0), of.firsts[N_BASES], begin + length
        while at > begin and low < high:
            at -= 1
            base = np.uint64(data[at] & 3)
            if data[at] < N_BASES:
                low, high = bases.step(of, base, low), bases.step(of, base, high)
            else:
                high = low
        if low < high:
            windows[used, BEGIN], windows[used, LOW], windows[used, HIGH] = begin, low, high
            used += 1
        begin = at + 1
    return used


@jit_norefs
def windows_of_bytes(of: Any, data: Any, length: int, windows: Any) -> int:
    """Do the same with bytes."""
    used = begin = 0
    while begin + length <= data.size:
        low, high, at = np.int64(0), of.firsts[256], begin + length
        while at > begin and low < high:
            at -= 1
            byte = np.int64(data[at])
            if of.firsts[byte] < of.firsts[byte + 1]:
                low, high = tree.step(of, byte, low), tree.step(of, byte, high)
            else:
                high = low
        if low < high:
            windows[used, BEGIN], windows[used, LOW], windows[used, HIGH] = begin, low, high
            used += 1
        begin = at + 1
    return used


@jit_norefs
def rows_in_bases(of: Any, data: Any, windows: Any, begins: Any, rows: Any) -> int:
    """Fill begins and rows (n,) int64 of windows before which text and query differ; count them."""
    used = 0
    for i in range(len(windows)):
        begin = windows[i, BEGIN]
        for row in range(windows[i, LOW], windows[i, HIGH]):
            is_same = begin > 0 and np.uint64(data[begin - 1]) == bases.base_at(of.words, row)
            if not is_same or bases.is_odd(of, row):
                begins[used], rows[used] = begin, row
                used += 1
    return used


@jit_norefs
def rows_in_bytes(of: Any, data: Any, windows: Any, begins: Any, rows: Any) -> int:
    """Do the same with bytes."""
    used = 0
    for i in range(len(windows)):
        begin = windows[i, BEGIN]
        for row in range(windows[i, LOW], windows[i, HIGH]):
            is_same = begin > 0 and row != of.primary
            if is_same:
                byte, _ = tree.back(of, row)
                is_same = byte == data[begin - 1]
            if not is_same:
                begins[used], rows[used] = begin, row
                used += 1
    return used
