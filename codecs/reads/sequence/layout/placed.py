"""Layout of a block of reads: positions of the pieces of its lines in the consensus."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Int64s

Anchors = npt.NDArray[np.int64]


class Layout(NamedTuple):
    """Consensus, and the lines as pieces, ordered by line and begin; each base is in one piece.

    Attributes
    ----------
    consensus : (n,) uint8, 0..3
    line : (m,) int64
    begin, end : (m,) int64, range of bases in the line
    position : (m,) int64, first column; 0 if the piece is not mapped
    strand : (m,) uint8, 1 if the piece is the reverse complement
    is_mapped : (m,) bool; of two neighbours one is mapped, and a mapped one is within the consensus
    """

    consensus: npt.NDArray[np.uint8]
    line: Int64s
    begin: Int64s
    end: Int64s
    position: Int64s
    strand: npt.NDArray[np.uint8]
    is_mapped: npt.NDArray[np.bool_]


def find_anchors(pieces: Layout) -> Anchors:
    """Return (m,) int64: 2 * (column of the first base, in reading direction) + strand."""
    ends = np.where(pieces.strand == 0, 0, pieces.end - pieces.begin)
    anchors: Anchors = 2 * (pieces.position + ends) + pieces.strand
    return anchors
