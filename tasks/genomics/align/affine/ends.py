"""Score and end of the best local alignment of each pair, by the kernel for its size."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.memory.threads import run_blocks
from gangsaw.tasks.genomics.align.affine.batches import (
    VECTOR,
    BestEnds,
    in_lanes,
    in_strips,
    limit_of,
)
from gangsaw.tasks.genomics.align.affine.rectangles import Rectangles
from gangsaw.tasks.genomics.align.sets.pairs import Places
from gangsaw.tasks.genomics.align.sets.scores import Scores

LONGEST = 1 << 14  # longest pair in lanes, in bases: 16-bit scratch then takes 4 MB per vector
LEAST_FILLED = 0.25  # least share of a vector's cells in use: below it, pairs go to strips
MOST_REDONE = 0.5  # share of a group's pairs: above it, 8 bits are not tried for most longer pairs
GROUP = 1 << 24  # cells of the pairs in one thread's task
Align = Callable[[Places], BestEnds]


def local_ends(parts: Rectangles, scores: Scores) -> BestEnds:
    """Return scores and ends of the best local alignments; all 0 for a pair without a match.

    Of equal scores the result is the one that ends first in the target, then in the query.
    """
    found = BestEnds(*(np.zeros(parts.rows.size, np.int64) for _ in BestEnds._fields))
    rest = np.flatnonzero((parts.rows > 0) & (parts.columns > 0))
    rest = rest[np.lexsort((parts.rows[rest], parts.columns[rest]))]
    is_short = np.maximum(parts.rows, parts.columns)[rest] <= LONGEST
    long, rest = rest[~is_short], rest[is_short]
    for item in (np.uint8, np.uint16):
        rest, single = _by_lanes(parts, rest, scores, item, found)
        long = np.concatenate([long, single])
    by_strips(parts, np.concatenate([long, rest]), scores, found, is_local=True)
    return found


def by_strips(
    parts: Rectangles, chosen: Places, scores: Scores, found: BestEnds, *, is_local: bool
) -> None:
    """Align the pairs `chosen` one by one, in groups over threads; write the results to `found`."""
    cells = np.cumsum(parts.rows[chosen] * parts.columns[chosen])
    borders = np.flatnonzero(np.diff(cells // GROUP)) + 1
    groups = np.split(chosen, borders) if chosen.size else []

    def one(i: int) -> None:
        _write(found, groups[i], in_strips(parts, groups[i], scores, is_local=is_local))

    run_blocks(one, len(groups))


def _by_lanes(
    parts: Rectangles, chosen: Places, scores: Scores, item: type, found: BestEnds
) -> tuple[Places, Places]:
    """Align one pair per SIMD lane.

    Return pairs whose score overflows, and pairs of sparse vectors.

    A vector is sparse if pairs use less than LEAST_FILLED of its cells.
    """
    limit, n = limit_of(scores, item), VECTOR // np.dtype(item).itemsize
    is_filled = np.repeat(_filled(parts, chosen, n) >= LEAST_FILLED, n)[: chosen.size]
    single, chosen = chosen[~is_filled], chosen[is_filled]
    if limit < scores.match:
        return chosen, single
    groups = _groups(parts, chosen, n)
    again: list[Places] = [np.zeros(0, np.int64)] * len(groups)
    too_narrow = [False]

    def one(i: int) -> None:
        again[i] = groups[i]
        if item is np.uint8 and too_narrow[0] and i % 16:
            return
        result = in_lanes(parts, groups[i], scores, item)
        _write(found, groups[i], result)
        again[i] = groups[i][result.score > limit]
        too_narrow[0] = again[i].size > MOST_REDONE * groups[i].size

    run_blocks(one, len(groups))
    return np.concatenate([np.zeros(0, np.int64), *again]), single


def _groups(parts: Rectangles, chosen: Places, n: int) -> list[Places]:
    """Split pairs into groups of whole SIMD vectors, one group per task.

    The first group is small: it shows whether scores overflow lanes of this width.
    """
    cells = np.cumsum(parts.rows[chosen] * parts.columns[chosen])
    borders = np.flatnonzero(np.diff(cells[::n] // GROUP)) + 1
    return [some for some in np.split(chosen, n * np.unique([1, *borders])) if some.size]


def _filled(parts: Rectangles, chosen: Places, n: int) -> NDArray[np.float64]:
    """Return the share of each SIMD vector's matrix cells that pairs use, (vectors,) float64."""
    if not chosen.size:
        return np.zeros(0)
    rows, columns, first = parts.rows[chosen], parts.columns[chosen], np.arange(0, chosen.size, n)
    largest = np.maximum.reduceat(rows, first) * np.maximum.reduceat(columns, first)
    cells = np.add.reduceat(rows * columns, first)
    return np.asarray(cells / (n * largest), np.float64)


def _write(found: BestEnds, chosen: Places, result: BestEnds) -> None:
    for into, part in zip(found, result, strict=True):
        into[chosen] = part
