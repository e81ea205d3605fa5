"""Exact pairwise alignment with affine gaps: local and global.

Smith and Waterman (1981), Needleman and Wunsch (1970), with the recurrence of Gotoh (1982). The
result of a pair depends on that pair alone: not on other pairs, threads or the integer width.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast, overload

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.genomics.align.affine.batches import BestEnds
from gangsaw.tasks.genomics.align.affine.ends import by_strips, local_ends
from gangsaw.tasks.genomics.align.affine.paths import trace_cigars
from gangsaw.tasks.genomics.align.affine.rectangles import Rectangles, whole_rectangles
from gangsaw.tasks.genomics.align.sets.alignments import Alignments
from gangsaw.tasks.genomics.align.sets.arrays import Labelled, Lazy, alignments_over, is_any_array
from gangsaw.tasks.genomics.align.sets.pairs import SequenceInput, pair_sequences
from gangsaw.tasks.genomics.align.sets.scores import Scores

if TYPE_CHECKING:
    import xarray as xr

LARGEST = 1 << 30  # largest score: 32 bits represent it with its gaps
_DEFAULT = Scores()


@overload
def smith_waterman(  # type: ignore[overload-overlap]
    queries: SequenceInput | Lazy,
    targets: SequenceInput | Lazy,
    scores: Scores = _DEFAULT,
    *,
    cigar: bool = False,
) -> Alignments: ...
@overload
def smith_waterman(
    queries: Labelled | SequenceInput,
    targets: Labelled | SequenceInput,
    scores: Scores = _DEFAULT,
    *,
    cigar: bool = False,
) -> xr.Dataset: ...
def smith_waterman(
    queries: object, targets: object, scores: Scores = _DEFAULT, *, cigar: bool = False
) -> object:
    """Return the best local alignment of each query with its target.

    Scores of gaps are affine [2]_. Of several best alignments, the result is the one that ends
    first in the target, then first in the query. Of these it is the one that begins last in the
    target, then last in the query. Between start and end its CIGAR is that of `needleman_wunsch`.
    If no base matches, all values are 0 and the CIGAR is "".

    Parameters
    ----------
    queries, targets : list of str, `SequenceSet` or arrays of str
        Sequences, n each: strings, bytes, or codes and offsets (`SequenceSet`). Bases other than
        ACGT match nothing, not even themselves; case is ignored. String arrays of NumPy, Dask or
        xarray are broadcast.
    scores : Scores, default Scores()
        Scores of bases and gaps.
    cigar : bool, default False
        True returns CIGARs, too.

    Returns
    -------
    Alignments
        One alignment per pair. For DataArrays the result is a Dataset, for Dask arrays it has Dask
        arrays.

    Raises
    ------
    BadParams
        The arguments are no sequences, differ in number, or are too long for the scores.

    See Also
    --------
    needleman_wunsch : Align the whole of both.

    References
    ----------
    .. [1] T. F. Smith and M. S. Waterman, "Identification of common molecular subsequences",
       Journal of Molecular Biology 147, 195-197, 1981.
    .. [2] O. Gotoh, "An improved algorithm for matching biological sequences", Journal of Molecular
       Biology 162, 705-708, 1982.

    Examples
    --------
    >>> from gangsaw.align import smith_waterman
    >>> found = smith_waterman(["GATTACA"], ["CGATTACAG"], cigar=True)
    >>> found.score.tolist(), found.cigar
    ([14], ['7='])
    """
    if is_any_array(queries, targets):
        function = partial(_local, scores=scores, cigar=cigar)
        return alignments_over(function, queries, targets, cigar=cigar)
    return _local(
        cast("SequenceInput", queries), cast("SequenceInput", targets), scores, cigar=cigar
    )


def _local(
    queries: SequenceInput, targets: SequenceInput, scores: Scores, *, cigar: bool
) -> Alignments:
    parts = _parts(queries, targets, scores)
    ends = local_ends(parts, scores)
    stop = parts.query_start + ends.query_end, parts.target_start + ends.target_end
    before = parts._replace(query_end=stop[0], target_end=stop[1])
    # before its end, all alignments with the best score end there: it is the first
    starts = local_ends(before._replace(is_reversed=True), scores)
    start = stop[0] - starts.query_end, stop[1] - starts.target_end
    inner = before._replace(query_start=start[0], target_start=start[1])
    return Alignments(
        ends.score.astype(np.int32),
        start[0] - parts.query_start,
        ends.query_end,
        start[1] - parts.target_start,
        ends.target_end,
        trace_cigars(inner, scores) if cigar else None,
    )


@overload
def needleman_wunsch(  # type: ignore[overload-overlap]
    queries: SequenceInput | Lazy,
    targets: SequenceInput | Lazy,
    scores: Scores = _DEFAULT,
    *,
    cigar: bool = False,
) -> Alignments: ...
@overload
def needleman_wunsch(
    queries: Labelled | SequenceInput,
    targets: Labelled | SequenceInput,
    scores: Scores = _DEFAULT,
    *,
    cigar: bool = False,
) -> xr.Dataset: ...
def needleman_wunsch(
    queries: object, targets: object, scores: Scores = _DEFAULT, *, cigar: bool = False
) -> object:
    """Return the best alignment of each whole query with its whole target.

    Scores of gaps are affine [2]_. The traceback starts at the end. Of steps with equal scores it
    prefers a pair of bases, then a deletion (base of the target alone), then an insertion. A gap
    ends as soon as that loses no score. An insertion next to a deletion is two gaps.

    Parameters
    ----------
    queries, targets : list of str, `SequenceSet` or arrays of str
        Sequences, n each: strings, bytes, or codes and offsets (`SequenceSet`). Bases other than
        ACGT match nothing, not even themselves; case is ignored. String arrays of NumPy, Dask or
        xarray are broadcast.
    scores : Scores, default Scores()
        Scores of bases and gaps.
    cigar : bool, default False
        True returns CIGARs, too.

    Returns
    -------
    Alignments
        One alignment per pair. For DataArrays the result is a Dataset, for Dask arrays it has Dask
        arrays.

    Raises
    ------
    BadParams
        The arguments are no sequences, differ in number, or are too long for the scores.

    See Also
    --------
    smith_waterman : Align parts of both.

    References
    ----------
    .. [1] S. B. Needleman and C. D. Wunsch, "A general method applicable to the search for
       similarities in the amino acid sequence of two proteins", Journal of Molecular Biology 48,
       443-453, 1970.
    .. [2] O. Gotoh, "An improved algorithm for matching biological sequences", Journal of Molecular
       Biology 162, 705-708, 1982.

    Examples
    --------
    >>> from gangsaw.align import needleman_wunsch
    >>> found = needleman_wunsch(["GATTACA"], ["GATACA"], cigar=True)
    >>> found.score.tolist(), found.cigar
    ([5], ['2=1I4='])
    """
    if is_any_array(queries, targets):
        function = partial(_global, scores=scores, cigar=cigar)
        return alignments_over(function, queries, targets, cigar=cigar)
    return _global(
        cast("SequenceInput", queries), cast("SequenceInput", targets), scores, cigar=cigar
    )


def _global(
    queries: SequenceInput, targets: SequenceInput, scores: Scores, *, cigar: bool
) -> Alignments:
    parts = _parts(queries, targets, scores)
    rows, columns = parts.rows, parts.columns
    gaps = -scores.gap_open - scores.gap_extend * (rows + columns)
    found = BestEnds(np.where(rows + columns > 0, gaps, 0), rows, columns)
    chosen = np.flatnonzero((rows > 0) & (columns > 0))
    by_strips(parts, chosen, scores, found, is_local=False)
    none = np.zeros_like(rows)
    made = trace_cigars(parts, scores) if cigar else None
    return Alignments(found.score.astype(np.int32), none, rows, none.copy(), columns, made)


def _parts(queries: SequenceInput, targets: SequenceInput, scores: Scores) -> Rectangles:
    """Return the pairs to align; raise BadParams if a pair is too long for 32-bit scores."""
    parts = whole_rectangles(pair_sequences(queries, targets))
    gaps = 2 * scores.gap_open + scores.gap_extend * (parts.rows + parts.columns)
    largest = np.maximum(gaps, scores.match * np.minimum(parts.rows, parts.columns))
    if (too_large := np.flatnonzero(largest > LARGEST)).size:
        raise BadParams(f"pair {too_large[0]} is too long for these scores: give smaller ones")
    return parts
