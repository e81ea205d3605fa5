"""Input arrays of the kernels: pairs interleaved in lanes, or one pair in strips."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.arrays import Int64s
from gangsaw.codecs.core.numba.jit import HAS_AVX512, jit
from gangsaw.codecs.core.numba.vectors.integers import static
from gangsaw.tasks.genomics.align.affine.lanes import (
    COLUMNS,
    PairLanes,
    carve_lanes,
    local_lanes,
    scratch,
)
from gangsaw.tasks.genomics.align.affine.rectangles import (
    NO_BASE,
    NO_OTHER,
    Rectangles,
    query_code,
    query_way,
    target_code,
    target_way,
)
from gangsaw.tasks.genomics.align.affine.strips import (
    BLOCK,
    COLUMN,
    FOUND,
    LARGEST_16,
    ROW,
    SCORE,
    StripItems,
    StripRun,
    StripTile,
    forward,
)
from gangsaw.tasks.genomics.align.sets.pairs import Places
from gangsaw.tasks.genomics.align.sets.scores import Scores

VECTOR = 64 if HAS_AVX512 else 32  # bytes
ROWS = VECTOR  # rows in a strip: two 16-bit vectors hide the latency of the dependent steps


class BestEnds(NamedTuple):
    """Best local alignments: scores, and ends in bases of query and target; (n,) int64 each."""

    score: Places
    query_end: Places
    target_end: Places


@jit(norefs=True)
def _fill(work: PairLanes, n: int, parts: Rectangles, chosen: Places) -> None:
    work.queries[:] = NO_BASE
    work.targets[:] = NO_OTHER
    for k in range(chosen.size):
        pair = chosen[k]
        at, step = query_way(parts, pair)
        to = np.uint64(k)
        place, way = np.uint64(at), np.uint64(step)  # unsigned: no check for negative indices
        for _ in range(parts.query_end[pair] - parts.query_start[pair]):
            work.queries[to] = query_code(parts.queries[place])
            place += way
            to += np.uint64(n)
        at, step = target_way(parts, pair)
        to = np.uint64(k)
        place, way = np.uint64(at), np.uint64(step)
        for _ in range(parts.target_end[pair] - parts.target_start[pair]):
            work.targets[to] = target_code(parts.targets[place])
            place += way
            to += np.uint64(n)


def convert_scores(scores: Scores) -> tuple[int, int, int, int]:
    """Return match score, mismatch penalty, and cost of a gap's first and of its further bases."""
    first = scores.gap_open + scores.gap_extend
    return scores.match, -scores.mismatch, first, scores.gap_extend


def limit_of(scores: Scores, item: type) -> int:
    """Return the largest score that lanes of dtype `item`, uint8 or uint16, compute exactly."""
    return int(np.iinfo(item).max) - scores.match + scores.mismatch


