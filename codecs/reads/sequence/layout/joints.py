"""Common joints of pieces in many lines: adapters begin at one column, after any insert.

The walk takes as many bases as fit a contig. So a cut is after the bases that two contigs share by
chance. A piece with too few bases for its errors is left out. If many later pieces begin at a few
positions, this module corrects both: such a position costs few bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes, Int64s
from gangsaw.codecs.core.nucleotides.alphabet import NOT_A_BASE
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.reads.lines import Lines
from gangsaw.codecs.reads.sequence.layout.placed import Anchors, Layout, find_anchors

MOST = 16  # positions that are tried
# later pieces that begin there: least number, and lines per such piece at most
LEAST, SHARE = 64, 256
REACH = 8  # bases by which a cut may move
BEYOND = 1 << 20  # different bases: more than a line may have
OF_LETTER, OF_MISMATCH, OF_PLACE = 2, 9, 8  # approximate costs in bits


def with_usual_joints(pieces: Layout, lines: Lines, codes: npt.NDArray[np.uint8]) -> Layout:
    """Return a layout in which later pieces of lines begin at frequent anchors if that saves bits.

    Parameters
    ----------
    codes : (used,) uint8, 0..3 for A C G T, 4 for any other byte
    """
    usual = usual_anchors(pieces, lines.starts.size)
    if not usual.size:
        return pieces
    moved = pieces._replace(
        **{
            name: getattr(pieces, name).copy()
            for name in ("begin", "end", "position", "strand", "is_mapped")
        }
    )
    join_usually(moved, lines.starts, codes, usual)
    return moved


def usual_anchors(pieces: Layout, n_lines: int) -> Anchors:
    """Return (n,) anchors at which many later pieces begin, most frequent first."""
    is_later = pieces.is_mapped & (pieces.begin > 0)
    found, counts = np.unique(find_anchors(pieces)[is_later], return_counts=True)
    order = np.argsort(-counts, kind="stable")[:MOST]
    usual: Anchors = found[order[counts[order] >= max(LEAST, n_lines // SHARE)]]
    return usual


@jit
def join_usually(pieces: Layout, starts: Int64s, codes: Bytes, usual: Int64s) -> None:
    """Move later pieces to positions of `usual` where that costs less."""
    for k in range(1, pieces.line.size):
        if pieces.line[k] == pieces.line[k - 1]:
            anchor = anchor_of(pieces, k)
            if anchor != usual[0]:
                move_joint(pieces, k, anchor, starts[pieces.line[k]], codes, usual)


@jit(inline=True, part=True, norefs=True)
def anchor_of(pieces: Layout, k: int) -> Any:
    """Return the anchor of a piece, -1 for a literal."""
    strand = np.int64(pieces.strand[k])
    n = pieces.end[k] - pieces.begin[k]
    return 2 * (pieces.position[k] + n * strand) + strand if pieces.is_mapped[k] else -1


@jit(inline=True, part=True, norefs=True)
def move_joint(pieces: Layout, k: int, own: int, start: int, codes: Bytes, usual: Int64s) -> None:
    """Move the cut before a piece, and the piece to the anchor with the least cost."""
    n, before = pieces.end[k] - pieces.begin[k], pieces.end[k - 1] - pieces.begin[k - 1]
    least = cost_now(pieces, k, n, own, start, codes, usual)
    best, cut = -1, 0
    for anchor in usual:
        if anchor == own:
            break
        for by in range(-min(REACH, before - 1), min(REACH, n - 1) + 1):
            begin, most = start + pieces.begin[k] + by, max(0, least) // OF_MISMATCH
            wrong = count_wrong(pieces.consensus, codes, begin, n - by, anchor, most)
            if OF_MISMATCH * wrong < least:
                cost = OF_MISMATCH * wrong + cost_before(pieces, k, by, start, codes)
                if cost < least:
                    least, best, cut = cost, anchor, by
    if best >= 0:
        move(pieces, k, cut, best)


@jit(inline=True, part=True, norefs=True)
def cost_now(
    pieces: Layout, k: int, n: int, own: int, start: int, codes: Bytes, usual: Int64s
) -> Any:
    """Return the cost of a piece where it is; another anchor of `usual` must cost less.

    The cost of a symbol for the anchor is not included.

    n, own : bases and anchor of the piece
    """
    if own < 0:
        return OF_LETTER * n - OF_PLACE
    begin = start + pieces.begin[k]
    cost = 1 + OF_MISMATCH * count_wrong(pieces.consensus, codes, begin, n, own, n)
    for anchor in usual:
        if anchor == own:
            return cost
    return cost + OF_PLACE


@jit(inline=True, part=True, norefs=True)
def cost_before(pieces: Layout, k: int, by: int, start: int, codes: Bytes) -> Any:
    """Return the additional cost of the piece before if its end moves by `by` bases."""
    if by <= 0:
        return 0
    own = anchor_of(pieces, k - 1)
    if own < 0:
        return OF_LETTER * by
    n = pieces.end[k - 1] - pieces.begin[k - 1]
    behind = own + 2 * n * (1 - 2 * (own & 1))
    begin = start + pieces.begin[k]
    return OF_MISMATCH * count_wrong(pieces.consensus, codes, begin, by, behind, by)


@jit(inline=True, part=True, norefs=True)
def count_wrong(consensus: Bytes, codes: Bytes, begin: int, n: int, anchor: int, most: int) -> Any:
    """Return how many of n bases differ from the consensus at an anchor.

    Counting stops above `most`. The result is BEYOND if the bases are not within the consensus.
    """
    strand, column = anchor & 1, (anchor >> 1) - (anchor & 1)
    step, wrong = 1 - 2 * strand, 0
    if column < 0 or column >= consensus.size:
        return BEYOND
    last = column + step * (n - 1)
    if last < 0 or last >= consensus.size:
        return BEYOND
    for i in range(n):
        code = codes[begin + i]
        base = consensus[column + step * i]
        wrong += code != NOT_A_BASE and code != (3 - base if strand else base)
        if wrong > most:
            break
    return wrong


@jit(inline=True, part=True, norefs=True)
def move(pieces: Layout, k: int, by: int, anchor: int) -> None:
    """Move the cut before a piece by `by` bases, and the piece to an anchor."""
    if pieces.strand[k - 1]:
        pieces.position[k - 1] -= by
    pieces.end[k - 1] += by
    pieces.begin[k] += by
    pieces.is_mapped[k] = True
    pieces.strand[k] = anchor & 1
    n = pieces.end[k] - pieces.begin[k]
    pieces.position[k] = (anchor >> 1) - n * (anchor & 1)
