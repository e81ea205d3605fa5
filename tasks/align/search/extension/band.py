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
    NONE,
    SINGLE,
    PathCosts,
    push,
)
from gangsaw.tasks.align.search.extension.wave import (
    ACROSS,
    ALONG,
    LONGER_ACROSS,
    LONGER_ALONG,
    PAIR,
    SOURCE,
    STOP,
    antidiagonals,
    cell_at,
    cells_size,
    fill_band,
    fits_16,
    scratch_size,
)

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
        cells = np.empty(cells_size(n, text.size, (first, last)), np.uint8)
        score, i, j = filled(query, text, (first, last), costs, LOCAL, cells)
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
        cells = np.empty(cells_size(n, m, (first, last)), np.uint8)
        score, _, _ = filled(query, text, (first, last), costs, GLOBAL, cells)
        beyond = 2 * costs.open + costs.extend * (high - low + 2 * (radius + 1))
        if score >= most - beyond or (first == -n and last == m):
            break
        radius *= 2
    runs = np.empty(2 * n + m + 2, np.int64)
    return traced_back(query, text, (first, last), cells, (score, n, m), runs)


@jit_part
def filled(query: Any, text: Any, band: Any, costs: PathCosts, is_local: int, cells: Any) -> Any:
    """Fill the cells of a band; return the best score and where it ends, or that of the corner."""
    size = scratch_size(query.size, text.size, band)
    if fits_16(query.size, text.size, costs):
        return fill_band(query, text, band, costs, is_local, cells, np.empty(size, np.int16))
    return fill_band(query, text, band, costs, is_local, cells, np.empty(size, np.int32))


@jit_part
def traced_back(query: Any, text: Any, band: Any, cells: Any, end: Any, runs: Any) -> Any:
    """Return score, where the path begins and ends (query, text), and its runs."""
    (score, i, j), n = end, NONE
    begin, _ = antidiagonals(query.size, text.size, band)
    end_i, end_j, source = i, j, -1
    while i > 0 or j > 0:
        cell = cell_at(cells, i, j, band, begin)
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
