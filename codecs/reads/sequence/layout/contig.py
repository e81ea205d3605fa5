"""Growing contig: votes for its columns, and scores of pieces of the text against it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes, Int64, Int64s
from gangsaw.codecs.core.numba.bits import load_be64, trailing_zeros
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.words import load_le64

PAD = 8  # bytes around texts and bases: words are read beyond an end
GONE = 255  # no base of a line, or one of a piece that is placed
MOST_BASES = 1 << 20  # of a piece
MOST_COLUMNS = 1 << 22
IDLE = 256  # bases after the best cut that are examined for a better one
MOST_VOTES = 65535
LEFT, RIGHT = 0, 1  # indices of `edges`
THREES = np.uint64(0x0303030303030303)
HIGHS = np.uint64(0x8080808080808080)


class Gains(NamedTuple):
    """Bits that pieces of a contig save against literals, in tenths of a bit.

    Attributes
    ----------
    match : gain of an equal base
    mismatch : loss of a different base
    clip : loss of a cut
    accept : least gain of a piece
    give_up : distance below the best gain at which the search for a better cut ends
    whole_first : True if a contig first accepts whole pieces only
    """

    match: int
    mismatch: int
    clip: int
    accept: int
    give_up: int
    whole_first: bool


class Contig(NamedTuple):
    """Columns of the growing contig, a run of overlapping reads.

    Attributes
    ----------
    votes : (n,) uint64, bases in each column: 16 bits for each of the four
    bases : (n + 2 PAD,) uint8, the base with most votes
    groups : (n,) uint32, 0, or 1 more than twice the group of a k-mer that begins in a column,
        and 1 more where the group's hash is that of the reverse complement
    edges : (2,) int64, first column in use, and the one after the last
    """

    votes: npt.NDArray[np.uint64]
    bases: npt.NDArray[np.uint8]
    groups: npt.NDArray[np.uint32]
    edges: Int64s


def empty_contig(n_bases: int) -> Contig:
    """Return empty columns for contigs of at most `n_bases` bases."""
    n = min(MOST_COLUMNS, 2 * n_bases + 2)
    bases = np.zeros(n + 2 * PAD, np.uint8)
    groups = np.zeros(n, np.uint32)
    return Contig(np.zeros(n, np.uint64), bases, groups, np.zeros(2, np.int64))


@jit(inline=True, part=True, norefs=True)
def add_votes(
    contig: Contig, free_codes: Bytes, at: Int64, step: Int64, begin: Int64, end: Int64
) -> None:
    """Add bases of the text to columns [begin, end); a base wins with strictly more votes.

    `at` is the index of the first base in `free_codes`, where all of them are set to GONE. If
    `step` is -1, the reverse complement is added.
    """
    flip = 3 if step < 0 else 0
    for column in range(begin, end):
        code = free_codes[at]
        free_codes[at] = GONE
        at += step
        if code < 4:
            code ^= flip
            votes = contig.votes[column]
            own = votes_of(votes, code)
            if own < MOST_VOTES:
                contig.votes[column] = votes + (np.uint64(1) << np.uint64(16 * code))
                if own >= votes_of(votes, contig.bases[PAD + column]):
                    contig.bases[PAD + column] = code
    contig.edges[LEFT] = min(contig.edges[LEFT], begin)
    contig.edges[RIGHT] = max(contig.edges[RIGHT], end)


@jit(inline=True, part=True, norefs=True)
def votes_of(votes: np.uint64, code: int) -> Any:
    """Return the number of votes for a base in the packed votes of a column."""
    return votes >> np.uint64(16 * code) & np.uint64(MOST_VOTES)


@jit(inline=True, part=True, norefs=True)
def score(
    gains: Gains,
    contig: Contig,
    free_codes: Bytes,
    at: Int64,
    step: Int64,
    column: Int64,
    way: int,
    most: Int64,
) -> tuple[Any, Any, Any]:
    """Compare bases of the text with columns, and find the cut with the highest gain.

    It begins at index `at` of the text and at `column`, and compares at most `most` bases.

    Parameters
    ----------
    step : 1 or -1, direction of the text relative to columns
    way : 1 or -1, direction of the columns

    Returns
    -------
    gain : gain of the best cut
    n : bases before the cut
    is_whole : True if it is no cut, but the end of the contig or of the piece
    """
    gain, best, n, i = 0, 0, 0, 0
    flip = THREES if step < 0 else np.uint64(0)
    while i < most and i - n <= IDLE:
        text = load_word(free_codes, at + step * way * i, step * way) ^ flip
        differ = text ^ load_word(contig.bases, PAD + column + way * i, way)
        equal: Any = min(most - i, trailing_zeros(differ) >> 3 if differ else 8)
        i += equal
        gain += equal * gains.match
        if gain > best:
            best, n = gain, i
        if equal < 8 and i < most:
            letter = free_codes[at + step * way * i]
            if letter == GONE:
                most = i
                break
            gain -= gains.mismatch if letter < 4 else 0
            i += 1
            if gain < best - gains.give_up:
                return best, n, False
    if i >= most and gain + gains.clip >= best:
        return gain, most, True
    return best, n, False


@jit(inline=True, part=True, norefs=True)
def load_word(data: Bytes, at: Int64, way: Int64) -> Any:
    """Return eight bytes from an index on, upwards or downwards, the first one lowest."""
    return load_le64(data, at) if way > 0 else load_be64(data, at - 7)


@jit(inline=True, part=True, norefs=True)
def count_present_bases(free_codes: Bytes, at: Int64, way: Int64, most: int) -> Any:
    """Return the number of bases from index `at` on that are not GONE, at most `most`."""
    n = 0
    while n < most:
        high = load_word(free_codes, at + way * n, way) & HIGHS
        if high:
            return min(most, n + (trailing_zeros(high) >> 3))
        n += 8
    return most
