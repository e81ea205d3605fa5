"""The task over a batch of reads: what they say of nucleotypes, and why some say nothing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.nucleotides.codes import CODES
from gangsaw.tasks.align import SequenceSet
from gangsaw.tasks.reads.files.records import Field
from gangsaw.tasks.tcr.annotation.gaps import junctions
from gangsaw.tasks.tcr.annotation.index import GeneIndex, Ints
from gangsaw.tasks.tcr.annotation.kernels.reads import (
    ERRORS,
    FINE,
    REASONS,
    annotate,
    junction_status,
)
from gangsaw.tasks.tcr.annotation.reading import Mates, ReadLetters

MOST_LETTERS = 4096  # of a consensus; longer reads are none of one receptor
MOST_TIES = 8
PEAK_BYTES = 1 << 27
NONE = Field(np.zeros(0, np.uint8), np.zeros(0, np.int64), np.zeros(0, np.int64))


class Key(NamedTuple):
    """What reads of one nucleotype have in common: genes that fit equally well, and the junction.

    Attributes
    ----------
    v, j : numbers of genes
    junction : codes of letters, from the Cys codon to the Phe or Trp codon
    """

    v: tuple[int, ...]
    j: tuple[int, ...]
    junction: bytes


@dataclass
class Seen:
    """Reads of one key: how many, and the best quality of each letter of the junction.

    Sums of qualities were tried: with forty reads of a nucleotype the same error comes twice, and
    one row in thirty was wrong instead of one in a thousand.
    """

    reads: int
    qualities: NDArray[np.uint8]

    def add(self, reads: int, qualities: NDArray[np.uint8]) -> None:
        """Take more reads."""
        self.reads += reads
        np.maximum(self.qualities, qualities, out=self.qualities)


@dataclass(frozen=True)
class BatchFound:
    """What a batch says.

    Attributes
    ----------
    reads : how many there were, pairs as one
    culled : reads by the reason why they say nothing
    keys : what the others say
    letters, bits : of `kernels.reads.annotate`: letters seen at those of genes
    """

    reads: int
    culled: Counter[str]
    keys: dict[Key, Seen]
    letters: Ints
    bits: NDArray[np.uint64]


@dataclass(frozen=True)
class AnnotateTask:
    """The task over a batch of reads.

    Attributes
    ----------
    index : genes
    tolerated : share of the letters of V and J outside the CDR3 that may differ
    """

    index: GeneIndex
    tolerated: float
    name: str = "annotate"
    peak_bytes: int = PEAK_BYTES
    side_by_side: bool = True
    carried_bytes: int = 1 << 25

    def __call__(self, mates: Mates) -> BatchFound:
        """Annotate reads."""
        found = _room(mates)
        n_letters = self.index.genes[0].size
        seen = np.zeros((n_letters, 4), np.int64), np.zeros((n_letters, 4), np.uint64)
        regions = self.index.n_v, len(self.index.names)
        longest = max(1, _longest(mates))
        pair = tuple(map(_arrays, mates))
        pair = (pair[0], pair[1] if len(pair) > 1 else _arrays(ReadLetters(NONE, NONE)))
        annotate(
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
    """Arrays that the kernel fills; see there."""

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


def _room(mates: Mates) -> _FilledArrays:
    n, total = len(mates[0]), sum(map(_total, mates))
    v, j = np.empty((2, n, MOST_TIES), np.int16)
    begins, lengths, firsts, lasts = np.zeros((4, n), np.int64)
    shifts = np.zeros((n, 2), np.int64)
    letters, qualities = np.empty((2, total), np.uint8)
    status = np.zeros(n, np.uint8)
    return _FilledArrays(status, v, j, begins, lengths, firsts, lasts, shifts, letters, qualities)


def _align(found: _FilledArrays, index: GeneIndex, tolerated: float) -> None:
    """Find the junctions of reads that lack or have letters more than their genes."""
    which = np.flatnonzero(found.status == ERRORS)
    if not which.size:
        return
    begins, lengths = found.begins[which], found.lengths[which]
    texts = [found.letters[a : a + n] for a, n in zip(begins, lengths, strict=True)]
    reads = SequenceSet(np.concatenate(texts), np.concatenate(([0], np.cumsum(lengths))))
    v, j = found.v_ties[which, 0].astype(np.int64), found.j_ties[which, 0].astype(np.int64)
    ends = junctions(reads, v, j, index.genes, tolerated)
    for i in np.flatnonzero(ends.fit).tolist():
        at, first, last = int(which[i]), int(ends.firsts[i]), int(ends.lasts[i])
        found.firsts[at], found.lasts[at] = first, last
        found.status[at] = junction_status(texts[i], len(texts[i]), first, last)


def _total(letters: ReadLetters) -> int:
    return int((letters.sequences.ends - letters.sequences.begins).sum())


def _longest(mates: Mates) -> int:
    """Return the letters of the longest consensus, at most MOST_LETTERS."""
    lengths = sum(letters.sequences.ends - letters.sequences.begins for letters in mates)
    return min(MOST_LETTERS, int(np.max(lengths)))


def _arrays(letters: ReadLetters) -> tuple[NDArray[np.uint8] | Ints, ...]:
    of, q = letters
    return of.text, of.begins, of.ends, q.text, q.begins


def _keys(found: _FilledArrays) -> dict[Key, Seen]:
    keys: dict[Key, Seen] = {}
    for i in np.flatnonzero(found.status == FINE).tolist():
        first, last = (int(found.begins[i] + place[i]) for place in (found.firsts, found.lasts))
        junction = found.letters[first:last].tobytes()
        key = Key(_ties(found.v_ties[i]), _ties(found.j_ties[i]), junction)
        qualities = found.qualities[first:last]
        if (there := keys.get(key)) is None:
            keys[key] = Seen(1, qualities.copy())
        else:
            there.add(1, qualities)
    return keys


def _ties(row: NDArray[np.int16]) -> tuple[int, ...]:
    return tuple(gene for gene in row.tolist() if gene >= 0)
