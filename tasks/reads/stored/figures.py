"""Figures of all reads of a store: letters, qualities, lengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self, cast

from gangsaw.codecs.core.nucleotides.letters import BASES

LENGTH_BITS = 9  # leading bits that lengths are counted by: those below 512 one by one
GOOD = 30  # Phred value: an error in a thousand

Histogram = tuple[tuple[int, int], ...]  # values, ascending, and how often each is there


@dataclass(frozen=True)
class ReadFigures:
    """How long reads are, and what they consist of.

    Attributes
    ----------
    letters : letters of sequences (bytes as numbers), and how often each is there
    qualities : Phred values, and how often each is there; none where none are stored
    lengths : lengths in letters, and how many reads have them; one from 512 on stands for all of
        the same 9 leading bits, which are less than 0.4 % longer
    shortest, longest : in letters
    """

    letters: Histogram = ()
    qualities: Histogram = ()
    lengths: Histogram = ()
    shortest: int = 0
    longest: int = 0

    @property
    def n_bases(self) -> int:
        """Letters of all sequences."""
        return sum(count for _, count in self.letters)

    @property
    def others(self) -> dict[str, int]:
        """Letters but A, C, G and T, and how often each is there, the most frequent first."""
        found = {chr(letter): n for letter, n in self.letters if letter not in BASES}
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    @property
    def mean_length(self) -> float:
        """Letters of a read."""
        return self.n_bases / max(1, sum(count for _, count in self.lengths))

    @property
    def n50(self) -> int:
        """The length of which half of the letters are in reads as long; see `lengths`."""
        left = sum(length * count for length, count in self.lengths) / 2
        for length, count in reversed(self.lengths):
            left -= length * count
            if left <= 0:
                return length
        return 0

    @property
    def mean_quality(self) -> float | None:
        """Mean of the Phred values; None where there are none."""
        n = sum(count for _, count in self.qualities)
        return sum(value * count for value, count in self.qualities) / n if n else None

    @property
    def good_share(self) -> float | None:
        """Share of the Phred values from 30 on; None where there are none."""
        n = sum(count for _, count in self.qualities)
        good = sum(count for value, count in self.qualities if value >= GOOD)
        return good / n if n else None

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Read JSON as `vars` gives it; KeyError, TypeError or ValueError where it is wrong."""
        names = ("letters", "qualities", "lengths")
        letters, qualities, lengths = (
            _histogram(cast(Sequence[Sequence[int]], data[name])) for name in names
        )
        shortest, longest = (int(cast(int, data[name])) for name in ("shortest", "longest"))
        return cls(letters, qualities, lengths, shortest, longest)


def _histogram(data: Sequence[Sequence[int]]) -> Histogram:
    return tuple((int(value), int(count)) for value, count in data)
