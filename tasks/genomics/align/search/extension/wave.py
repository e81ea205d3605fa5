"""Cells of a band of diagonals, an antidiagonal at a time in vectors (A. Wozniak, 1997).

The cells of an antidiagonal i + j = t need only those of the two before it. Even diagonals of the
band are on every other antidiagonal, the odd ones between. So each parity has a line with the last
value of each of its diagonals, and neighbours are adjacent.

With H (`h`), E (`e`, gap in the query) and F (`f`, gap in the text):

    E(i, j) = max(H(i, j - 1) - open - extend, E(i, j - 1) - extend)
    F(i, j) = max(H(i - 1, j) - open - extend, F(i - 1, j) - extend)
    H(i, j) = max(H(i - 1, j - 1) + pair(i, j), E(i, j), F(i, j)), at least 0 in a local alignment
"""

from __future__ import annotations

from typing import TypeAlias

from gangsaw.codecs.core.arrays import Bytes, Int16s, Int32s
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.integers import (
    load,
    maximum,
    resize_to,
    select,
    spread,
    static,
    store,
)
from gangsaw.tasks.genomics.align.search.extension.paths import PathCosts, i64

STOP, PAIR, ALONG, ACROSS = 0, 1, 2, 3  # origin of a cell's score: 0, a pair, either gap
LONGER_ALONG, LONGER_ACROSS = 4, 8  # the gap through this cell is extended, not opened
SOURCE = 3
LANES = 16
OF_LANES = static(LANES)
SCORES, GAPS_ALONG, GAPS_ACROSS, BEST, BEST_AT = 0, 2, 4, 6, 8  # first of two lines each
LINES = 10
UNKNOWN = 4  # the code of N
LEAST_16, MOST_16 = -30_000, 14_000  # bounds of all scores of 16 bits
Scratch: TypeAlias = "Int16s | Int32s"


@jit(part=True, norefs=True)
def fits_16(n: int, m: int, costs: PathCosts) -> bool:
    """Return True if scores and antidiagonal numbers of n by m bases fit in 16 bits."""
    pair, further = max(costs.match, costs.mismatch), max(1, costs.extend)
    return pair * min(n, m) + further * (n + m) + 2 * costs.open < MOST_16 and pair < 1000


@jit(part=True, norefs=True)
def line_size(band: tuple[int, int]) -> int:
    """Return the items of a line of scores: half the diagonals of a band, and padding."""
    return (band[1] - band[0] + 2) // 2 + 2 * LANES


@jit(part=True, norefs=True)
def scratch_size(n: int, m: int, band: tuple[int, int]) -> int:
    """Return the items of scratch of a band: lines of scores, lane numbers, both sequences."""
    return LINES * line_size(band) + 3 * LANES + n + m


@jit(part=True, norefs=True)
def antidiagonals(n: int, m: int, band: tuple[int, int]) -> tuple[int, int]:
    """Return the first antidiagonal that has cells of a band of diagonals, and the end."""
    first, last = band
    return max(0, first, -last), min(n, m - first) + min(m, n + last) + 1


