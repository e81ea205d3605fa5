"""Rescue of mates without a hit near the other mate: full alignment in the expected window."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.nucleotides.codes import reverse_complement_codes
from gangsaw.tasks.genomics.align.affine.affine import smith_waterman
from gangsaw.tasks.genomics.align.search.extension.paths import OP_BITS, OP_CHARACTERS
from gangsaw.tasks.genomics.align.search.hits import HIT, Hits
from gangsaw.tasks.genomics.align.search.mates import Insert, mark_alone
from gangsaw.tasks.genomics.align.search.params import SearchParams
from gangsaw.tasks.genomics.align.sets.alignments import Alignments, parse_cigar
from gangsaw.tasks.genomics.align.sets.pairs import Codes, Places, SequenceSet

MOST_HITS = 4  # best hits of a query: with more of them, its position is unknown
MOST_BASES = 1 << 12  # maximum of bases of a mate: longer ones have seeds
ReadCodes = Callable[[int, int, int], Codes]


class MateWindow(NamedTuple):
    """Range begin..end - 1 of a record, and strand, where a read is expected by its mate's hit."""

    query: int
    strand: int
    record: int
    begin: int
    end: int


def with_rescued(
    hits: Hits,
    queries: SequenceSet,
    records: Places,
    insert: Insert,
    read: ReadCodes,
    params: SearchParams,
) -> Hits:
    """Return the hits together with hits of reads that were found near their mate's hit.

    Parameters
    ----------
    hits : sorted by query, strand, record and position
    queries : mates are 2i and 2i + 1
    records : (r,) int64, lengths of the genome's records in bases
    insert : length range of fragments
    read : returns bases begin..end - 1 of a record as codes
    params : scores, and the minimum score of a hit
    """
    windows = sorted(_windows(hits.rows, queries, records, insert), key=lambda one: one[2:])
    if not windows:
        return hits
    sides = [_on_strand(queries, one) for one in windows], [read(*one[2:]) for one in windows]
    own, there = map(SequenceSet.from_rows, sides)
    found = smith_waterman(own, there, params.scores, cigar=True)
    return _joined(hits, windows, found, params)


def _windows(
    rows: npt.NDArray[np.void], queries: SequenceSet, records: Places, insert: Insert
) -> Iterator[MateWindow]:
    """Yield the ranges to search for mates: near the best hits whose mate has no hit nearby."""
    is_alone = np.zeros(rows.size, np.bool_)
    mark_alone(rows, insert.least, insert.most, is_alone)
    best, sizes = rows[is_alone], queries.lengths
    times = np.bincount(best["query"], minlength=sizes.size)
    for hit in best:
        mate = int(hit["query"]) ^ 1
        if times[hit["query"]] <= MOST_HITS and 0 < sizes[mate] <= MOST_BASES:
            yield _window(hit, mate, int(records[hit["record"]]), insert)


def _window(hit: npt.NDArray[np.void], mate: int, size: int, insert: Insert) -> MateWindow:
    """Return the range of the genome where the mate of a hit is expected."""
    begin, end = int(hit["there"]), int(hit["there_end"])
    if hit["strand"]:
        begin = max(0, end - insert.most)
    else:
        end = min(size, begin + insert.most)
    return MateWindow(mate, 1 - int(hit["strand"]), int(hit["record"]), begin, end)


def _on_strand(queries: SequenceSet, window: MateWindow) -> Codes:
    codes = queries[window.query]
    return reverse_complement_codes(codes) if window.strand else codes


def _joined(hits: Hits, windows: list[MateWindow], found: Alignments, params: SearchParams) -> Hits:
    """Merge hits with the mates' alignments, one per window, that reach the minimum score."""
    rows, paths, at = [], [hits.runs], hits.runs.size
    for i, (window, cigar) in enumerate(zip(windows, found.cigar or (), strict=True)):
        if found.score[i] < params.min_score:
            continue
        steps = parse_cigar(cigar)
        path = np.array([n << OP_BITS | OP_CHARACTERS.index(op) for n, op in steps], np.int64)
        equal = sum(n for n, op in steps if op == "=")
        own = (int(found.query_start[i]), int(found.query_end[i]))
        there = (window.begin + int(x[i]) for x in (found.target_start, found.target_end))
        seeds = max(1, equal // params.k)  # number of adjacent seeds in the equal bases
        where = (window.query, window.strand, window.record, *own, *there)
        rows.append((*where, int(found.score[i]), seeds, at, at + path.size))
        paths.append(path)
        at += path.size
    both = np.concatenate([hits.rows, np.array(rows, HIT)])
    order = np.lexsort([both[name] for name in ("begin", "there", "record", "strand", "query")])
    return Hits(both[order], np.concatenate(paths))
