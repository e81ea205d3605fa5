"""Hits: alignments of queries with a genome."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

UNSURE = 0
HIT = np.dtype(
    [
        ("query", "i8"),  # its number
        ("strand", "i8"),  # 1: of the query's reverse complement
        ("record", "i8"),  # sequence of the genome, by number
        ("begin", "i8"),  # in the query on its strand
        ("end", "i8"),
        ("there", "i8"),  # where it begins in the text, and ends
        ("there_end", "i8"),
        ("score", "i8"),
        ("anchors", "i8"),  # of its chain; UNSURE where not all places of its seeds were tried
        ("runs", "i8"),  # of its path: the first, and the end
        ("runs_end", "i8"),
    ]
)


class Hits(NamedTuple):
    """Alignments.

    Attributes
    ----------
    rows : (n,) HIT
    runs : (m,) int64, paths
    """

    rows: npt.NDArray[np.void]
    runs: npt.NDArray[np.int64]