def in_lanes(parts: Rectangles, chosen: Places, scores: Scores, item: type) -> BestEnds:
    """Return best local alignments of the pairs `chosen`, computed with one pair per SIMD lane.

    Scores above `limit_of` may be too low.
    """
    n = VECTOR // np.dtype(item).itemsize
    rows, columns = int(parts.rows[chosen].max()), int(parts.columns[chosen].max())
    work = scratch(rows, -(-columns // COLUMNS) * COLUMNS, n, item)
    found = np.zeros((FOUND, chosen.size), np.int64)
    _by_vectors(parts, chosen, static(n), convert_scores(scores), work, found)
    return BestEnds(*found)


@jit(norefs=True)
def _by_vectors(
    parts: Rectangles,
    chosen: Places,
    lanes: tuple[None, ...],
    costs: tuple[int, int, int, int],
    work: PairLanes,
    found: Int64s,
) -> None:
    """Write score, row and column of each pair's best local alignment to `found`, (FOUND, pairs).

    It is one kernel, since NumPy calls per vector take as long as the alignments.
    """
    n = len(lanes)
    for first in range(0, chosen.size, n):
        some = chosen[first : first + n]
        rows, columns = 0, 0
        for pair in some:
            rows = max(rows, parts.query_end[pair] - parts.query_start[pair])
            columns = max(columns, parts.target_end[pair] - parts.target_start[pair])
        part = carve_lanes(work, rows, (columns + COLUMNS - 1) // COLUMNS * COLUMNS, n)
        _fill(part, n, parts, some)
        local_lanes(part, lanes, costs)
        for k in range(some.size):
            score = np.int64(part.best[k])
            found[SCORE, first + k] = score
            if score:
                for i in range(ROW, FOUND):
                    low, high = part.best[(2 * i - 1) * n + k], part.best[2 * i * n + k]
                    found[i, first + k] = np.int64(low) + 256 * np.int64(high) + 1


def build_strip_run(scores: Scores, *, is_local: bool, has_marks: bool = False) -> StripRun:
    """Return the scores and flags that all strips (rows of one SIMD vector) of a pair share."""
    step = scores.match + scores.gap_open + scores.gap_extend
    # cells of a block differ from the base by at most a block of columns and a strip of rows
    most = (BLOCK + 2 * ROWS) * step
    local, marks = static(int(is_local)), static(int(has_marks))
    return StripRun(local, marks, static(0), most, convert_scores(scores), 0, 0)


def count_mark_bytes(rows: Places, columns: Places) -> Places:
    """Return the bytes of traceback marks of alignment matrices, with padding rows and lanes."""
    return -(-rows // ROWS) * ROWS * (columns + ROWS - 1)


def empty_tile(rows: int, columns: int, run: StripRun, marks: int = 0) -> StripTile:
    """Return a tile with memory for `rows` and `columns` of a matrix and `marks` bytes of marks."""

    def zeros(n: int) -> StripItems:
        return np.zeros(n, np.int16) if run.most <= LARGEST_16 else np.zeros(n, np.int32)

    rows = -(-rows // ROWS) * ROWS
    return StripTile(
        query=zeros(rows),
        target=zeros(columns + 2 * ROWS),
        top=np.zeros(columns + 1, np.int32),
        top_gap=np.zeros(columns, np.int32),
        left=np.zeros(rows, np.int32),
        left_gap=np.zeros(rows, np.int32),
        near=zeros(BLOCK),
        near_gap=zeros(BLOCK),
        lane=zeros(8 * ROWS),
        found=np.zeros(FOUND, np.int64),
        marks=np.zeros(marks, np.uint8),
    )


@jit(inline=True, part=True, norefs=True)
def lay(parts: Rectangles, pair: int, n: int, run: StripRun, work: StripTile) -> StripTile:
    """Return the alignment matrix of a whole pair as a tile, in the memory of a larger tile."""
    m = parts.query_end[pair] - parts.query_start[pair]
    columns = parts.target_end[pair] - parts.target_start[pair]
    rows = (m + n - 1) // n * n
    first, further = run.scores[2], 0 if len(run.is_local) else run.scores[3]
    opened = 0 if len(run.is_local) else first - further
    at, step = query_way(parts, pair)
    for i in range(m):
        work.query[i] = query_code(parts.queries[at + step * i])
    work.query[m:rows] = NO_BASE
    for i in range(rows):
        work.left[i] = -opened - further * (i + 1)
        work.left_gap[i] = work.left[i] - first
    work.target[:n] = NO_OTHER
    work.target[n + columns : 2 * n + columns] = NO_OTHER
    work.top[0] = 0
    at, step = target_way(parts, pair)
    for j in range(columns):
        work.target[n + columns - 1 - j] = target_code(parts.targets[at + step * j])
        work.top[j + 1] = -opened - further * (j + 1)
        work.top_gap[j] = work.top[j + 1] - first
    work.found[:] = 0
    return StripTile(
        work.query[:rows],
        work.target[: columns + 2 * n],
        work.top[: columns + 1],
        work.top_gap[:columns],
        work.left[:rows],
        work.left_gap[:rows],
        work.near,
        work.near_gap,
        work.lane,
        work.found,
        work.marks,
    )


@jit(norefs=True)
def init_tile(parts: Rectangles, pair: int, n: int, run: StripRun, work: StripTile) -> None:
    """Write sequences and initial borders of a pair's whole alignment matrix to a tile."""
    lay(parts, pair, n, run, work)


@jit(norefs=True)
def _one_by_one(
    parts: Rectangles,
    chosen: Places,
    lanes: tuple[None, ...],
    run: StripRun,
    work: StripTile,
    found: NDArray[np.int64],
) -> None:
    """Write score, row and column of each pair's best (local) or last cell, (FOUND, pairs)."""
    for k in range(chosen.size):
        tile = lay(parts, chosen[k], len(lanes), run, work)
        forward(tile, lanes, run)
        m = parts.query_end[chosen[k]] - parts.query_start[chosen[k]]
        if len(run.is_local):
            for i in range(FOUND):
                found[i, k] = tile.found[i]
        else:
            found[SCORE, k] = tile.left[m - 1]
            found[ROW, k], found[COLUMN, k] = m - 1, tile.top_gap.size - 1


def in_strips(parts: Rectangles, chosen: Places, scores: Scores, *, is_local: bool) -> BestEnds:
    """Return scores and ends of non-empty pairs, computed one by one with a matrix row per lane."""
    run = build_strip_run(scores, is_local=is_local)
    work = empty_tile(int(parts.rows[chosen].max()), int(parts.columns[chosen].max()), run)
    found = np.zeros((FOUND, chosen.size), np.int64)
    _one_by_one(parts, chosen, static(ROWS), run, work, found)
    has_end = (found[SCORE] > 0) | (not is_local)
    return BestEnds(found[SCORE], *(np.where(has_end, end + 1, 0) for end in found[ROW:]))
