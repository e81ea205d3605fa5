"""Score and end of the best local alignment of each pair, by the kernel that suits its size."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gangsaw.codecs.core.memory.threads import run_blocks
from gangsaw.tasks.align.affine.batches import VECTOR, BestEnds, in_lanes, in_strips, limit_of
from gangsaw.tasks.align.affine.rectangles import Rectangles
from gangsaw.tasks.align.sets.pairs import Places
from gangsaw.tasks.align.sets.scores import Scores

LONGEST = 1 << 14  # bases of a pair in lanes: scratch of 16 bits then takes 4 MB a vector
LEAST_FILLED = 0.25  # of a batch's lanes: with fewer, pairs go by strips
MOST_REDONE = 0.5  # of a batch's pairs: with more, 8 bits are not tried for longer ones
GROUP = 1 << 24  # cells of pairs that one thread takes at once
Align = Callable[[Places], BestEnds]


def local_ends(parts: Rectangles, scores: Scores) -> BestEnds:
    """Return the best local alignments, all 0 for a pair where nothing matches.

    Of equal scores the one that ends first in the target counts, then in the query.
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
    """Align pairs one by one, in groups over threads; write what is found of each."""
    cells = np.cumsum(parts.rows[chosen] * parts.columns[chosen])
    borders = np.flatnonzero(np.diff(cells // GROUP)) + 1
    groups = np.split(chosen, borders) if chosen.size else []

    def one(i: int) -> None:
        _write(found, groups[i], in_strips(parts, groups[i], scores, is_local=is_local))

    run_blocks(one, len(groups))


def _by_lanes(
    parts: Rectangles, chosen: Places, scores: Scores, item: type, found: BestEnds
) -> tuple[Places, Places]:
    """Align pairs in lanes; return those whose score exceeds the width, and those too few."""
    limit, n = limit_of(scores, item), VECTOR // np.dtype(item).itemsize
    batches = [chosen[i : i + n] for i in range(0, chosen.size, n)]
    is_filled = [_filled(parts, batch, n) >= LEAST_FILLED for batch in batches]
    single = [batch for batch, filled in zip(batches, is_filled, strict=True) if not filled]
    batches = [batch for batch, filled in zip(batches, is_filled, strict=True) if filled]
    again: list[Places] = [np.zeros(0, np.int64)] * len(batches)
    too_narrow = [limit < scores.match]

    def one(i: int) -> None:
        again[i] = batches[i]
        if item is np.uint8 and too_narrow[0] and i % 16:
            return
        result = in_lanes(parts, batches[i], scores, item)
        _write(found, batches[i], result)
        again[i] = batches[i][result.score > limit]
        too_narrow[0] = again[i].size > MOST_REDONE * batches[i].size

    if limit >= scores.match:
        run_blocks(one, len(batches))
    else:
        again = batches
    none = [np.zeros(0, np.int64)]
    return np.concatenate(none + again), np.concatenate(none + single)


def _filled(parts: Rectangles, batch: Places, n: int) -> float:
    """Return which share of a batch's cells are of pairs."""
    rows, columns = parts.rows[batch], parts.columns[batch]
    return float((rows * columns).sum() / (n * rows.max() * columns.max()))


def _write(found: BestEnds, chosen: Places, result: BestEnds) -> None:
    for into, part in zip(found, result, strict=True):
        into[chosen] = part
