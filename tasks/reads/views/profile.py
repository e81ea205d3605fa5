"""Letters and qualities by their place in the read, of a sample of the reads of a store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gangsaw.tasks.reads.files.records import Field
from gangsaw.tasks.reads.stored.stored import Stored
from gangsaw.tasks.sequences.kernels import LETTERS

PARTS = 16  # of the store, from each of which as many reads are taken
MOST_LETTERS = 1 << 20  # of a part
MOST_READS = 4096  # of a part
COLUMNS = 150  # into which places are counted, where reads have more letters
SHORT = 1000  # letters: of longer reads places are counted as shares of their length

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Profile:
    """How often each letter is at each place.

    Attributes
    ----------
    n_reads : that were looked at
    places : (n + 1,) float64, where columns begin and the last one ends: letters from the begin of
        the read, or percent of its length
    is_share : whether they are percent
    letters, qualities : (n, 256) int64, by column and byte; all 0 without qualities
    zero : byte of quality 0
    """

    n_reads: int
    places: npt.NDArray[np.float64]
    is_share: bool
    letters: Counts
    qualities: Counts
    zero: int


def profile_of(stored: Stored, longest: int) -> Profile:
    """Return the profile of some reads of a store, of which the longest has so many letters."""
    is_share = longest > SHORT
    columns = COLUMNS if is_share else max(1, min(COLUMNS, longest))
    found = {name: np.zeros((columns, LETTERS), np.int64) for name in ("sequence", "quality")}
    n_reads = 0
    for first, last in parts_of(stored.n_records, longest):
        n_reads += last - first
        for name, counts in found.items():
            if stored.has(name):
                _count(stored.lines(name, first, last), counts, None if is_share else longest)
    edges = np.linspace(0, 100 if is_share else max(1, longest), columns + 1)
    zero = stored.contents.settings.zero
    return Profile(n_reads, edges, is_share, found["sequence"], found["quality"], zero)


def parts_of(n_records: int, longest: int) -> Iterator[tuple[int, int]]:
    """Yield first read and end of parts, evenly over the store; all of a small one."""
    n = max(1, min(MOST_READS, MOST_LETTERS // max(1, longest)))
    if n * PARTS >= n_records:
        yield 0, n_records
        return
    for part in range(PARTS):
        first = (n_records - n) * part // (PARTS - 1)
        yield first, first + n


def _count(lines: Field, counts: Counts, longest: int | None) -> None:
    """Add letters to counts (columns, 256); without `longest` by their share of the length."""
    lengths = lines.ends - lines.begins
    place = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    of = np.repeat(lengths, lengths) if longest is None else longest
    column = place * len(counts) // np.maximum(1, of)
    letters = lines.text[np.repeat(lines.begins, lengths) + place]
    cells = np.bincount(column * LETTERS + letters, minlength=counts.size)
    counts += cells.reshape(counts.shape)
