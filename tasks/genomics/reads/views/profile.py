"""Profile of bases and qualities by position in the read, for a sample of a store's reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gangsaw.tasks.genomics.reads.files.records import Field
from gangsaw.tasks.genomics.reads.stored.stored import Stored
from gangsaw.tasks.genomics.sequences.kernels import LETTERS

PARTS = 16  # sampled parts of the store, of equal numbers of reads
MOST_BASES = 1 << 20  # per sampled part
MOST_READS = 4096  # per sampled part
COLUMNS = 150  # columns of positions, if reads are longer
SHORT = 1000  # bases; for longer reads, positions are percentages of the length

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Profile:
    """Counts of bases and qualities by position in the read.

    Attributes
    ----------
    n_reads : number of sampled reads
    places : (n + 1,) float64, borders of the columns: position in the read, or percent of its
        length
    is_share : True if positions are percentages
    letters, qualities : (n, 256) int64, counts by position and byte; all 0 without qualities
    zero : ASCII offset of quality 0
    """

    n_reads: int
    places: npt.NDArray[np.float64]
    is_share: bool
    letters: Counts
    qualities: Counts
    zero: int


def profile_of(stored: Stored, longest: int) -> Profile:
    """Return the profile of a sample of reads; `longest` is the longest read of the store."""
    is_share = longest > SHORT
    columns = COLUMNS if is_share else max(1, min(COLUMNS, longest))
    found = {name: np.zeros((columns, LETTERS), np.int64) for name in ("sequence", "quality")}
    n_reads = 0
    for first, last in sample_ranges(stored.n_records, longest):
        n_reads += last - first
        for name, counts in found.items():
            if stored.has(name):
                _count(stored.lines(name, first, last), counts, None if is_share else longest)
    edges = np.linspace(0, 100 if is_share else max(1, longest), columns + 1)
    zero = stored.contents.settings.zero
    return Profile(n_reads, edges, is_share, found["sequence"], found["quality"], zero)


def sample_ranges(n_records: int, longest: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of the sampled reads, evenly over the store; all reads of a small one."""
    n = max(1, min(MOST_READS, MOST_BASES // max(1, longest)))
    if n * PARTS >= n_records:
        yield 0, n_records
        return
    for part in range(PARTS):
        first = (n_records - n) * part // (PARTS - 1)
        yield first, first + n


def _count(lines: Field, counts: Counts, longest: int | None) -> None:
    """Add the bytes of lines to `counts` (columns, 256), by absolute or relative position.

    `longest` is the longest read, or None for relative positions.
    """
    lengths = lines.ends - lines.begins
    place = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    of = np.repeat(lengths, lengths) if longest is None else longest
    column = place * len(counts) // np.maximum(1, of)
    letters = lines.text[np.repeat(lines.begins, lengths) + place]
    cells = np.bincount(column * LETTERS + letters, minlength=counts.size)
    counts += cells.reshape(counts.shape)
