"""Affine alignment in a band of diagonals (O. Gotoh, 1982), and bands that provably hold the best.

Diagonal d holds the cells j - i = d of letter i of the query and j of the text. The byte of a cell
says where its scores came from.

**The proof of a band.** Let an alignment touch a diagonal of low..high and leave the band
low - r .. high + r. Then its gaps hold more than r bases, so its score is at most
match * n - open - (r + 1) * extend, n the letters of the query. A score found in the band that is
not below it is that of the best alignment which touches low..high. Between two fixed ends, the path
that leaves the band goes out and comes back: two gaps at least, of more than r bases each besides
those that lead from end to end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.numba.jit import jit, jit_part
from gangsaw.tasks.align.search.extension.paths import (
    DELETION,
    DIFFERENT,
    EQUAL,
    INSERTION,
    LEAST,
    NONE,
    SINGLE,
    PathCosts,
    push,
)

STOP, PAIR, ALONG, ACROSS = 0, 1, 2, 3  # of a cell: the score is 0, of a pair, of either gap
LONGER_ALONG, LONGER_ACROSS = 4, 8  # the gap that passes here did not begin here
SOURCE = 3
GLOBAL, LOCAL = NONE, SINGLE
FIRST_RADIUS = 8


@jit
def local_path(query: Any, text: Any, span: Any, costs: PathCosts, known: int) -> Any:
    """Return the best local alignment that touches diagonals low..high, as `traced_back` does.

    `span` is (low, high) of text = letters of one window; `known` is a score that there is, or 0.
    """
    low, high = span
    n, most = query.size, query.size * costs.match
    radius = FIRST_RADIUS
    if known > 0:
        radius = min(radius, radius_of(most - known, costs))
    while True:
        first, last = max(low - radius, -n), min(high + radius, text.size)
        cells = np.empty((n + 1) * (last - first + 1), np.uint8)
        score, i, j = fill(query, text, (first, last), costs, LOCAL, cells)
        need = radius_of(most - score, costs)
        if need <= radius or (first == -n and last == text.size):
            break
        radius = min(2 * radius, need) if score > 0 else 2 * radius
    runs = np.empty(2 * n + text.size + 2, np.int64)
    return traced_back(query, text, (first, last), cells, (score, i, j), runs)


@jit_part
def radius_of(loss: int, costs: PathCosts) -> int:
    """Return how many bases gaps may have in an alignment that loses less than this."""
    return max(0, (loss - 1 - costs.open) // max(1, costs.extend))


@jit
def global_path(query: Any, text: Any, costs: PathCosts) -> Any:
    """Return the best alignment from end to end, as `traced_back` does."""
    n, m = query.size, text.size
    low, high = min(0, m - n), max(0, m - n)
    most = costs.match * min(n, m)
    radius = FIRST_RADIUS
    while True:
        first, last = max(low - radius, -n), min(high + radius, m)
        cells = np.empty((n + 1) * (last - first + 1), np.uint8)
        score, _, _ = fill(query, text, (first, last), costs, GLOBAL, cells)
        beyond = 2 * costs.open + costs.extend * (high - low + 2 * (radius + 1))
        if score >= most - beyond or (first == -n and last == m):
            break
        radius *= 2
    runs = np.empty(2 * n + m + 2, np.int64)
    return traced_back(query, text, (first, last), cells, (score, n, m), runs)


@jit_part
def fill(query: Any, text: Any, band: Any, costs: PathCosts, is_local: int, cells: Any) -> Any:
    """Fill the cells of a band; return the best score and where it ends, or that of the corner."""
    first, last = band
    n, m, width = query.size, text.size, last - first + 1
    scores, across = np.empty(width + 1, np.int32), np.empty(width + 1, np.int32)
    for c in range(width + 1):
        scores[c], across[c] = LEAST, LEAST
    opening, match, mismatch = costs.open + costs.extend, costs.match, -costs.mismatch
    extend, floor = costs.extend, 0 if is_local else LEAST
    for j in range(max(0, first), min(m, last) + 1):
        cells[j - first] = STOP if is_local or j == 0 else ALONG | (LONGER_ALONG if j > 1 else 0)
        scores[j - first] = 0 if is_local or j == 0 else -costs.open - j * extend
    best, best_i, best_j = NONE, NONE, NONE
    for i in range(1, n + 1):
        row, letter = i * width, query[i - 1]
        begin, end = -i - first, min(width, m - i - first + 1)
        along, before = LEAST, LEAST
        if 0 <= begin < width:  # the first column
            before = 0 if is_local else -costs.open - i * extend
            scores[begin], across[begin] = before, LEAST if is_local else before
            cells[row + begin] = STOP if is_local else ACROSS | (LONGER_ACROSS if i > 1 else 0)
        for c in range(max(0, begin + 1), end):
            gap, longer = scores[c + 1] - opening, across[c + 1] - extend
            what = LONGER_ACROSS if longer > gap else 0
            down = max(gap, longer)
            gap, longer = before - opening, along - extend
            what |= LONGER_ALONG if longer > gap else 0
            along = max(gap, longer)
            is_equal = letter == text[i + first + c - 1] and letter < 4
            before, source = scores[c] + (match if is_equal else mismatch), PAIR
            if along > before:
                before, source = along, ALONG
            if down > before:
                before, source = down, ACROSS
            if before <= floor:
                before, source = floor, STOP
            scores[c], across[c], cells[row + c] = before, down, what | source
            if before > best:
                best, best_i, best_j = before, i, i + first + c
        if end < width:
            for c in range(max(0, end), width):
                scores[c], across[c] = LEAST, LEAST
    if not is_local:
        best = scores[m - n - first]
    return best, best_i, best_j


@jit_part
def traced_back(query: Any, text: Any, band: Any, cells: Any, end: Any, runs: Any) -> Any:
    """Return score, where the path begins and ends (query, text), and its runs."""
    (first, last), (score, i, j), n = band, end, NONE
    width = last - first + 1
    end_i, end_j, source = i, j, -1
    while i > 0 or j > 0:
        cell = cells[i * width + j - i - first]
        if source < 0:
            source = cell & SOURCE
        if source == STOP:
            break
        if source == PAIR:
            i, j = i - 1, j - 1
            is_equal = query[i] == text[j] and query[i] < 4
            n, source = push(runs, n, EQUAL if is_equal else DIFFERENT, SINGLE), -1
        elif source == ALONG:
            n, j = push(runs, n, DELETION, SINGLE), j - 1
            source = ALONG if cell & LONGER_ALONG else -1
        else:
            n, i = push(runs, n, INSERTION, SINGLE), i - 1
            source = ACROSS if cell & LONGER_ACROSS else -1
    return score, (i, end_i), (j, end_j), runs[:n][::-1].copy()
