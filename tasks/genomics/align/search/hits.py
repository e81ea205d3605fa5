"""Table of hits: alignments of queries with a genome."""

from __future__ import annotations

from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Int64s

UNSURE = 0
HIT = np.dtype(
    [
        ("query", "i8"),  # number of the query
        ("strand", "i8"),  # 1 if the query's reverse complement is aligned
        ("record", "i8"),  # sequence of the genome, by number
        ("begin", "i8"),  # offsets in the query on its strand
        ("end", "i8"),
        ("there", "i8"),  # offsets in the text
        ("there_end", "i8"),
        ("score", "i8"),
        ("anchors", "i8"),  # of its chain; UNSURE if not all positions of its seeds were tried
        ("runs", "i8"),  # of its path: index of the first, and the end
        ("runs_end", "i8"),
    ]
)


HitRows: TypeAlias = "npt.NDArray[np.void]"  # of dtype HIT, or with more fields


class HitRow(Protocol):
    """Row of a table of hits, with the fields of HIT."""

    query: int
    strand: int
    record: int
    begin: int
    end: int
    there: int
    there_end: int
    score: int
    anchors: int
    runs: int
    runs_end: int


class Hits(NamedTuple):
    """Alignments of queries with a genome, and their paths.

    Attributes
    ----------
    rows : (n,) of dtype HIT
    runs : (m,) int64, runs (length << 4 | operation) of all paths
    """

    rows: HitRows
    runs: Int64s
