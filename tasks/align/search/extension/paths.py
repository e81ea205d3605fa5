"""Paths of alignments as runs of one operation, in numbers as BAM has them."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np

from gangsaw.codecs.core.numba.jit import jit, jit_part


# no plain numbers: kernels would be compiled again for each of them
def _word(number: int) -> int:
    return cast(int, np.int64(number))


INSERTION, DELETION, EQUAL, DIFFERENT = _word(1), _word(2), _word(7), _word(8)
NONE, SINGLE = _word(0), _word(1)
LETTERS = "MIDNSHP=X"
OP_BITS = 4  # of a run: length << 4 | operation
OP_MASK = 15
LEAST = -(1 << 28)  # a score that no path has


class PathCosts(NamedTuple):
    """Scores of an alignment, all 0 or more.

    Attributes
    ----------
    match : what a pair of equal bases adds
    mismatch : what another pair takes
    open, extend : a gap of g bases takes open + g * extend
    """

    match: int
    mismatch: int
    open: int
    extend: int


@jit_part
def push(runs: Any, n: int, op: int, length: int) -> int:
    """Add a run behind n others, of which the last may be one of the same; return how many."""
    if length <= 0:
        return n
    if n and runs[n - 1] & OP_MASK == op:
        runs[n - 1] += np.int64(length) << OP_BITS
        return n
    runs[n] = np.int64(length) << OP_BITS | op
    return n + 1


@jit_part
def push_pairs(runs: Any, n: int, pairs: Any, length: int) -> int:
    """Add the runs of pairs of letters, (query, i, text, j), that face each other."""
    query, i, text, j = pairs
    for at in range(length):
        is_equal = query[i + at] == text[j + at] and query[i + at] < 4
        n = push(runs, n, EQUAL if is_equal else DIFFERENT, SINGLE)
    return n


@jit
def score_of(runs: Any, costs: PathCosts) -> int:
    """Return the score of a path."""
    score = 0
    for run in runs:
        op, length = run & OP_MASK, run >> OP_BITS
        if op == EQUAL:
            score += length * costs.match
        elif op == DIFFERENT:
            score -= length * costs.mismatch
        else:
            score -= costs.open + length * costs.extend
    return score