@jit(part=True, norefs=True)
def cells_size(n: int, m: int, band: tuple[int, int]) -> int:
    """Return the number of cells in a band of diagonals, with padding for the last vector."""
    begin, end = antidiagonals(n, m, band)
    return (end - begin) * ((band[1] - band[0] + 2) // 2) + LANES


@jit(part=True, norefs=True)
def begin_lines(query: Bytes, text: Bytes, lines: Scratch, size: int, least: int) -> None:
    """Write initial scores, lane numbers, the reversed query and the text to a band's scratch."""
    for at in range(BEST * size):
        lines[at] = least
    for at in range(BEST * size, LINES * size):
        lines[at] = 0
    at = LINES * size
    for i in range(LANES):
        lines[at + i] = i
    at += LANES
    for i in range(query.size):
        code = query[query.size - 1 - i]
        lines[at + i] = min(code, UNKNOWN)
    at += query.size + LANES
    for j in range(text.size):
        lines[at + j] = min(text[j], UNKNOWN)


@jit(part=True, norefs=True)
def fill_band(
    query: Bytes,
    text: Bytes,
    band: tuple[int, int],
    costs: PathCosts,
    is_local: int,
    cells: Bytes,
    lines: Scratch,
) -> tuple[int, int, int]:
    """Fill the matrix cells of a band of diagonals; return score, row and column of the end.

    The end is the best cell if local, else the last one. `cells` gets the source of each score.
    `lines` is scratch, of 16 bits only if `fits_16`. Of equal scores the end has the fewest bases
    of the query, then of the text.
    """
    first, width = band[0], band[1] - band[0] + 1
    n, m, half, size = query.size, text.size, (width + 1) // 2, line_size(band)
    least = LEAST_16 if lines.itemsize == 2 else -(1 << 28)
    begin_lines(query, text, lines, size, least)
    begin, end = antidiagonals(n, m, band)
    for t in range(begin, end):
        odd = (t - first) & 1
        # cell k of the antidiagonal: bases i - k and j + k
        i, j, wide = (t - first - odd) >> 1, (t + first + odd) >> 1, (width + 1 - odd) >> 1
        low, high = max(0, i - n, 1 - j), min(wide, i, m - j + 1)
        step = (t, odd, i, j, low, high, (t - begin) * half)
        fill_step(step, size, n, costs, (is_local, least), cells, lines)
        fill_border(step, wide, size, (n, m), costs, (is_local, least), cells, lines)
    if is_local:
        return best_end(first, width, size, lines)
    c = m - n - first
    return lines[(SCORES + (c & 1)) * size + LANES + (c >> 1)], n, m


@jit(part=True, norefs=True)
def fill_step(
    step: tuple[int, int, int, int, int, int, int],
    size: int,
    n: int,
    costs: PathCosts,
    kind: tuple[int, int],
    cells: Bytes,
    lines: Scratch,
) -> None:
    """Fill an antidiagonal's cells of a band that have a pair of bases, in vectors."""
    t, odd, i, j, low, high, at = step
    own, other = odd * size + LANES, (1 - odd) * size + LANES
    letters, others = LINES * size + LANES + n - i, LINES * size + 2 * LANES + n + j - 1
    lane, now = load(lines, LINES * size, OF_LANES), spread(t, lines, OF_LANES)
    opening, extend = costs.open + costs.extend, costs.extend
    none = spread(kind[1], lines, OF_LANES)
    floor, zero = none if not kind[0] else none ^ none, none ^ none
    equal, unequal, last_base = zero + costs.match, zero - costs.mismatch, zero + 3
    unknown = zero if costs.free_unknown else unequal
    for k in range(low, high, LANES):
        base, facing = load(lines, letters + k, OF_LANES), load(lines, others + k, OF_LANES)
        pair = select(base == facing, equal, unequal)
        pair = select((base | facing) > last_base, unknown, pair)
        above, before = other + k + odd, other + k + odd - 1
        gap = load(lines, SCORES * size + above, OF_LANES) - opening
        longer = load(lines, GAPS_ACROSS * size + above, OF_LANES) - extend
        what = select(longer > gap, zero + LONGER_ACROSS, zero)
        f = maximum(gap, longer)
        gap = load(lines, SCORES * size + before, OF_LANES) - opening
        longer = load(lines, GAPS_ALONG * size + before, OF_LANES) - extend
        what = what | select(longer > gap, zero + LONGER_ALONG, zero)
        e = maximum(gap, longer)
        h = load(lines, SCORES * size + own + k, OF_LANES) + pair
        source = select(e > h, zero + ALONG, zero + PAIR)
        h = maximum(h, e)
        source = select(f > h, zero + ACROSS, source)
        h = maximum(h, f)
        source = select(h > floor, source, zero)
        # lanes beyond the last cell are discarded
        is_cell = lane < high - k
        h = select(is_cell, maximum(h, floor), none)
        store(lines, SCORES * size + own + k, h)
        store(lines, GAPS_ALONG * size + own + k, e)
        store(lines, GAPS_ACROSS * size + own + k, select(is_cell, f, none))
        store(cells, at + k, resize_to(what | source, cells))
        if kind[0]:
            best = load(lines, BEST * size + own + k, OF_LANES)
            store(lines, BEST * size + own + k, maximum(best, h))
            ends = load(lines, BEST_AT * size + own + k, OF_LANES)
            store(lines, BEST_AT * size + own + k, select(h > best, now, ends))


@jit(part=True, norefs=True)
def fill_border(
    step: tuple[int, int, int, int, int, int, int],
    wide: int,
    size: int,
    shape: tuple[int, int],
    costs: PathCosts,
    kind: tuple[int, int],
    cells: Bytes,
    lines: Scratch,
) -> None:
    """Fill an antidiagonal's cells of a band in the first row and column, which have no pair."""
    (t, odd, i, j, _, _, at), (n, m), (is_local, least) = step, shape, kind
    own, score = odd * size + LANES, 0 if is_local or t == 0 else -costs.open - t * costs.extend
    if 0 <= i < wide and t <= m:
        lines[SCORES * size + own + i], lines[GAPS_ACROSS * size + own + i] = score, least
        cells[at + i] = STOP if is_local or t == 0 else ALONG | (LONGER_ALONG if t > 1 else 0)
    if 0 <= -j < wide and 0 < t <= n:
        lines[SCORES * size + own - j], lines[GAPS_ALONG * size + own - j] = score, least
        lines[GAPS_ACROSS * size + own - j] = least if is_local else score
        cells[at - j] = STOP if is_local else ACROSS | (LONGER_ACROSS if t > 1 else 0)


@jit(part=True, norefs=True)
def best_end(first: int, width: int, size: int, lines: Scratch) -> tuple[int, int, int]:
    """Return the best score over all diagonals of a band, and its end in query and text."""
    best, best_i, best_j = i64(0), i64(0), i64(0)
    for c in range(width):
        at = (c & 1) * size + LANES + (c >> 1)
        score, t = lines[BEST * size + at], lines[BEST_AT * size + at]
        i, j = (t - first - c) >> 1, (t + first + c) >> 1
        is_before = i < best_i or (i == best_i and j < best_j)
        if score > best or (score == best and score > 0 and is_before):
            best, best_i, best_j = i64(0) + score, i64(0) + i, i64(0) + j
    return best, best_i, best_j


@jit(part=True, norefs=True)
def cell_at(cells: Bytes, i: int, j: int, band: tuple[int, int], begin: int) -> int:
    """Return the source of the score in row i, column j of a band.

    `begin` is its first antidiagonal.
    """
    half = (band[1] - band[0] + 2) // 2
    cell: int = cells[(i + j - begin) * half + ((j - i - band[0]) >> 1)]
    return cell
