"""What an alignment costs: scores of pairs of bases and of gaps."""

from __future__ import annotations

from dataclasses import dataclass

from gangsaw.codecs.core.parameters import require_int

LARGEST = 100  # so that the sum of any two, and the bias of a mismatch, fit 8 bits without sign


@dataclass(frozen=True)
class Scores:
    """Affine scores, as BLAST has them: a gap of k bases costs gap_open + k * gap_extend.

    Attributes
    ----------
    match : of two equal bases of ACGT, 1..100
    mismatch : of two others, -100..0; N and other letters match nothing, themselves neither
    gap_open : cost of a gap, without its bases, 0..100
    gap_extend : cost of each base of a gap, 0..100

    Raises
    ------
    BadParams : one of them is outside its range
    """

    match: int = 2
    mismatch: int = -3
    gap_open: int = 5
    gap_extend: int = 2

    def __post_init__(self) -> None:
        """Check the ranges."""
        require_int("match", self.match, 1, LARGEST)
        require_int("mismatch", self.mismatch, -LARGEST, 0)
        require_int("gap_open", self.gap_open, 0, LARGEST)
        require_int("gap_extend", self.gap_extend, 0, LARGEST)
