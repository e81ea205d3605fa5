"""Search patterns in the form that indexes take, and the occurrences found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.nucleotides.codes import CODES, reverse_complement_codes
from gangsaw.codecs.core.ragged import RaggedArray
from gangsaw.tasks.search.fm_index.kinds import Kind
from gangsaw.tasks.search.fm_index.samples import Positions

FORWARD, REVERSE = 1, -1  # strands
MOST_LENGTH = 1 << 20  # letters of a pattern: twice as many are read at each border of chunks


def check_length(pattern: bytes) -> None:
    """Raise BadParams for an empty pattern, or one of more than MOST_LENGTH letters."""
    if not 0 < len(pattern) <= MOST_LENGTH:
        raise BadParams(f"a pattern has 1 to {MOST_LENGTH:,} bytes, not {len(pattern):,}")


@dataclass(frozen=True, eq=False)
class Patterns:
    """Patterns to search for; for bases, also their reverse complements.

    Attributes
    ----------
    symbols : bytes of all k patterns, base codes for an index of bases
    pattern : (k,) int64, index of the user's pattern that each stands for
    strand : (k,) int8, FORWARD or REVERSE
    n : number of the user's patterns
    """

    symbols: RaggedArray
    pattern: Positions
    strand: npt.NDArray[np.int8]
    n: int

    @classmethod
    def parse(cls, patterns: Sequence[bytes], kind: Kind, *, both_strands: bool = True) -> Patterns:
        """Return patterns in the form that an index takes, with reverse complements for bases.

        A pattern equal to its reverse complement is searched once. Raises BadParams for an empty
        pattern or one of more than MOST_LENGTH letters.
        """
        found: list[tuple[npt.NDArray[np.uint8], int, int]] = []
        for number, pattern in enumerate(patterns):
            check_length(pattern)
            letters = np.frombuffer(pattern, np.uint8)
            own = CODES[letters] if kind == "bases" else letters
            found.append((own, number, FORWARD))
            other = reverse_complement_codes(own) if kind == "bases" and both_strands else own
            if not np.array_equal(own, other):
                found.append((other, number, REVERSE))
        symbols = RaggedArray.from_rows([own for own, _, _ in found])
        numbers = np.array([number for _, number, _ in found], np.int64)
        strands = np.array([strand for _, _, strand in found], np.int8)
        return cls(symbols, numbers, strands, len(patterns))

    def select(self, wanted: npt.NDArray[np.bool_]) -> Patterns:
        """Return the user's patterns selected by a mask (n,), with their indices preserved."""
        keep = wanted[self.pattern]
        return replace(
            self,
            symbols=self.symbols.take(keep),
            pattern=self.pattern[keep],
            strand=self.strand[keep],
        )

    @property
    def longest(self) -> int:
        """Letters of the longest pattern."""
        return int(self.symbols.lengths.max(initial=0))


@dataclass(frozen=True, eq=False)
class Occurrences:
    r"""Occurrences of patterns, sorted by pattern, then by position.

    Parameters
    ----------
    pattern : (n,) int64
        Index of the pattern.
    place : (n,) int64
        Position of its first byte or base in the array.
    strand : (n,) int8
        1, or -1 for the reverse complement.

    See Also
    --------
    Search.locate : Return the occurrences of patterns.

    Examples
    --------
    >>> from pathlib import Path
    >>> import gangsaw.search
    >>> size = Path("log.txt").write_text("one error\nno line\nan error, an error\n")
    >>> summary = gangsaw.compress("log.txt", "log.zarr")
    >>> summary = gangsaw.search.index("log.zarr")
    >>> found = gangsaw.search.open("log.zarr").locate(["error", "line"])
    >>> found.pattern.tolist(), found.place.tolist()
    ([0, 0, 0, 1], [4, 21, 31, 13])
    """

    pattern: Positions
    place: Positions
    strand: npt.NDArray[np.int8]

    def __len__(self) -> int:
        """Return the number of occurrences."""
        return self.place.size

    @classmethod
    def merge(cls, parts: Iterable[Occurrences], most: int | None = None) -> Occurrences:
        """Merge and sort occurrences.

        Parameters
        ----------
        parts : iterable of Occurrences
            Occurrences in any order.
        most : int, optional
            Number of the lowest positions of each pattern that remain; None leaves all.

        Returns
        -------
        Occurrences
            All of them, sorted by pattern, then by position.
        """
        some = list(parts)
        pattern = np.concatenate([np.empty(0, np.int64), *(one.pattern for one in some)])
        place = np.concatenate([np.empty(0, np.int64), *(one.place for one in some)])
        strand = np.concatenate([np.empty(0, np.int8), *(one.strand for one in some)])
        order = np.lexsort((-strand, place, pattern))
        if most is not None and order.size:
            first = np.searchsorted(pattern[order], pattern[order])
            order = order[np.arange(order.size) - first < most]
        return cls(pattern[order], place[order], strand[order])
