"""A contig while it grows: votes for its columns, and how well a piece of the text fits it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.numba.bits import load_be64, trailing_zeros
from gangsaw.codecs.core.numba.floats import load_le64
from gangsaw.codecs.core.numba.jit import jit_norefs_inline
from gangsaw.codecs.reads.lines import Places

PAD = 8  # bytes around letters and bases: words are read beyond an end
GONE = 255  # no letter of a line, or of a piece that is placed
MOST_LETTERS = 1 << 20  # of a piece
MOST_COLUMNS = 1 << 22
IDLE = 256  # letters that may follow the best place to cut
MOST_VOTES = 65535
LEFT, RIGHT = 0, 1  # of `edges`
THREES = np.uint64(0x0303030303030303)
HIGHS = np.uint64(0x8080808080808080)


class Gains(NamedTuple):
    """What pieces of a contig save beside literals, in tenths of a bit.

    Attributes
    ----------
    match : of a letter that is equal
    mismatch : lost by one that is not
    clip : lost by a cut
    accept : that a piece must save
    give_up : below the best where no better place to cut is looked for
    whole_first : whether a contig first takes whole pieces only
    """

    match: int
    mismatch: int
    clip: int
    accept: int
    give_up: int
    whole_first: bool


class Contig(NamedTuple):
    """Columns of a contig.

    Attributes
    ----------
    votes : (n,) uint64, letters in each column: 16 bits for each of the four
    bases : (n + 2 PAD,) uint8, the letter with most votes
    groups : (n,) uint32, 0, or 1 more than twice the group of a k-mer that begins in a column,
        and 1 more where the group's hash is that of the reverse complement
    edges : (2,) int64, first column, and the one behind the last
    """

    votes: npt.NDArray[np.uint64]
    bases: npt.NDArray[np.uint8]
    groups: npt.NDArray[np.uint32]
    edges: Places


def empty_contig(letters: int) -> Contig:
    """Return the columns of contigs that have so many letters at most."""
    n = min(MOST_COLUMNS, 2 * letters + 2)
    bases = np.zeros(n + 2 * PAD, np.uint8)
    groups = np.zeros(n, np.uint32)
    return Contig(np.zeros(n, np.uint64), bases, groups, np.zeros(2, np.int64))


@jit_norefs_inline
def vote(contig: Contig, letters: Any, at: Any, step: Any, begin: Any, end: Any) -> None:
    """Add letters from the text to columns [begin, end); a base wins with strictly more votes.

    `at` is the place of the first one in `letters`; the strand is the reverse one where `step`
    is -1. The letters are GONE afterwards.
    """
    flip = 3 if step < 0 else 0
    for column in range(begin, end):
        code = letters[at]
        letters[at] = GONE
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


@jit_norefs_inline
def votes_of(votes: Any, code: Any) -> Any:
    """Return the votes for a base."""
    return votes >> np.uint64(16 * code) & np.uint64(MOST_VOTES)


@jit_norefs_inline
def score(
    gains: Gains,
    contig: Contig,
    letters: Any,
    at: Any,
    step: Any,
    column: Any,
    way: Any,
    most: Any,
) -> tuple[Any, Any, Any]:
    """Compare letters from place `at` on with columns from `column` on, `most` at most.

    Parameters
    ----------
    step : 1 or -1, how places go with columns
    way : 1 or -1, how columns go

    Returns
    -------
    gain : of the best place to cut
    n : letters before that
    is_whole : whether that is no cut, but where the contig or the piece ends
    """
    gain, best, n, i = 0, 0, 0, 0
    flip = THREES if step < 0 else np.uint64(0)
    while i < most and i - n <= IDLE:
        text = word(letters, at + step * way * i, step * way) ^ flip
        differ = text ^ word(contig.bases, PAD + column + way * i, way)
        equal = min(most - i, trailing_zeros(differ) >> 3 if differ else 8)
        i += equal
        gain += equal * gains.match
        if gain > best:
            best, n = gain, i
        if equal < 8 and i < most:
            letter = letters[at + step * way * i]
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


@jit_norefs_inline
def word(octets: Any, at: Any, way: Any) -> Any:
    """Return eight bytes from a place on, upwards or downwards, the first one lowest."""
    return load_le64(octets, at) if way > 0 else load_be64(octets, at - 7)


@jit_norefs_inline
def run(letters: Any, at: Any, way: Any, most: Any) -> Any:
    """Return how many letters from a place on are not GONE, `most` at most."""
    n = 0
    while n < most:
        high = word(letters, at + way * n, way) & HIGHS
        if high:
            return min(most, n + (trailing_zeros(high) >> 3))
        n += 8
    return most
