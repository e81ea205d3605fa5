"""Reported hits: selection, mapping quality, e-values and counts, independent of the format."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Int64s
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.genomics.align.search.extension.paths import (
    AMBIGUOUS,
    DELETION,
    DIFFERENT,
    EQUAL,
    INSERTION,
    OP_MASK,
)
from gangsaw.tasks.genomics.align.search.hits import HIT, Hits
from gangsaw.tasks.genomics.align.search.mates import PAIR_MATCHES, Insert, paired_scores
from gangsaw.tasks.genomics.align.search.params import SearchParams
from gangsaw.tasks.genomics.align.search.select import select_hits

if TYPE_CHECKING:
    from gangsaw.tasks.genomics.align.statistics.evalues import Expected

EXTRA = [
    ("kind", "i8"),
    ("quality", "i8"),
    ("equal", "i8"),  # pairs
    ("different", "i8"),
    ("inserted", "i8"),  # bases of the query alone
    ("deleted", "i8"),
    ("gaps", "i8"),
    ("evalue", "f8"),  # NaN, like bits, if the scores have no statistics
    ("bits", "f8"),
]
REPORTED = np.dtype([*((name, "i8") for name in HIT.names or ()), *EXTRA])


class ReportedHits(NamedTuple):
    """Hits to report, in the order of the output lines.

    Attributes
    ----------
    rows : (n,) of dtype REPORTED
    runs : (m,) int64, alignment paths as runs, length << 4 | operation
    """

    rows: npt.NDArray[np.void]
    runs: npt.NDArray[np.int64]


def reported(
    lengths: npt.NDArray[np.int64],
    hits: Hits,
    records: npt.NDArray[np.int64],
    params: SearchParams,
    insert: Insert | None = None,
) -> ReportedHits:
    """Select and rank the hits to report.

    Parameters
    ----------
    lengths : (n,) int64, bases of the queries
    hits : hits sorted by query
    records : (r,) int64, lengths of the genome's sequences
    params : limits of e-value and number, scores
    insert : fragment length if queries 2i and 2i + 1 are mates, else None
    """
    found = _expected(lengths, hits, records, params)
    is_kept = ~(found.evalues > params.evalue)  # NaN is kept
    rows = hits.rows[is_kept]
    ranked = rows if insert is None else _with_mates(rows, insert, params)
    order, kinds, qualities = select_hits(ranked, lengths, params.choice)
    out = np.zeros(order.size, REPORTED)
    for name in HIT.names or ():
        out[name] = rows[name][order]
    out["kind"], out["quality"] = kinds[order], qualities[order]
    out["evalue"], out["bits"] = found.evalues[is_kept][order], found.bits[is_kept][order]
    out = out[_first(out["query"], params.max_hits)]
    measure_paths(out, hits.runs)
    return ReportedHits(out, hits.runs)


def _with_mates(
    rows: npt.NDArray[np.void], insert: Insert, params: SearchParams
) -> npt.NDArray[np.void]:
    """Return hits whose score includes the mate's and a proper pair's bonus, for their ranking."""
    out, scores = rows.copy(), np.empty(rows.size, np.int64)
    bonus = PAIR_MATCHES * params.scores.match
    paired_scores(rows, insert.least, insert.most, bonus, scores)
    out["score"] = scores
    return out


def _expected(
    lengths: npt.NDArray[np.int64],
    hits: Hits,
    records: npt.NDArray[np.int64],
    params: SearchParams,
) -> Expected:
    """Return e-value and bit score of each hit; NaN for scores without statistics."""
    from gangsaw.tasks.genomics.align.statistics.evalues import Expected, compute_evalues

    if not params.has_statistics:
        unknown = np.full(hits.rows.size, np.nan)
        return Expected(unknown, unknown)
    return compute_evalues(params.scores, hits.rows["score"], lengths[hits.rows["query"]], records)


def _first(queries: npt.NDArray[np.int64], most: int) -> npt.NDArray[np.bool_]:
    """Return a mask of the first `most` rows of each query; all rows if most is 0."""
    if not most:
        return np.ones(queries.size, np.bool_)
    firsts = np.searchsorted(queries, queries)
    return np.arange(queries.size) - firsts < most


@jit
def measure_paths(rows: npt.NDArray[np.void], runs: Int64s) -> None:
    """Count equal and different pairs, gaps and gap bases in each hit's path, into its row."""
    for at in range(rows.size):
        row = rows[at]
        for run in runs[row.runs : row.runs_end]:
            op, length = run & OP_MASK, run >> 4
            row.equal += length if op == EQUAL else 0
            row.different += length if op in (DIFFERENT, AMBIGUOUS) else 0
            row.inserted += length if op == INSERTION else 0
            row.deleted += length if op == DELETION else 0
            row.gaps += 1 if op in (INSERTION, DELETION) else 0
