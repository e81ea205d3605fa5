"""Edit distance (Levenshtein, 1966) of pairs of sequences, by bit vectors."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple, cast, overload

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.parameters import require_choice
from gangsaw.tasks.align.edits import batch, long
from gangsaw.tasks.align.edits.corridor import steps_in_corridor
from gangsaw.tasks.align.edits.steps import DELETE, INSERT, steps_back
from gangsaw.tasks.align.edits.tiles import WORD
from gangsaw.tasks.align.sets.alignments import texts_of_steps
from gangsaw.tasks.align.sets.arrays import Labelled, Lazy, are_arrays, over_pairs
from gangsaw.tasks.align.sets.pairs import Codes, Given, Places, pairs_of

# whether bases of the target before and behind the query cost nothing
FREE = {"global": (False, False), "infix": (True, True), "prefix": (False, True)}
CORRIDOR = 1 << 15  # bases of a pair: of shorter ones the first bands are done sooner
PATH_CORRIDOR = 1 << 13  # bands are filled twice for it
MOST_TILES = 1 << 24  # whose borders take 512 MB
LONG = 16 * WORD  # bases of a query: from here on tiles of one pair fill the lanes


@overload
def edit_distance(queries: Given, targets: Given, mode: str = "global") -> Places: ...  # type: ignore[overload-overlap]
@overload
def edit_distance(  # type: ignore[overload-overlap]
    queries: Labelled | Given, targets: Labelled | Given, mode: str = "global"
) -> Labelled: ...
@overload
def edit_distance(queries: Lazy | Given, targets: Lazy | Given, mode: str = "global") -> Lazy: ...
def edit_distance(queries: object, targets: object, mode: str = "global") -> object:
    """Return the least number of substitutions, insertions and deletions, pair by pair.

    Parameters
    ----------
    queries, targets : n texts each, or codes and offsets (`SequenceSet`); letters other than ACGT
        in either case match nothing, themselves neither. Or arrays of texts, of NumPy, Dask or
        xarray, which are broadcast
    mode : "global", the whole of both; "infix", the query and that part of the target that is
        nearest to it (edlib's HW); "prefix", the query and the nearest beginning of the target
        (edlib's SHW)

    Returns
    -------
    (n,) int64; of arrays one of their shape, which is lazy where one of them is

    Raises
    ------
    BadParams : an unknown mode; other sequences than these; more of the ones than of the others

    Sources
    -------
    Myers (1999), "A fast bit-vector algorithm for approximate string matching based on dynamic
    programming"; Hyyro (2003), of global distances; Ukkonen (1985), of bands.
    """
    require_choice("mode", mode, tuple(FREE))
    if are_arrays(queries, targets):
        return over_pairs(partial(_distances, mode=mode), queries, targets, np.dtype(np.int64))
    return _distances(cast("Given", queries), cast("Given", targets), mode)


def _distances(queries: Given, targets: Given, mode: str) -> Places:
    pairs = pairs_of(queries, targets)
    rows, columns = pairs.query_lengths, pairs.target_lengths
    # where one is empty, only what is left of the other costs
    out = rows.copy() if FREE[mode][1] else np.maximum(rows, columns)
    empty = (rows == 0) | (columns == 0)
    short = np.flatnonzero(~empty & (rows <= LONG))
    words = -(-rows[short] // WORD)
    order = short[np.lexsort((columns[short], words))]
    batch.distances(pairs, order, FREE[mode], out)
    for i in np.flatnonzero(~empty & (rows > LONG)):
        query, target = (of.codes[of.offsets[i] : of.offsets[i + 1]] for of in pairs)
        out[i] = _long(query, target, FREE[mode])
    return out


def _long(query: Codes, target: Codes, free: tuple[bool, bool]) -> int:
    if free == FREE["global"] and (made := _by_corridor(query, target, CORRIDOR)):
        return made[0]
    if free[0]:
        return long.filled(query, target, long.whole(query.size, target.size, free)).distance
    return long.in_bands(query, target, free).distance


def _by_corridor(query: Codes, target: Codes, least: int) -> tuple[int, Codes] | None:
    return steps_in_corridor(query, target) if max(query.size, target.size) >= least else None


class EditPaths(NamedTuple):
    """Distances of pairs, and how they come about.

    Attributes
    ----------
    distance : (n,) int64
    cigar : n texts of steps "=" (equal bases), "X" (others), "I" (bases of the query alone) and
        "D" (bases of the target alone), "" for two empty sequences
    """

    distance: Places
    cigar: list[str]


def edit_paths(queries: Given, targets: Given) -> EditPaths:
    """Return the edit distance of each query and its target from end to end, and its CIGAR.

    On the way back from the end equal bases come before a deletion, this before an insertion, this
    before other bases.

    Parameters
    ----------
    queries, targets : as `edit_distance` takes them, but for arrays of texts

    Raises
    ------
    BadParams : these are no sequences, not as many of both, or a pair whose borders do not fit
    """
    pairs = pairs_of(queries, targets)
    rows, columns = pairs.query_lengths, pairs.target_lengths
    distance, steps = np.maximum(rows, columns), []
    for i in range(rows.size):
        query, target = (of.codes[of.offsets[i] : of.offsets[i + 1]] for of in pairs)
        if rows[i] and columns[i]:
            found = _by_corridor(query, target, PATH_CORRIDOR) or _by_bands(query, target, i)
            distance[i], of_pair = found
        else:
            of_pair = np.full(distance[i], DELETE if columns[i] else INSERT, np.uint8)
        steps.append(of_pair)
    ends = np.cumsum([of_pair.size for of_pair in steps], dtype=np.int64)
    return EditPaths(distance, texts_of_steps(np.concatenate(steps), ends) if steps else [])


def _by_bands(query: Codes, target: Codes, pair: int) -> tuple[int, Codes]:
    found = long.in_bands(query, target, FREE["global"])
    if found.area.tiles > MOST_TILES:
        raise BadParams(
            f"pair {pair}: a path of {found.distance} edits in so long sequences takes too much "
            "memory: give parts of them, or ask for the distance alone"
        )
    found = long.filled(query, target, found.area, has_borders=True)
    steps = steps_back(query, target, found)
    assert steps is not None  # a band that holds the distance holds all its paths
    return found.distance, steps
