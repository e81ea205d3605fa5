"""Statistics of all reads of a store: bases, qualities, lengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self, cast

from gangsaw.codecs.core.nucleotides.alphabet import BASES

LENGTH_BITS = 9  # leading bits of counted lengths: lengths below 512 are exact
GOOD = 30  # Phred value: one error in a thousand

Histogram = tuple[tuple[int, int], ...]  # ascending values with their counts


@dataclass(frozen=True)
class ReadFigures:
    """Statistics of reads: lengths, bases and qualities.

    Attributes
    ----------
    letters : count of each byte value in sequences
    qualities : count of each Phred value; empty without stored qualities
    lengths : number of reads of each length in bases; from 512 on a length stands for all with
        the same 9 leading bits, which are less than 0.4 % longer
    shortest, longest : lengths in bases
    """

    letters: Histogram = ()
    qualities: Histogram = ()
    lengths: Histogram = ()
    shortest: int = 0
    longest: int = 0

    @property
    def n_bases(self) -> int:
        """Number of bases of all sequences."""
        return sum(count for _, count in self.letters)

    @property
    def others(self) -> dict[str, int]:
        """Residues except A, C, G and T with their counts, the most frequent first."""
        found = {chr(letter): n for letter, n in self.letters if letter not in BASES}
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    @property
    def mean_length(self) -> float:
        """Mean number of bases per read."""
        return self.n_bases / max(1, sum(count for _, count in self.lengths))

    @property
    def n50(self) -> int:
        """Largest length such that reads of at least it have half of all bases; see `lengths`."""
        left = sum(length * count for length, count in self.lengths) / 2
        for length, count in reversed(self.lengths):
            left -= length * count
            if left <= 0:
                return length
        return 0

    @property
    def mean_quality(self) -> float | None:
        """Mean of the Phred values; None without qualities."""
        n = sum(count for _, count in self.qualities)
        return sum(value * count for value, count in self.qualities) / n if n else None

    @property
    def good_share(self) -> float | None:
        """Fraction of Phred values of at least 30; None without qualities."""
        n = sum(count for _, count in self.qualities)
        good = sum(count for value, count in self.qualities if value >= GOOD)
        return good / n if n else None

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Return statistics from JSON values; raise KeyError, TypeError or ValueError if wrong."""
        names = ("letters", "qualities", "lengths")
        letters, qualities, lengths = (
            _histogram(cast(Sequence[Sequence[int]], data[name])) for name in names
        )
        shortest, longest = (int(cast(int, data[name])) for name in ("shortest", "longest"))
        return cls(letters, qualities, lengths, shortest, longest)


def _histogram(data: Sequence[Sequence[int]]) -> Histogram:
    return tuple((int(value), int(count)) for value, count in data)
