"""Extension of alignments until the score has dropped too far below the best (X-drop).

Z. Zhang et al. (2000), with affine gaps. Cells whose H is below best - drop are dropped.

H (`h`, `row_h`), E (`e`, gap in the query) and F (`f`, `row_f`, gap in the text):

    E(i, j) = max(H(i, j - 1) - open - extend, E(i, j - 1) - extend)
    F(i, j) = max(H(i - 1, j) - open - extend, F(i - 1, j) - extend)
    H(i, j) = max(H(i - 1, j - 1) + pair(i, j), E(i, j), F(i, j))
"""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.arrays import Bytes, Int64s
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.genomics.align.search.extension.paths import (
    DELETION,
    INSERTION,
    LEAST,
    PathCosts,
    append_path_run,
    i64,
    pair_operation,
    pair_score,
)
from gangsaw.tasks.genomics.align.search.extension.wave import (
    ACROSS,
    ALONG,
    LONGER_ACROSS,
    LONGER_ALONG,
    PAIR,
    SOURCE,
)

CELLS, COLUMN = range(2)  # of each row: where its cells are, its first column
END_SCORE, END_COLUMN = range(2)  # of each row: its best score, and where
FURTHEST = 1 << 14  # letters that an end is extended by at most: a cell takes a byte


@jit(part=True)
def score_ungapped(query: Bytes, text: Bytes, i: int, j: int, costs: PathCosts, drop: int) -> int:
    """Return the best score of an extension without gaps from (i, j) to both sides (X-drop)."""
    right = run_score(query[i:], text[j:], costs, drop)
    return right + run_score(
        backwards(query, i64(0), i), backwards(text, max(0, j - i), j), costs, drop
    )


@jit(part=True)
def backwards(codes: Bytes, begin: int, end: int) -> Bytes:
    """Return codes[begin:end] in reverse; a view has another type, which is compiled again."""
    out = np.empty(end - begin, np.uint8)
    for i in range(end - begin):
        out[i] = codes[end - 1 - i]
    return out


@jit(part=True)
def run_score(query: Bytes, text: Bytes, costs: PathCosts, drop: int) -> int:
    """Return the best score of pairing the prefixes, until the score is `drop` below the best."""
    score, best = 0, 0
    for at in range(min(query.size, text.size)):
        score += pair_score(query[at], text[at], costs)
        best = max(best, score)
        if score < best - drop:
            break
    return best


@jit
def extended(query: Bytes, text: Bytes, costs: PathCosts, drop: int) -> tuple[int, int, Int64s]:
    """Return the lengths in query and text of the best extension from their starts, and its runs.

    The runs (length << 4 | operation) lead from the far end back to the beginning.
    """
    rows, cells, _, end = extension(query, text, costs, drop)
    return back_to_start(query, text, costs, end, rows, cells)


@jit(part=True)
def extension(
    query: Bytes, text: Bytes, costs: PathCosts, drop: int
) -> tuple[Int64s, Bytes, Int64s, tuple[int, int]]:
    """Compute the matrix of an X-drop extension, each row only where scores are high.

    Returns the rows (offset of the first cell, first column), the cells (source of each score), the
    best score of each row with its column (LEAST behind the last row), and the best end of all.
    """
    n, m = min(query.size, FURTHEST), min(text.size, FURTHEST)
    row_h, row_f = np.empty(m + 2, np.int32), np.empty(m + 2, np.int32)
    for j in range(m + 2):
        row_h[j], row_f[j] = LEAST, LEAST
    rows = np.empty((n + 1, 2), np.int64)
    ends = np.full((n + 1, 2), i64(0) + LEAST)
    ends[0, END_SCORE], ends[0, END_COLUMN] = i64(0), i64(0)
    cells = np.empty(256 + 8 * n, np.uint8)
    opening, extend = costs.open + costs.extend, costs.extend
    row_h[0], low, high, at = 0, i64(0), i64(1), i64(0)
    while high <= m and costs.open + high * extend <= drop:
        row_h[high] = -costs.open - high * extend
        high += 1
    cells = longer(cells, at, m + 2) if cells.size < m + 2 else cells
    rows[0, CELLS], rows[0, COLUMN] = 0, 0
    for j in range(high):
        cells[j] = ALONG | (LONGER_ALONG if j > 1 else 0)
    at = high
    best, best_i, best_j = i64(0), i64(0), i64(0)
    for i in range(1, n + 1):
        if cells.size < at + m - low + 2:
            cells = longer(cells, at, m - low + 2)
        rows[i, CELLS], rows[i, COLUMN], letter = at, low, query[i - 1]
        e, h, diagonal = LEAST, LEAST, LEAST
        first, end, j = m + 1, low, low
        while j <= m and (j < high or e > LEAST):  # recurrence of E, F and H
            gap, further = row_h[j] - opening, row_f[j] - extend
            what = LONGER_ACROSS if further > gap else 0
            f = max(gap, further)
            gap, further = h - opening, e - extend
            what |= LONGER_ALONG if further > gap else 0
            e = max(gap, further)
            pair = LEAST
            if j > 0:
                pair = diagonal + pair_score(letter, text[j - 1], costs)
            diagonal, h = row_h[j] if j < high else LEAST, pair
            source = PAIR
            if e > h:
                h, source = e, ALONG
            if f > h:
                h, source = f, ACROSS
            if h < best - drop:
                h = e = f = LEAST
            else:
                first, end = min(first, j), j + 1
            if h > ends[i, END_SCORE]:
                ends[i, END_SCORE], ends[i, END_COLUMN] = h, j
            row_h[j], row_f[j], cells[at] = h, f, what | source
            at, j = at + 1, j + 1
        if ends[i, END_SCORE] > best:
            best, best_i, best_j = ends[i, END_SCORE], i, ends[i, END_COLUMN]
        for after in range(end, min(j, m + 2)):
            row_h[after], row_f[after] = LEAST, LEAST
        low, high = first, min(end + 1, m + 1)
        if first > m:
            break
    return rows, cells, ends, (best_i, best_j)


@jit(part=True)
def longer(cells: Bytes, n: int, more: int) -> Bytes:
    """Return an array with the first n cells of a matrix, and capacity for at least `more` more."""
    out = np.empty(2 * cells.size + more, np.uint8)
    for i in range(n):
        out[i] = cells[i]
    return out


@jit(part=True)
def back_to_start(
    query: Bytes, text: Bytes, costs: PathCosts, end: tuple[int, int], rows: Int64s, cells: Bytes
) -> tuple[int, int, Int64s]:
    """Trace an extension back from `end`; return its lengths in query and text, and its runs."""
    (i, j), n, source = end, i64(0), -1
    runs = np.empty(i + j + 1, np.int64)
    while i > 0 or j > 0:
        cell = cells[rows[i, CELLS] + j - rows[i, COLUMN]]
        if source < 0:
            source = cell & SOURCE
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
    return end[0], end[1], runs[:n]
