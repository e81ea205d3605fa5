"""Edit distance from its definition, cell by cell (Wagner and Fischer, 1974)."""

from __future__ import annotations


def edit_distance(query: str, target: str, mode: str) -> int:
    """Return the least number of edits; letters other than ACGT match nothing."""
    n = len(target)
    row = [0] * (n + 1) if mode == "infix" else list(range(n + 1))
    for i, ours in enumerate(query, 1):
        above, row = row, [i] + [0] * n
        for j, theirs in enumerate(target, 1):
            unequal = ours != theirs or ours not in "ACGT"
            row[j] = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + unequal)
    return row[n] if mode == "global" else min(row)
