"""Parts of sequence pairs as kernel input, read forwards or both backwards."""

from __future__ import annotations

from typing import NamedTuple

from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.genomics.align.sets.pairs import Codes, Places, SequencePairs

NO_BASE, NO_OTHER = 5, 6  # codes of bases other than ACGT: in queries, in targets


class Rectangles(NamedTuple):
    """Part of the alignment matrix of each pair: a range of the query with a range of the target.

    The range of query i is queries[query_start[i]:query_end[i]], and likewise for the target.

    Attributes
    ----------
    queries, targets : (bases,) uint8 codes
    query_start, query_end, target_start, target_end : (n,) int64
    is_reversed : True if both are read backwards
    """

    queries: Codes
    targets: Codes
    query_start: Places
    query_end: Places
    target_start: Places
    target_end: Places
    is_reversed: bool = False

    @property
    def rows(self) -> Places:
        """Number of bases of each query, (n,) int64."""
        return self.query_end - self.query_start

    @property
    def columns(self) -> Places:
        """Number of bases of each target, (n,) int64."""
        return self.target_end - self.target_start


def whole_rectangles(pairs: SequencePairs) -> Rectangles:
    """Return the whole alignment matrix of each pair."""
    starts, others = (of.offsets for of in pairs)
    ends = starts[:-1], starts[1:], others[:-1], others[1:]
    return Rectangles(pairs.queries.codes, pairs.targets.codes, *ends)


@jit(inline=True, part=True, norefs=True)
def query_way(parts: Rectangles, pair: int) -> tuple[int, int]:
    """Return the position of the first base to read in a query, and the step to the next."""
    if parts.is_reversed:
        return parts.query_end[pair] - 1, -1
    return parts.query_start[pair], 1


@jit(inline=True, part=True, norefs=True)
def target_way(parts: Rectangles, pair: int) -> tuple[int, int]:
    """Return the position of the first base to read in a target, and the step to the next."""
    if parts.is_reversed:
        return parts.target_end[pair] - 1, -1
    return parts.target_start[pair], 1


@jit(inline=True, part=True, norefs=True)
def query_code(code: int) -> int:
    """Return the kernel's code of a query base: 5 for 4, which no target has."""
    return code + (code >> 2)


@jit(inline=True, part=True, norefs=True)
def target_code(code: int) -> int:
    """Return the kernel's code of a target base: 6 for 4, which no query has."""
    return code + (code >> 2 << 1)
