"""Statistics of reads, counted while they are stored."""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt

from gangsaw.tasks.genomics.reads.files.records import Field
from gangsaw.tasks.genomics.reads.files.scale import PHRED
from gangsaw.tasks.genomics.reads.stored.figures import LENGTH_BITS, Histogram, ReadFigures
from gangsaw.tasks.genomics.sequences.kernels import LETTERS, TABLES, count_bytes


class ReadCounts:
    """Counter of the statistics of reads; `zero` is the ASCII offset of quality 0."""

    def __init__(self, zero: int = PHRED) -> None:
        self.zero = zero
        self.letters, self.qualities = (np.zeros((TABLES, LETTERS), np.int64) for _ in range(2))
        self.lengths: Counter[int] = Counter()
        self.bounds: tuple[int, ...] = ()

    def add(self, sequence: Field, quality: Field | None) -> None:
        """Count a batch of reads, which may be empty."""
        count_bytes(*sequence, self.letters)
        if quality is not None:
            count_bytes(*quality, self.qualities)
        lengths = sequence.ends - sequence.begins
        values, counts = np.unique(rounded(lengths), return_counts=True)
        self.lengths.update(dict(zip(values.tolist(), counts.tolist(), strict=True)))
        if lengths.size:
            known = (*self.bounds, int(lengths.min()), int(lengths.max()))
            self.bounds = min(known), max(known)

    def figures(self) -> ReadFigures:
        """Return the statistics."""
        shortest, longest = self.bounds or (0, 0)
        letters, qualities = _counted(self.letters, 0), _counted(self.qualities, self.zero)
        lengths = tuple(sorted(self.lengths.items()))
        return ReadFigures(letters, qualities, lengths, shortest, longest)


def rounded(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return read lengths rounded down to their leading LENGTH_BITS bits."""
    bits = np.frexp(lengths)[1]
    shifts = np.maximum(bits - LENGTH_BITS, 0)
    kept: npt.NDArray[np.int64] = lengths >> shifts << shifts
    return kept


def _counted(tables: npt.NDArray[np.int64], zero: int) -> Histogram:
    counts = tables.sum(axis=0).tolist()
    return tuple((letter - zero, n) for letter, n in enumerate(counts) if n)
