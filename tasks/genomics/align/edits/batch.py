"""Edit distances of many pairs, one pair per lane."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gangsaw.codecs.core.arrays import Int64s, UInt64s
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.integers import load, static, store
from gangsaw.tasks.genomics.align.edits.tiles import (
    ALL,
    DIFFERENCES,
    HIGH,
    LOW,
    MINUS,
    NONE,
    PLANES,
    PLUS,
    WORD,
    least,
    rise_along,
    tile,
    word_planes,
)
from gangsaw.tasks.genomics.align.sets.pairs import Codes, Places, SequencePairs

LANES = 16
_OF_LANES = static(LANES)


class EditBatch(NamedTuple):
    """Sequences of the edit distance kernel, and the pairs to compute.

    Attributes
    ----------
    queries, targets : (bases,) uint8 codes
    query_offsets, target_offsets : (n + 1,) int64
    order : (some,) int64, numbers of pairs; the queries of each 16 consecutive pairs have
        equally many 64-bit words
    free_start, free_end : 1 if bases of the target before or behind the query cost nothing
    """

    queries: Codes
    query_offsets: Places
    targets: Codes
    target_offsets: Places
    order: Places
    free_start: int
    free_end: int


def distances(pairs: SequencePairs, order: Places, free: tuple[bool, bool], out: Places) -> None:
    """Write the edit distances of the pairs of `order` to `out`.

    The pairs are sorted by the 64-bit words of the query, then of the target.

    Parameters
    ----------
    order : (some,) int64, numbers of the pairs
    free : flags: bases of the target before and behind the query cost nothing
    out : (n,) int64, distances of all pairs
    """
    queries, targets = pairs
    words = -(-queries.lengths[order] // WORD)
    for size in np.unique(words):
        batch = EditBatch(
            queries.codes,
            queries.offsets,
            targets.codes,
            targets.offsets,
            order[words == size],
            int(free[0]),
            int(free[1]),
        )
        fill_distances(batch, int(size), out)


@jit
def fill_distances(batch: EditBatch, n_words: int, out: Int64s) -> None:
    """Write the edit distance out[p] of each pair p of `order`.

    Its query has `n_words` 64-bit words.

    `n_words` is 1 or more.

    Parameters
    ----------
    out : (n,) int64
    """
    rows = np.empty((n_words, PLANES, LANES), np.uint64)
    sides = np.empty((n_words, DIFFERENCES, LANES), np.uint64)
    columns = np.empty((PLANES, LANES), np.uint64)
    borders = np.empty((DIFFERENCES, LANES), np.uint64)
    score, best = np.empty(LANES, np.int64), np.empty(LANES, np.int64)
    for first in range(0, batch.order.size, LANES):
        lanes = batch.order[first : first + LANES]
        _set_rows(batch, lanes, rows, sides, score)
        best[:] = score
        longest = 0
        for p in lanes:
            longest = max(longest, batch.target_offsets[p + 1] - batch.target_offsets[p])
        for start in range(0, longest, WORD):
            _set_columns(batch, lanes, start, columns)
            _go_down(rows, sides, columns, borders, batch.free_start)
            for lane in range(lanes.size):
                p = lanes[lane]
                left = batch.target_offsets[p + 1] - batch.target_offsets[p] - start
                if left > 0:
                    _take_border(borders, lane, min(left, WORD), score, best, batch.free_end)
        for lane in range(lanes.size):
            p = lanes[lane]
            extra = batch.free_start * _rows_above(batch, p, n_words)
            out[p] = (best[lane] if batch.free_end else score[lane]) - extra


@jit(inline=True, part=True)
def _rows_above(batch: EditBatch, p: int, n_words: int) -> int:
    above: int = n_words * WORD - (batch.query_offsets[p + 1] - batch.query_offsets[p])
    return above


@jit(part=True)
def _set_rows(
    batch: EditBatch, lanes: Int64s, rows: UInt64s, sides: UInt64s, score: Int64s
) -> None:
    """Set bit planes of the queries, differences along column 0, and the score at its end."""
    n_words = len(rows)
    for lane in range(LANES):
        p = lanes[min(lane, lanes.size - 1)]
        start, above = batch.query_offsets[p], _rows_above(batch, p, n_words)
        for w in range(n_words):
            first, n_above = start + w * WORD - above, 0
            if w == 0:
                first, n_above = start, above
            rows[w, LOW, lane], rows[w, HIGH, lane], rows[w, NONE, lane] = word_planes(
                batch.queries, first, n_above
            )
            sides[w, PLUS, lane], sides[w, MINUS, lane] = np.uint64(ALL), np.uint64(0)
        if not batch.free_start:
            sides[0, PLUS, lane] = np.uint64(ALL) << np.uint64(above)
        score[lane] = n_words * WORD - (0 if batch.free_start else above)


@jit(part=True)
def _set_columns(batch: EditBatch, lanes: Int64s, start: int, columns: UInt64s) -> None:
    """Set the bit planes of 64 bases from `start` on of each target; unused bits are undefined."""
    for lane in range(LANES):
        p = lanes[min(lane, lanes.size - 1)]
        first = min(batch.target_offsets[p] + start, batch.targets.size)
        columns[LOW, lane], columns[HIGH, lane], columns[NONE, lane] = word_planes(
            batch.targets, first, 0
        )


@jit(part=True)
def _go_down(
    rows: UInt64s, sides: UInt64s, columns: UInt64s, borders: UInt64s, free_start: int
) -> None:
    """Compute the tiles of 64 columns from the top; `borders` gets the last row's differences."""
    of_columns = (
        load(columns[LOW], 0, _OF_LANES),
        load(columns[HIGH], 0, _OF_LANES),
        load(columns[NONE], 0, _OF_LANES),
    )
    none = of_columns[LOW] ^ of_columns[LOW]
    down = (none + (free_start - 1), none)
    for w in range(len(rows)):
        of_rows = (
            load(rows[w, LOW], 0, _OF_LANES),
            load(rows[w, HIGH], 0, _OF_LANES),
            load(rows[w, NONE], 0, _OF_LANES),
        )
        side = load(sides[w, PLUS], 0, _OF_LANES), load(sides[w, MINUS], 0, _OF_LANES)
        side, down = tile(of_rows, of_columns, side, down)
        store(sides[w, PLUS], 0, side[PLUS])
        store(sides[w, MINUS], 0, side[MINUS])
    store(borders[PLUS], 0, down[PLUS])
    store(borders[MINUS], 0, down[MINUS])


@jit(inline=True, part=True)
def _take_border(
    borders: UInt64s, lane: int, columns: int, score: Int64s, best: Int64s, free_end: int
) -> None:
    plus, minus = borders[PLUS, lane], borders[MINUS, lane]
    if free_end:
        best[lane] = least(score[lane], best[lane], plus, minus, columns)
    score[lane] += rise_along(plus, minus, columns)
