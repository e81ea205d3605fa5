"""Alignments of Satyanvesh, Kaliuday and Baruah (2015) on packed bases.

"High Performance Implementation for Aligning Compressed DNA Sequences" does not define the value of
a pair of 4-mers: Match(AGCT, AGCG) is 3 in one place, and in another a mismatch costs 1. Reading
"A" is the number of equal bases, "B" that minus the number of unequal ones.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast, overload

import numpy as np

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.parameters import require_choice, require_int
from gangsaw.tasks.formats.python_objects.elementwise import apply_to_items, is_labelled, is_lazy
from gangsaw.tasks.genomics.align.packed import with_gaps, without_gaps
from gangsaw.tasks.genomics.align.packed.bases import PackedBases, PackedInput, packed_of
from gangsaw.tasks.genomics.align.packed.without_gaps import FOUND, LEAST_BRINK, Bases
from gangsaw.tasks.genomics.align.sets.alignments import Alignments
from gangsaw.tasks.genomics.align.sets.arrays import (
    Labelled,
    Lazy,
    alignments_of,
    as_records,
    is_any_array,
    over_pairs,
    record_dtype,
)
from gangsaw.tasks.genomics.align.sets.pairs import Places

if TYPE_CHECKING:
    import xarray as xr

READINGS = ("A", "B")
LARGEST = 1 << 30  # bases of a sequence: scores and positions fit 32 bits
MOST_GAP = 100  # largest cost of opening a gap, and of a base of it
Seeds = tuple[Places, Places]


@overload
def ungapped(
    query: PackedInput,
    target: PackedInput,
    seeds: Seeds | tuple[Lazy, Lazy],
    brink: int = 20,
    reading: str = "B",
) -> Alignments: ...
@overload
def ungapped(
    query: PackedInput,
    target: PackedInput,
    seeds: tuple[Labelled, Labelled],
    brink: int = 20,
    reading: str = "B",
) -> xr.Dataset: ...
def ungapped(
    query: PackedInput,
    target: PackedInput,
    seeds: tuple[object, object],
    brink: int = 20,
    reading: str = "B",
) -> object:
    """Extend each seed without gaps in both directions, until the score falls by `brink`.

    Sequences are compared in 4-mers, one byte each [1]_.

    Parameters
    ----------
    query, target : str, bytes or packed bases
        Sequences of at most 2^30 bases.
    seeds : tuple of (n,) integers
        Positions in the query and in the target. 4-mers are read forwards from there, and backwards
        from there. Positions need not begin a byte. Bases beyond the last whole 4-mer are ignored.
        Arrays of Dask or xarray give lazy or labelled results, as in `smith_waterman`.
    brink : int, default 20
        Fall of the score that ends an extension, 8 or more; smaller values count as 8.
    reading : {"B", "A"}, default "B"
        "B" scores a pair of 4-mers by 2 * equal bases - 4, "A" by the number of equal bases.

    Returns
    -------
    Alignments
        Hits, n of them, without CIGAR: the sum of the highest scores in both directions, and their
        positions.

    Raises
    ------
    BadParams
        A seed is outside a sequence, or a parameter outside its range.

    See Also
    --------
    gapped : Align with gaps.

    References
    ----------
    .. [1] Satyanvesh, Kaliuday and Baruah, "High Performance Implementation for Aligning Compressed
       DNA Sequences", 2015.

    Examples
    --------
    >>> from gangsaw.align import ungapped
    >>> hits = ungapped("GATTACAGATTACAGA", "GATTACAGATTACAGA", ([4], [4]))
    >>> hits.score.tolist(), hits.query_start.tolist(), hits.query_end.tolist()
    ([16], [0], [16])
    """
    require_choice("reading", reading, READINGS)
    require_int("brink", brink, 0, LARGEST)
    ours, theirs = packed_of(query, "query"), packed_of(target, "target")
    if len(seeds) == 2 and any(is_labelled(places) or is_lazy(places) for places in seeds):
        dtype = record_dtype()
        function = partial(_hits, ours, theirs, brink, reading, dtype)
        return alignments_of(apply_to_items(function, *seeds, dtype=dtype))
    return _extended(ours, theirs, cast("Seeds", seeds), brink, reading)


def _hits(
    ours: PackedBases, theirs: PackedBases, brink: int, reading: str, dtype: Dtype, *seeds: Places
) -> NumpyArray:
    shape = np.broadcast_shapes(*(places.shape for places in seeds))
    query_seeds, target_seeds = (np.broadcast_to(places, shape).ravel() for places in seeds)
    found = _extended(ours, theirs, (query_seeds, target_seeds), brink, reading)
    return as_records(found, dtype).reshape(shape)


def _extended(
    ours: PackedBases, theirs: PackedBases, seeds: Seeds, brink: int, reading: str
) -> Alignments:
    places = _check_seeds(seeds, (ours.bases, theirs.bases))
    bases = Bases(
        ours.data,
        theirs.data,
        ours.bases,
        theirs.bases,
        max(brink, LEAST_BRINK),
        int(reading == "B"),
    )
    found = np.empty((len(places), FOUND), np.int64)
    without_gaps.extend(bases, places, found)
    score, ahead, back = found.T
    at, target_at = places.T
    return Alignments(
        score.astype(np.int32), at - back, at + ahead, target_at - back, target_at + ahead
    )


@overload
def gapped(  # type: ignore[overload-overlap]
    query: PackedInput,
    target: PackedInput,
    reading: str = "B",
    local: bool = True,
    gap_open: int = 2,
    gap_extend: int = 1,
) -> int: ...
@overload
def gapped(  # type: ignore[overload-overlap]
    query: Labelled | str,
    target: Labelled | str,
    reading: str = "B",
    local: bool = True,
    gap_open: int = 2,
    gap_extend: int = 1,
) -> Labelled: ...
@overload
def gapped(
    query: Lazy | str,
    target: Lazy | str,
    reading: str = "B",
    local: bool = True,
    gap_open: int = 2,
    gap_extend: int = 1,
) -> Lazy: ...
def gapped(
    query: object,
    target: object,
    reading: str = "B",
    local: bool = True,
    gap_open: int = 2,
    gap_extend: int = 1,
) -> object:
    """Return the best score of an alignment with gaps, computed on 4-mers of packed bases.

    Gaps in the target have lengths of 4, 8, ... bases, those in the query any length [1]_. The
    target's bases beyond the last whole 4-mer are ignored.

    Parameters
    ----------
    query, target : str, bytes, packed bases or arrays of str
        Sequences of at most 2^30 bases. String arrays of NumPy, Dask or xarray are broadcast.
    reading : {"B", "A"}, default "B"
        As for `ungapped`.
    local : bool, default True
        True if an alignment may begin anywhere, else at the beginning of query or target.
    gap_open, gap_extend : int, default 2 and 1
        Costs, 0..100 each: a gap of k bases costs gap_open + k * gap_extend.

    Returns
    -------
    int or int64 array
        Score; for string arrays an array of scores.

    Raises
    ------
    BadParams
        A parameter is outside its range.

    See Also
    --------
    ungapped : Extend seeds without gaps.

    References
    ----------
    .. [1] Satyanvesh, Kaliuday and Baruah, "High Performance Implementation for Aligning Compressed
       DNA Sequences", 2015.

    Examples
    --------
    >>> from gangsaw.align import gapped
    >>> int(gapped("GATTACAGATTACA", "GATTACAGATTACATT"))
    12
    """
    require_choice("reading", reading, READINGS)
    require_int("gap_open", gap_open, 0, MOST_GAP)
    require_int("gap_extend", gap_extend, 0, MOST_GAP)
    costs = with_gaps.GapCosts(gap_open, gap_extend, READINGS.index(reading) + 1, int(local))
    if is_any_array(query, target):
        return over_pairs(partial(_scores, costs=costs), query, target, np.dtype(np.int64))
    return _score(cast("PackedInput", query), cast("PackedInput", target), costs)


def _scores(queries: list[str], targets: list[str], costs: with_gaps.GapCosts) -> Places:
    pairs = zip(queries, targets, strict=True)
    return np.array([_score(query, target, costs) for query, target in pairs], np.int64)


def _score(query: PackedInput, target: PackedInput, costs: with_gaps.GapCosts) -> int:
    ours, theirs = packed_of(query, "query"), packed_of(target, "target")
    for name, one in (("query", ours), ("target", theirs)):
        require_int(f"bases of the {name}", one.bases, 0, LARGEST)
    return with_gaps.best_score(ours, theirs, costs)


def _check_seeds(seeds: Seeds, bases: tuple[int, int]) -> Places:
    """Return seed positions in query and target as (n, 2) int64.

    Raise BadParams for invalid ones.
    """
    if len(seeds) != 2 or np.shape(seeds[0]) != np.shape(seeds[1]) or np.ndim(seeds[0]) != 1:
        raise BadParams("seeds must be two arrays of equal length: query and target positions")
    kinds = [np.asarray(places).dtype.kind for places in seeds]
    if not np.size(seeds[0]):
        return np.empty((0, 2), np.int64)
    if not set(kinds) <= set("iu"):
        raise BadParams("seeds must be integers, bases counted from 0")
    places = np.ascontiguousarray(np.stack(seeds, axis=1), np.int64)
    for side, name in enumerate(("query", "target")):
        require_int(f"bases of the {name}", bases[side], 0, LARGEST)
        wrong = np.flatnonzero((places[:, side] < 0) | (places[:, side] > bases[side]))
        if wrong.size:
            i, last = int(wrong[0]), bases[side]
            raise BadParams(f"seed {i}: base {places[i, side]} of the {name} is not in 0..{last}")
    return places
