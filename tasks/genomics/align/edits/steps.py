"""Traceback through stored borders: crossed tiles are recomputed, 64 rows in a word."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.arrays import Bytes, UInt64s
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.genomics.align.edits.area import Area, StoredBorders
from gangsaw.tasks.genomics.align.edits.long import FilledTiles
from gangsaw.tasks.genomics.align.edits.tiles import HIGH, LOW, MINUS, NONE, PLUS, WORD, word_planes
from gangsaw.tasks.genomics.align.sets.pairs import Codes

EQUAL, OTHER, INSERT, DELETE = b"=XID"
ACROSS, DOWN, SAME = range(3)  # bits of columns: +1 from the left, +1 from above, equal bases
LEFT_AREA = -1


def steps_back(query: Codes, target: Codes, found: FilledTiles) -> Codes | None:
    """Return the traceback operations of the tiles, last step first; None if the path leaves them.

    It prefers a pair of equal bases, then a deletion (base of the target alone), then an insertion:
    so it is the same in any area.
    """
    out = np.empty(query.size + target.size, np.uint8)
    n = go_back(query, target, found.area, found.borders, out)
    return None if n == LEFT_AREA else out[:n]


@jit(part=True)
def _columns(
    planes: tuple[np.uint64, np.uint64, np.uint64],
    target: Bytes,
    start: int,
    border: UInt64s,
    columns: UInt64s,
    end: int,
) -> None:
    """Write the score differences along columns 0 to `end` of a tile, one bit per row.

    Parameters
    ----------
    border : (2, 2) uint64, masks of +1 and -1 at the left, then at the top
    columns : (3, 64) uint64
    """
    one, top = np.uint64(1), np.uint64(WORD - 1)
    plus, minus = border[0, PLUS], border[0, MINUS]
    top_plus, top_minus = border[1, PLUS], border[1, MINUS]
    for c in range(end + 1):
        code = np.uint64(target[start + c])
        low = np.uint64(0) - (code & one)
        high = np.uint64(0) - ((code >> one) & one)
        unequal = (planes[LOW] ^ low) | (planes[HIGH] ^ high) | planes[NONE]
        equal = ~(unequal | (np.uint64(0) - (code >> np.uint64(2))))
        vertical = equal | minus
        matched = equal | (top_minus >> top)
        horizontal = (((matched & plus) + plus) ^ plus) | matched
        rise, fall = minus | ~(horizontal | plus), plus & horizontal
        columns[SAME, c], columns[ACROSS, c] = equal, rise
        rise, fall = (rise << one) | (top_plus >> top), (fall << one) | (top_minus >> top)
        top_plus, top_minus = top_plus << one, top_minus << one
        plus, minus = fall | ~(vertical | rise), rise & vertical
        columns[DOWN, c] = plus


@jit
def go_back(query: Bytes, target: Bytes, area: Area, borders: StoredBorders, out: Bytes) -> int:
    """Write the traceback operations, last step first; return their number, or LEFT_AREA.

    Parameters
    ----------
    out : (bases of both,) uint8
    """
    above = -query.size % WORD
    i, j, at = query.size - 1, target.size - 1, 0
    columns = np.empty((3, WORD), np.uint64)
    border = np.empty((2, 2), np.uint64)
    while i >= 0 and j >= 0:
        w, t = (i + above) // WORD, j // WORD
        if t < area.low[w] or t > area.high[w]:
            return LEFT_AREA
        first, begin = w * WORD - above, t * WORD
        planes = word_planes(query, max(first, 0), 0 if w else above)
        place = borders.starts[w + t] + w - borders.firsts[w + t]
        for k in range(2):
            border[0, k], border[1, k] = borders.sides[k, place], borders.downs[k, place]
        _columns(planes, target, begin, border, columns, j - begin)
        while i >= max(first, 0) and j >= begin:
            row, c = np.uint64(i - first), j - begin
            step = OTHER
            if (columns[SAME, c] >> row) & np.uint64(1):
                step = EQUAL
            elif (columns[ACROSS, c] >> row) & np.uint64(1):
                step = DELETE
            elif (columns[DOWN, c] >> row) & np.uint64(1):
                step = INSERT
            out[at] = step
            at += 1
            i -= step != DELETE
            j -= step != INSERT
    for _ in range(i + 1):
        out[at] = INSERT
        at += 1
    for _ in range(j + 1):
        out[at] = DELETE
        at += 1
    return at
