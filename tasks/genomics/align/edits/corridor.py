"""Open area around the chain of a long pair, with the cost of seeds outside it.

Ivanov, Bichsel and Vechev (2022) and Groot Koerkamp and Ivanov (2024) bound a distance from below
by seeds without an equal. Here they bound only paths outside the area, where random bases have few
equals: so the proof needs a band narrower than the distance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gangsaw.codecs.core.arrays import Bytes, Int32s, Int64s, UInt64s
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.genomics.align.edits.area import Area, area_of
from gangsaw.tasks.genomics.align.edits.chain import BASES, chain
from gangsaw.tasks.genomics.align.edits.long import LANES, fill_area
from gangsaw.tasks.genomics.align.edits.steps import steps_back
from gangsaw.tasks.genomics.align.edits.tiles import WORD
from gangsaw.tasks.genomics.align.sets.pairs import Codes, Places

MOST = 0.14  # edits per base: with more, random bases cost hardly more than the best path
SPARE = 1.05  # factor of the edits that the chain estimates
LEAST = 256  # edits added to the estimate
LONG_GAP = 32  # bases: the share of common k-mers accounts for shorter gaps
HALVES = 64 * LANES - 96, 256 * LANES  # columns on either side: the first value fills the lanes
SEEDS = (8, 9, 10, 11)  # bases of a seed: with 11 its table has 16 MB


def steps_in_corridor(query: Codes, target: Codes) -> tuple[int, Codes] | None:
    """Return edit distance and traceback of a whole pair, from tiles near its chain of k-mers.

    The result is None without a chain, and if paths outside these tiles may be better.
    """
    if (way := corridor(query, target)) is None:
        return None
    for half in HALVES:
        found = fill_area(query, target, open_area(query, target, way, half), has_borders=True)
        if found.distance > way.edits:
            way = way._replace(edits=2 * found.distance)
        elif (steps := steps_back(query, target, found)) is not None:
            return found.distance, steps
    return None


class Corridor(NamedTuple):
    """Path through the matrix of a pair that an alignment probably follows.

    Attributes
    ----------
    columns : (words of the query + 1,) int64, column of the path at the beginning of each row of
        tiles, and at the end
    edits : estimate that the distance probably does not exceed
    """

    columns: Places
    edits: int


def corridor(query: Codes, target: Codes) -> Corridor | None:
    """Return the path along the chain of shared k-mers, or None if too few k-mers are shared."""
    m, n = query.size, target.size
    rows, columns, share = chain(query, target)
    edits_a_base = 1 - share ** (1 / BASES)
    if edits_a_base > MOST:
        return None
    rows, columns = np.append(rows, m), np.append(columns, n)
    rows, columns = np.insert(rows, 0, 0), np.insert(columns, 0, 0)
    moved = np.abs(np.diff(columns - rows))
    gaps = int(moved[moved > LONG_GAP].sum())
    starts = np.arange(-(-m // WORD) + 1) * WORD - -m % WORD
    at = np.interp(starts, rows, columns).astype(np.int64)
    return Corridor(at, int(SPARE * edits_a_base * max(m, n)) + gaps + LEAST)


def open_area(query: Codes, target: Codes, way: Corridor, half: int) -> Area:
    """Return the tiles within `half` columns of a path, with masks of the seeds without an equal.

    These seeds cost paths outside the area at least one edit each.
    """
    m, n, last = query.size, target.size, (target.size - 1) // WORD
    lows = np.clip((way.columns[:-1] - half) // WORD, 0, last)
    highs = np.clip((way.columns[1:] + half) // WORD, 0, last)
    lows[0] = 0  # all paths begin there, even if much of the target precedes the chain
    area = area_of(lows, highs, last + 1)._replace(is_open=1)
    # a path of so many edits leaves the main diagonal at most so far (Ukkonen, 1985)
    far = (way.edits + abs(n - m)) // 2
    k = max(SEEDS, key=lambda k: WORD // k * np.exp(-far / 4.0**k))
    table, seeds = np.empty(4**k, np.int32), (k, far)
    mark_seeds(Side(query, target, -(-m % WORD), 0), area.low * WORD, seeds, table, area.left)
    ends = area.top * WORD - -m % WORD
    mark_seeds(Side(target, query, 0, WORD - 1), ends, seeds, table, area.above)
    return area


class Side(NamedTuple):
    """Sequence with seeds, and the one where their equals are searched: on one side of an area.

    Query seeds are searched in the target to the left, target seeds in the query above.

    Attributes
    ----------
    seeds, bases : (bases,) uint8, sequence with the seeds, and sequence that is searched
    start : position of the first word of 64 bases
    first : bit of a word's first base: 0, or 63 if it is the highest
    """

    seeds: Codes
    bases: Codes
    start: int
    first: int


@jit
def mark_seeds(
    side: Side, ends: Int64s, seeds: tuple[int, int], table: Int32s, marks: UInt64s
) -> None:
    """Set a bit for the last base of each seed without an equal in its searched range.

    Parameters
    ----------
    ends : (words,) int64, ascending, end of the searched range for each 64 seeds' bases
    seeds : bases of a seed, and the largest distance of an equal from its diagonal
    table : (4 ** bases,) int32 scratch
    marks : (words,) uint64
    """
    k, far = seeds
    mask, nowhere = (1 << 2 * k) - 1, -(1 << 30)
    for i in range(table.size):
        table[i] = nowhere
    kmer, good, j = 0, 0, 0
    for w in range(ends.size):
        while j < ends[w]:
            kmer = ((kmer << 2) | (side.bases[j] & 3)) & mask
            good = good + 1 if side.bases[j] < 4 else 0
            j += 1
            if good >= k:
                table[kmer] = j - k
        begin = side.start + w * WORD
        for at in range(begin, min(begin + WORD, side.seeds.size) - k + 1, k):
            if at >= 0 and not _is_there(side.seeds, at, k, table, at - far):
                marks[w] |= np.uint64(1) << np.uint64(abs(side.first - (at + k - 1 - begin)))


@jit(part=True)
def _is_there(bases: Bytes, at: int, k: int, table: Int32s, least: int) -> bool:
    kmer, good = 0, 0
    for i in range(k):
        kmer = (kmer << 2) | (bases[at + i] & 3)
        good += bases[at + i] < 4
    return good == k and table[kmer] >= least
