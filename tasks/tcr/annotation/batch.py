"""Annotation task of one batch: nucleotypes of its reads, and rejected reads by reason."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.nucleotides.codes import CODES
from gangsaw.tasks.genomics.align import SequenceSet
from gangsaw.tasks.genomics.reads.files.records import Field
from gangsaw.tasks.tcr.annotation.gaps import align_junctions
from gangsaw.tasks.tcr.annotation.index import GeneIndex, Ints
from gangsaw.tasks.tcr.annotation.kernels.reads import (
    ERRORS,
    FINE,
    REASONS,
    annotate_reads,
    junction_status,
)
from gangsaw.tasks.tcr.annotation.keys import KeyTable, grouped
from gangsaw.tasks.tcr.annotation.reading import Mates, NumberedMates, ReadBases
from gangsaw.tasks.tcr.germline.genes.lines import concatenate_slices

MAX_CONSENSUS = 4096  # bases of a consensus: longer reads do not come from one receptor
MOST_TIES = 8
PEAK_BYTES = 1 << 27
NONE = Field(np.zeros(0, np.uint8), np.zeros(0, np.int64), np.zeros(0, np.int64))


@dataclass(frozen=True)
class BatchFound:
    """Result of one batch of reads.

    Attributes
    ----------
    reads : number of reads; a pair counts once
    culled : number of rejected reads by reason
    keys : nucleotypes of the other reads, by junction length in bases
    letters : (bases of all genes, 4) int64
        Reads with A, C, G or T at each gene position.
    bits : (bases of all genes, 4) uint64
        One bit per hashed junction of these reads.
    """

    reads: int
    culled: Counter[str]
    keys: dict[int, KeyTable]
    letters: Ints
    bits: NDArray[np.uint64]


@dataclass(frozen=True)
class AnnotateTask:
    """Task that annotates one batch of reads.

    Attributes
    ----------
    index : V and J genes
    tolerated : share of the V and J bases outside the CDR3 that may differ
    """

    index: GeneIndex
    tolerated: float
    name: str = "annotate"
    peak_bytes: int = PEAK_BYTES
    side_by_side: bool = True
    carried_bytes: int = 1 << 25

    def __call__(self, batch: NumberedMates) -> BatchFound:
        """Find genes and junction of each read of a batch; return its nucleotypes and counts."""
        mates = batch.mates
        found = _allocate_arrays(mates)
        n_letters = self.index.genes[0].size
        seen = np.zeros((n_letters, 4), np.int64), np.zeros((n_letters, 4), np.uint64)
        regions = self.index.n_v, len(self.index.names)
        longest = max(1, _longest(mates))
        pair = tuple(map(_arrays, mates))
        pair = (pair[0], pair[1] if len(pair) > 1 else _arrays(ReadBases(NONE, NONE)))
        annotate_reads(
            pair,
            CODES,
            self.index.kmers,
            self.index.genes,
            regions,
            longest,
            self.tolerated,
            tuple(found),
            seen,
        )
        _align(found, self.index, self.tolerated)
        numbers = enumerate(np.bincount(found.status).tolist())
        counts = Counter({REASONS[s]: n for s, n in numbers if s != FINE and n})
        return BatchFound(len(found.status), counts, _keys(found), *seen)


class _FilledArrays(NamedTuple):
    """Output arrays of the kernel `annotate_reads`; its docstring describes them."""

    status: NDArray[np.uint8]
    v_ties: NDArray[np.int16]
    j_ties: NDArray[np.int16]
    begins: Ints
    lengths: Ints
    firsts: Ints
    lasts: Ints
    shifts: Ints
    letters: NDArray[np.uint8]
    qualities: NDArray[np.uint8]


def _allocate_arrays(mates: Mates) -> _FilledArrays:
    n, total = len(mates[0]), sum(map(_total, mates))
    v, j = np.empty((2, n, MOST_TIES), np.int16)
    begins, lengths, firsts, lasts = np.zeros((4, n), np.int64)
    shifts = np.zeros((n, 2), np.int64)
    letters, qualities = np.empty((2, total), np.uint8)
    status = np.zeros(n, np.uint8)
    return _FilledArrays(status, v, j, begins, lengths, firsts, lasts, shifts, letters, qualities)


def _align(found: _FilledArrays, index: GeneIndex, tolerated: float) -> None:
    """Align reads with indels against their genes, and record their junctions."""
    which = np.flatnonzero(found.status == ERRORS)
    if not which.size:
        return
    begins, lengths = found.begins[which], found.lengths[which]
    reads = SequenceSet.gather(found.letters, begins, begins + lengths)
    v, j = found.v_ties[which, 0].astype(np.int64), found.j_ties[which, 0].astype(np.int64)
    ends = align_junctions(reads, v, j, index.genes, tolerated)
    for i in np.flatnonzero(ends.fit).tolist():
        at, first, last = int(which[i]), int(ends.firsts[i]), int(ends.lasts[i])
        found.firsts[at], found.lasts[at] = first, last
        found.status[at] = junction_status(reads[i], lengths[i], first, last)


def _total(bases: ReadBases) -> int:
    return int((bases.sequences.ends - bases.sequences.begins).sum())


def _longest(mates: Mates) -> int:
    """Return the number of bases of the longest possible consensus, at most `MAX_CONSENSUS`."""
    lengths = sum(letters.sequences.ends - letters.sequences.begins for letters in mates)
    return min(MAX_CONSENSUS, int(np.max(lengths)))


def _arrays(bases: ReadBases) -> tuple[NDArray[np.uint8] | Ints, ...]:
    of, q = bases
    return of.text, of.begins, of.ends, q.text, q.begins


def _keys(found: _FilledArrays) -> dict[int, KeyTable]:
    fine = np.flatnonzero(found.status == FINE)
    lengths = (found.lasts - found.firsts)[fine]
    scores = _scores(found)
    return {
        n: _of_length(found, fine[lengths == n], n, scores) for n in np.unique(lengths).tolist()
    }


def _scores(found: _FilledArrays) -> Ints:
    """Return the sum of the Phred values of each consensus."""
    scores, filled = np.zeros(len(found.status), np.int64), np.flatnonzero(found.lengths)
    if filled.size:
        whole = found.qualities[: found.lengths.sum()]
        scores[filled] = np.add.reduceat(whole, found.begins[filled], dtype=np.int64)
    return scores


def _of_length(found: _FilledArrays, which: Ints, n: int, scores: Ints) -> KeyTable:
    """Return the nucleotypes of the selected reads, whose junctions have n bases."""
    begins, firsts = found.begins[which], found.firsts[which]
    at = (begins + firsts)[:, None] + np.arange(n)
    qualities, lengths = found.qualities[at], found.lengths[which]
    return grouped(
        KeyTable(
            np.concatenate([found.v_ties[which], found.j_ties[which]], axis=1),
            found.letters[at],
            np.ones(which.size, np.int64),
            qualities,
            qualities.astype(np.int64),
            scores[which],
            firsts,
            concatenate_slices(found.letters, begins[:, None], lengths[:, None]),
        )
    )
