"""Edit distance (Levenshtein, 1966) of pairs of sequences, by bit vectors."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple, cast, overload

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.parameters import require_choice
from gangsaw.tasks.genomics.align.edits import batch, long
from gangsaw.tasks.genomics.align.edits.corridor import steps_in_corridor
from gangsaw.tasks.genomics.align.edits.steps import DELETE, INSERT, steps_back
from gangsaw.tasks.genomics.align.edits.tiles import WORD
from gangsaw.tasks.genomics.align.sets.alignments import texts_of_steps
from gangsaw.tasks.genomics.align.sets.arrays import Labelled, Lazy, is_any_array, over_pairs
from gangsaw.tasks.genomics.align.sets.pairs import Codes, Places, SequenceInput, pair_sequences

# two flags by mode: bases of the target before and behind the query cost nothing
FREE = {"global": (False, False), "infix": (True, True), "prefix": (False, True)}
CORRIDOR = 1 << 15  # bases of a pair: for shorter ones bands take less time
PATH_CORRIDOR = 1 << 13  # the same for paths, for which bands are computed twice
MOST_TILES = 1 << 24  # tiles in memory: their borders take 512 MB
LONG = 16 * WORD  # bases of a query: from here on the tiles of one pair fill the lanes


@overload
def edit_distance(  # type: ignore[overload-overlap]
    queries: SequenceInput, targets: SequenceInput, mode: str = "global"
) -> Places: ...
@overload
def edit_distance(  # type: ignore[overload-overlap]
    queries: Labelled | SequenceInput, targets: Labelled | SequenceInput, mode: str = "global"
) -> Labelled: ...
@overload
def edit_distance(
    queries: Lazy | SequenceInput, targets: Lazy | SequenceInput, mode: str = "global"
) -> Lazy: ...
def edit_distance(queries: object, targets: object, mode: str = "global") -> object:
    """Return the least number of substitutions, insertions and deletions, pair by pair.

    Distances are computed by bit vectors [1]_ [2]_ in bands [3]_.

    Parameters
    ----------
    queries, targets : list of str, `SequenceSet` or arrays of str
        Sequences, n each: strings, bytes, or codes and offsets (`SequenceSet`). Bases other than
        ACGT match nothing, not even themselves; case is ignored. String arrays of NumPy, Dask or
        xarray are broadcast.
    mode : {"global", "infix", "prefix"}, default "global"
        "global" aligns the whole of both. "infix" aligns the query with the nearest part of the
        target (edlib's HW), "prefix" with the nearest prefix of the target (edlib's SHW).

    Returns
    -------
    (n,) int64
        Distances; for arrays an array of their shape, lazy if one of them is lazy.

    Raises
    ------
    BadParams
        The mode is unknown, the arguments are no sequences, or they differ in number.

    See Also
    --------
    edit_paths : Return CIGARs, too.

    References
    ----------
    .. [1] G. Myers, "A fast bit-vector algorithm for approximate string matching based on dynamic
       programming", Journal of the ACM 46(3), 395-415, 1999.
    .. [2] H. Hyyro, "A bit-vector algorithm for computing Levenshtein and Damerau edit distances",
       Nordic Journal of Computing 10, 29-39, 2003: for global distances.
    .. [3] E. Ukkonen, "Algorithms for approximate string matching", Information and Control 64,
       100-118, 1985.

    Examples
    --------
    >>> from gangsaw.align import edit_distance
    >>> edit_distance(["GATTACA", "ACGT"], ["GATACA", "TTACGTTT"]).tolist()
    [1, 4]
    >>> edit_distance(["ACGT"], ["TTACGTTT"], "infix").tolist()
    [0]
    """
    require_choice("mode", mode, tuple(FREE))
    if is_any_array(queries, targets):
        return over_pairs(partial(_distances, mode=mode), queries, targets, np.dtype(np.int64))
    return _distances(cast("SequenceInput", queries), cast("SequenceInput", targets), mode)


def _distances(queries: SequenceInput, targets: SequenceInput, mode: str) -> Places:
    pairs = pair_sequences(queries, targets)
    rows, columns = (of.lengths for of in pairs)
    # if one is empty, only the length of the other counts
    out = rows.copy() if FREE[mode][1] else np.maximum(rows, columns)
    empty = (rows == 0) | (columns == 0)
    short = np.flatnonzero(~empty & (rows <= LONG))
    words = -(-rows[short] // WORD)
    order = short[np.lexsort((columns[short], words))]
    batch.distances(pairs, order, FREE[mode], out)
    for i in np.flatnonzero(~empty & (rows > LONG)).tolist():
        query, target = (of[i] for of in pairs)
        out[i] = _long(query, target, FREE[mode])
    return out


def _long(query: Codes, target: Codes, free: tuple[bool, bool]) -> int:
    if free == FREE["global"] and (made := _by_corridor(query, target, CORRIDOR)):
        return made[0]
    if free[0]:
        return long.fill_area(
            query, target, long.whole_area(query.size, target.size, free)
        ).distance
    return long.in_bands(query, target, free).distance


def _by_corridor(query: Codes, target: Codes, least: int) -> tuple[int, Codes] | None:
    return steps_in_corridor(query, target) if max(query.size, target.size) >= least else None


class EditPaths(NamedTuple):
    """Edit distances of pairs, with their alignments.

    Attributes
    ----------
    distance : (n,) int64
    cigar : n CIGARs of "=" (equal bases), "X" (different bases), "I" (bases of the query alone) and
        "D" (bases of the target alone); "" for two empty sequences
    """

    distance: Places
    cigar: list[str]


def edit_paths(queries: SequenceInput, targets: SequenceInput) -> EditPaths:
    """Return the global edit distance of each query and its target, and its CIGAR.

    The traceback starts at the end. It prefers equal bases, then a deletion, then an insertion,
    then different bases.

    Parameters
    ----------
    queries, targets : list of str or `SequenceSet`
        As for `edit_distance`, except string arrays.

    Returns
    -------
    `EditPaths`
        Distances, (n,) int64, and n CIGARs.

    Raises
    ------
    BadParams
        The arguments are no sequences, differ in number, or need too much memory.

    See Also
    --------
    edit_distance : Return distances alone.

    Examples
    --------
    >>> from gangsaw.align import edit_paths
    >>> found = edit_paths(["GATTACA"], ["GATACA"])
    >>> found.distance.tolist(), found.cigar
    ([1], ['2=1I4='])
    """
    pairs = pair_sequences(queries, targets)
    rows, columns = (of.lengths for of in pairs)
    distance, steps = np.maximum(rows, columns), []
    for i in range(rows.size):
        query, target = (of[i] for of in pairs)
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
            f"pair {pair}: a path of {found.distance} edits in sequences of this length needs too "
            "much memory: align parts of them, or request only the distance"
        )
    found = long.fill_area(query, target, found.area, has_borders=True)
    steps = steps_back(query, target, found)
    assert steps is not None  # a band that covers the distance covers all its paths
    return found.distance, steps
