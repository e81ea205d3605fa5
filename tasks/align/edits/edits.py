"""Edit distance (Levenshtein, 1966) of pairs of sequences, by bit vectors."""

from __future__ import annotations

from functools import partial
from typing import cast, overload

import numpy as np

from gangsaw.codecs.core.parameters import require_choice
from gangsaw.tasks.align.edits import batch, long
from gangsaw.tasks.align.edits.tiles import WORD
from gangsaw.tasks.align.sets.arrays import Labelled, Lazy, are_arrays, over_pairs
from gangsaw.tasks.align.sets.pairs import Given, Places, pairs_of

# whether bases of the target before and behind the query cost nothing
FREE = {"global": (False, False), "infix": (True, True), "prefix": (False, True)}
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
        out[i] = long.distance(query, target, FREE[mode])
    return out
