"""Paths of alignments as runs of one operation, with BAM's numbers for operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias, cast

import numpy as np

from gangsaw.codecs.core.arrays import Bytes, Int64s
from gangsaw.codecs.core.numba.jit import jit

# kernels would be compiled again for each literal int of Python
i64 = cast("Callable[[int], int]", np.int64)
INSERTION, DELETION, EQUAL, DIFFERENT = i64(1), i64(2), i64(7), i64(8)
AMBIGUOUS = i64(0)  # a pair with an unknown base, N, if it is free
OP_CHARACTERS = "MIDNSHP=X"
OP_BITS = 4  # of a run: length << 4 | operation
OP_MASK = 15
LEAST = -(1 << 28)  # below the score of any path
COUNTED = i64(512)  # maximum of bases of a gap that are charged: no short query has a longer one
# score, begin and end in the query, begin and end in the text, runs
AlignedPath: TypeAlias = "tuple[int, tuple[int, int], tuple[int, int], Int64s]"


class PathCosts(NamedTuple):
    """Scores of an alignment, all 0 or more.

    Attributes
    ----------
    match : gain of a pair of equal bases
    mismatch : cost of another pair
    open, extend : a gap of g bases costs open + min(g, COUNTED) * extend
    free_unknown : 1 if a pair with an unknown base costs nothing; else it is a mismatch
    """

    match: int
    mismatch: int
    open: int
    extend: int
    free_unknown: int = 0


@jit(part=True)
def free_of_unknown(costs: PathCosts) -> PathCosts:
    """Return costs under which a pair with an unknown base is free."""
    return PathCosts(costs.match, costs.mismatch, costs.open, costs.extend, i64(1))


@jit(part=True)
def append_path_run(runs: Int64s, n: int, op: int, length: int) -> int:
    """Append a run (length << 4 | operation) behind n others, or extend the last one if equal.

    Returns the number of runs.
    """
    if length <= 0:
        return n
    if n and runs[n - 1] & OP_MASK == op:
        runs[n - 1] += np.int64(length) << OP_BITS
        return n
    runs[n] = np.int64(length) << OP_BITS | op
    return n + 1


@jit(part=True)
def push_pairs(
    runs: Int64s, n: int, pairs: tuple[Bytes, int, Bytes, int], length: int, costs: PathCosts
) -> int:
    """Append the runs of aligned pairs from (query, i, text, j) on; return the number of runs."""
    query, i, text, j = pairs
    for at in range(length):
        n = append_path_run(runs, n, pair_operation(query[i + at], text[j + at], costs), i64(1))
    return n


@jit(part=True)
def pair_operation(base: int, other: int, costs: PathCosts) -> int:
    """Return the path operation of two aligned bases: equal, different, or free unknown base."""
    if base > 3 or other > 3:
        return AMBIGUOUS if costs.free_unknown else DIFFERENT
    return EQUAL if base == other else DIFFERENT


@jit(part=True)
def pair_score(base: int, other: int, costs: PathCosts) -> int:
    """Return the score of two aligned bases."""
    if base > 3 or other > 3:
        return 0 if costs.free_unknown else -costs.mismatch
    return costs.match if base == other else -costs.mismatch


@jit
def score_of(runs: Int64s, costs: PathCosts) -> int:
    """Return the score of an alignment path, given as runs (length << 4 | operation)."""
    return lenient_score(runs, costs, COUNTED)


@jit(part=True)
def lenient_score(runs: Int64s, costs: PathCosts, counted: int) -> int:
    """Return the score of an alignment path if at most `counted` bases of each gap are charged."""
    score = 0
    for run in runs:
        op, length = run & OP_MASK, run >> OP_BITS
        if op == EQUAL:
            score += length * costs.match
        elif op == DIFFERENT:
            score -= length * costs.mismatch
        elif op != AMBIGUOUS:
            score -= costs.open + min(length, counted) * costs.extend
    return score
