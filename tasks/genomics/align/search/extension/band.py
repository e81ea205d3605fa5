"""Affine alignment in a band of diagonals (O. Gotoh, 1982), with a proof that it has the optimum.

Diagonal d has the cells j - i = d of base i of the query and j of the text. The byte of a cell
records the origin of its scores.

**The proof of a band.** Let an alignment touch a diagonal of low..high and leave the band
low - r .. high + r. Then its gaps have more than r bases, so its score is at most
match * n - open - (r + 1) * extend, where n is the length of the query. If the best score in the
band is not below this bound, it is that of the best alignment that touches low..high. Between two
fixed ends, a path that leaves the band goes out and comes back. It has at least two gaps of more
than r bases each, besides the gaps that lead from end to end.
"""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.arrays import Bytes, Int64s
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.genomics.align.search.extension.paths import (
    DELETION,
    INSERTION,
    AlignedPath,
    PathCosts,
    append_path_run,
    i64,
    pair_operation,
)
from gangsaw.tasks.genomics.align.search.extension.wave import (
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

GLOBAL, LOCAL = i64(0), i64(1)
FIRST_RADIUS, LAST_RADIUS = 8, 512


@jit
def local_path(
    query: Bytes, text: Bytes, span: tuple[int, int], costs: PathCosts, known: int
) -> AlignedPath:
    """Return the best local alignment that touches diagonals low..high: score, ends, runs.

    `span` is (low, high) in `text`, bases of the genome. `known` is a reachable score, or 0.
    """
    low, high = span
    n, most = query.size, query.size * costs.match
    radius = FIRST_RADIUS
    if known > 0:
        radius = min(radius, radius_of(most - known, costs))
    while True:
        first, last = max(low - radius, -n), min(high + radius, text.size)
        cells = np.empty(cells_size(n, text.size, (first, last)), np.uint8)
        score, i, j = fill_cells(query, text, (first, last), costs, LOCAL, cells)
        need = radius_of(most - score, costs)
        if need <= radius or (first == -n and last == text.size):
            break
        radius = min(2 * radius, need) if score > 0 else 2 * radius
    runs = np.empty(2 * n + text.size + 2, np.int64)
    return traced_back(query, text, (first, last), costs, cells, (score, i, j), runs)


@jit(part=True)
def radius_of(loss: int, costs: PathCosts) -> int:
    """Return the largest number of gap bases in an alignment that loses less score than `loss`."""
    return max(0, (loss - 1 - costs.open) // max(1, costs.extend))


@jit
def global_path(query: Bytes, text: Bytes, costs: PathCosts) -> AlignedPath:
    """Return the best alignment from end to end: score, ends, runs.

    It is surely the best if the band needs a radius of at most LAST_RADIUS diagonals, else the best
    within that band.
    """
    n, m = query.size, text.size
    low, high = min(0, m - n), max(0, m - n)
    most = costs.match * min(n_known(query), n_known(text))
    radius = FIRST_RADIUS
    while True:
        first, last = max(low - radius, -n), min(high + radius, m)
        cells = np.empty(cells_size(n, m, (first, last)), np.uint8)
        score, _, _ = fill_cells(query, text, (first, last), costs, GLOBAL, cells)
        beyond = 2 * costs.open + costs.extend * (high - low + 2 * (radius + 1))
        if score >= most - beyond or (first == -n and last == m) or radius >= LAST_RADIUS:
            break
        radius *= 2
    runs = np.empty(2 * n + m + 2, np.int64)
    return traced_back(query, text, (first, last), costs, cells, (score, n, m), runs)


@jit(part=True)
def n_known(codes: Bytes) -> int:
    """Return the number of known bases: A, C, G, T, not N."""
    n = 0
    for code in codes:
        n += 1 if code < 4 else 0
    return n


@jit(part=True)
def fill_cells(
    query: Bytes, text: Bytes, band: tuple[int, int], costs: PathCosts, is_local: int, cells: Bytes
) -> tuple[int, int, int]:
    """Fill the matrix cells of a band of diagonals; return score, row and column of the end.

    The end is the best cell if local, else the last one.
    """
    size = scratch_size(query.size, text.size, band)
    if fits_16(query.size, text.size, costs):
        return fill_band(query, text, band, costs, is_local, cells, np.empty(size, np.int16))
    return fill_band(query, text, band, costs, is_local, cells, np.empty(size, np.int32))


@jit(part=True)
def traced_back(
    query: Bytes,
    text: Bytes,
    band: tuple[int, int],
    costs: PathCosts,
    cells: Bytes,
    end: tuple[int, int, int],
    runs: Int64s,
) -> AlignedPath:
    """Return score, ends in query and text, and runs of the path that ends at a band's cell."""
    (score, i, j), n = end, i64(0)
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
            n, source = (
                append_path_run(runs, n, pair_operation(query[i], text[j], costs), i64(1)),
                -1,
            )
        elif source == ALONG:
            n, j = append_path_run(runs, n, DELETION, i64(1)), j - 1
            source = ALONG if cell & LONGER_ALONG else -1
        else:
            n, i = append_path_run(runs, n, INSERTION, i64(1)), i - 1
            source = ACROSS if cell & LONGER_ACROSS else -1
    return score, (i, end_i), (j, end_j), runs[:n][::-1].copy()
