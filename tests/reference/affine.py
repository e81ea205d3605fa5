"""Alignment with affine gaps from its definition: Gotoh's three matrices in plain Python.

A gap of k bases costs gap_open + k * gap_extend. Bases are letters; only A, C, G and T match.
"""

from __future__ import annotations

from typing import NamedTuple

LEAST = -(10**9)
Matrix = list[list[int]]


class Costs(NamedTuple):
    """Scores of a pair of equal bases, of others, and costs of a gap and of each of its bases."""

    match: int
    mismatch: int
    gap_open: int
    gap_extend: int


class Matrices(NamedTuple):
    """Best scores up to i and j bases: of all alignments, and those with a gap at their end."""

    best: Matrix
    deletion: Matrix
    insertion: Matrix


def score(a: str, b: str, costs: Costs) -> int:
    return costs.match if a == b and a in "ACGT" else costs.mismatch


def matrices(query: str, target: str, costs: Costs, *, local: bool) -> Matrices:
    m, n = len(query), len(target)
    best, deletion, insertion = ([[LEAST] * (n + 1) for _ in range(m + 1)] for _ in range(3))
    for i in range(m + 1):
        for j in range(n + 1):
            first = costs.gap_open + costs.gap_extend
            if j:
                deletion[i][j] = max(best[i][j - 1] - first, deletion[i][j - 1] - costs.gap_extend)
            if i:
                insertion[i][j] = max(
                    best[i - 1][j] - first, insertion[i - 1][j] - costs.gap_extend
                )
            paired = LEAST
            if i and j:
                paired = best[i - 1][j - 1] + score(query[i - 1], target[j - 1], costs)
            start = 0 if local or i == j == 0 else LEAST
            best[i][j] = max(paired, deletion[i][j], insertion[i][j], start)
    return Matrices(best, deletion, insertion)


def first_end(query: str, target: str, costs: Costs) -> tuple[int, int, int]:
    """Best local score, and its end: the first in the target, then the first in the query."""
    best = matrices(query, target, costs, local=True).best
    top = max(max(row) for row in best)
    ends = [(j, i) for i, row in enumerate(best) for j, value in enumerate(row) if value == top]
    j, i = min(ends)
    return (top, i, j) if top else (0, 0, 0)


def local(query: str, target: str, costs: Costs) -> tuple[int, int, int, int, int]:
    """Score, start and end in the query, start and end in the target.

    The end is the first one; of the starts of alignments of the best score that end there, it is
    the last one in the target, then in the query.
    """
    top, i, j = first_end(query, target, costs)
    starts = [
        (b, a)
        for a in range(i + 1)
        for b in range(j + 1)
        if top and end_to_end(query[a:i], target[b:j], costs)[0] == top
    ]
    b, a = max(starts, default=(0, 0))
    return top, a, i, b, j


def end_to_end(query: str, target: str, costs: Costs) -> tuple[int, str]:
    """Score and CIGAR; on the way back pairs come before deletions before insertions.

    A gap ends as soon as nothing is lost by it.
    """
    best, deletion, insertion = matrices(query, target, costs, local=False)
    first = costs.gap_open + costs.gap_extend
    i, j, gap = len(query), len(target), ""
    steps = ""
    while i or j:
        paired = LEAST
        if i and j:
            paired = best[i - 1][j - 1] + score(query[i - 1], target[j - 1], costs)
        here = best[i][j]
        order = ((paired, "P"), (deletion[i][j], "D"), (insertion[i][j], "I"))
        step = gap or next(letter for value, letter in order if value == here)
        if step == "P":
            i, j = i - 1, j - 1
            steps += "=" if query[i] == target[j] and query[i] in "ACGT" else "X"
        elif step == "D":
            gap = "D" if deletion[i][j] > best[i][j - 1] - first else ""
            j, steps = j - 1, steps + "D"
        else:
            gap = "I" if insertion[i][j] > best[i - 1][j] - first else ""
            i, steps = i - 1, steps + "I"
    return best[-1][-1], runs(steps[::-1])


def runs(steps: str) -> str:
    """A CIGAR of single steps."""
    text, count = "", 0
    for k, step in enumerate(steps):
        count += 1
        if steps[k + 1 : k + 2] != step:
            text, count = text + f"{count}{step}", 0
    return text
