"""Scores of an alignment: of pairs of bases and of gaps."""

from __future__ import annotations

from dataclasses import dataclass

from gangsaw.codecs.core.plugins.parameters import require_int

LARGEST = 100  # the sum of any two, and the bias of a mismatch, fit 8 unsigned bits


@dataclass(frozen=True)
class Scores:
    """Affine scores as in BLAST: a gap of k bases costs gap_open + k * gap_extend.

    Parameters
    ----------
    match : int, default 2
        Score of two equal bases of ACGT, 1..100.
    mismatch : int, default -3
        Score of two others, -100..0. N and other bases match nothing, not even themselves.
    gap_open : int, default 5
        Cost of a gap, without its bases, 0..100.
    gap_extend : int, default 2
        Cost of each base of a gap, 0..100.

    Raises
    ------
    BadParams
        A value is outside its range.

    Examples
    --------
    >>> from gangsaw.align import Scores, smith_waterman
    >>> smith_waterman(["ACGT"], ["ACGT"], Scores(match=1)).score.tolist()
    [4]
    """

    match: int = 2
    mismatch: int = -3
    gap_open: int = 5
    gap_extend: int = 2

    def __post_init__(self) -> None:
        """Check the range of each score."""
        require_int("match", self.match, 1, LARGEST)
        require_int("mismatch", self.mismatch, -LARGEST, 0)
        require_int("gap_open", self.gap_open, 0, LARGEST)
        require_int("gap_extend", self.gap_extend, 0, LARGEST)
