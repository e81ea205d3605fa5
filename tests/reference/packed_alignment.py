"""The alignments of Satyanvesh, Kaliuday and Baruah (2015), from their rules, letter by letter."""

from __future__ import annotations

FOUR = 4
NEVER = -(10**9)


def match(ours: str, theirs: str) -> int:
    """Return how many bases of two 4-mers are equal ("Match")."""
    return sum(a == b for a, b in zip(ours, theirs, strict=True))


def right_match(ours: str, theirs: str) -> int:
    """Return how many are equal before the first that differs."""
    equal = [a == b for a, b in zip(ours, theirs, strict=True)]
    return [*equal, False].index(False)


def value(ours: str, theirs: str, reading: str) -> int:
    """Return what a pair of 4-mers adds to the score."""
    matches = match(ours, theirs)
    return matches if reading == "A" else 2 * matches - FOUR


def extended(pairs: list[tuple[str, str]], brink: int, reading: str) -> tuple[int, int]:
    """Return the high of an extension over pairs of 4-mers, and the bases to it."""
    score = high = length = 0
    for i, (ours, theirs) in enumerate(pairs):
        if score > high - 8:
            equal = right_match(ours, theirs)
            if score + equal > high:
                high, length = score + equal, FOUR * i + equal
        elif high - score >= brink:
            break
        score += value(ours, theirs, reading)
    return high, length


def ungapped(
    query: str, target: str, seed: tuple[int, int], brink: int, reading: str
) -> tuple[int, int, int]:
    """Return the score of both directions, and the bases forwards and backwards."""
    i, j = seed
    ahead = extended(_fours(query[i:], target[j:]), brink, reading)
    back = extended(_fours(query[:i][::-1], target[:j][::-1]), brink, reading)
    return ahead[0] + back[0], ahead[1], back[1]


def _fours(query: str, target: str) -> list[tuple[str, str]]:
    n = min(len(query), len(target)) // FOUR * FOUR
    return [(query[i : i + FOUR], target[i : i + FOUR]) for i in range(0, n, FOUR)]


def gapped(query: str, target: str, reading: str, local: bool, costs: tuple[int, int]) -> int:
    """Return the largest Best of all cells; rows are bases of the query, columns 4-mers."""
    gap_open, longer = costs
    first = gap_open + longer
    m, n = len(query), len(target) // FOUR
    best = [[0] * (n + 1) for _ in range(m + 1)]
    score = [[NEVER] * (n + 1) for _ in range(m + 1)]
    high = [[NEVER] * (n + 1) for _ in range(m + 1)]
    for x in range(1, m + 1):
        for y in range(1, n + 1):
            if x >= FOUR:
                theirs = target[FOUR * (y - 1) : FOUR * y]
                score[x][y] = best[x - FOUR][y - 1] + value(query[x - FOUR : x], theirs, reading)
            high[x][y] = max(
                score[x - 1][y] - first,
                high[x - 1][y] - longer,
                score[x][y - 1] - first - 3 * longer,
                high[x][y - 1] - 4 * longer,
            )
            found = max(score[x][y], high[x][y])
            best[x][y] = max(found, 0) if local else found
    return max(max(row) for row in best)
