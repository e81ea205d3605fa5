"""Pairwise combinations of parameters: all values of any two axes meet, in few cases.

For tests whose parameters are not known to interact three at a time. Five axes of 5 values have
3,125 combinations and some 35 cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Any

import pytest

Row = tuple[int, ...]  # a position on each axis
Pairs = set[tuple[int, int, int, int]]  # axis, position on it, a later axis, position on that


def pairwise(*axes: Sequence[Any]) -> list[Any]:
    """Return a `pytest.param` of one value of each axis, for each of a few combinations.

    Any value of one axis occurs with any value of any other. The order of the values decides which
    combinations these are: they are the same in every run.
    """
    rows = pairwise_rows([len(axis) for axis in axes])
    combined = [[axis[i] for axis, i in zip(axes, row, strict=True)] for row in rows]
    return [pytest.param(*values, id="-".join(map(_name, values))) for values in combined]


def _name(value: Any) -> str:
    return getattr(value, "__name__", str(value))


def pairwise_rows(sizes: Sequence[int]) -> list[Row]:
    """Return rows of positions on axes of these sizes; each pair of positions is in one of them."""
    if len(sizes) < 2 or 0 in sizes:
        return list(product(*map(range, sizes)))
    missing: Pairs = {
        (a, i, b, j)
        for a, b in combinations(range(len(sizes)), 2)
        for i in range(sizes[a])
        for j in range(sizes[b])
    }
    rows = []
    while missing:
        row = _next_row(sizes, missing)
        missing.difference_update(_pairs_of(row))
        rows.append(row)
    return rows


def _next_row(sizes: Sequence[int], missing: Pairs) -> Row:
    """Return a row with the first missing pair: axis by axis the position with most of the rest."""
    first_axis, i, second_axis, j = min(missing)
    row: dict[int, int] = {first_axis: i, second_axis: j}
    for axis in range(len(sizes)):
        if axis not in row:
            row[axis] = max(
                range(sizes[axis]), key=lambda position: _gain(row, axis, position, missing)
            )
    return tuple(row[axis] for axis in range(len(sizes)))


def _gain(row: dict[int, int], axis: int, position: int, missing: Pairs) -> int:
    """Return how many missing pairs this position has with the positions of a row."""
    return sum(
        ((axis, position, other, k) if axis < other else (other, k, axis, position)) in missing
        for other, k in row.items()
    )


def _pairs_of(row: Row) -> Iterator[tuple[int, int, int, int]]:
    for (a, i), (b, j) in combinations(enumerate(row), 2):
        yield a, i, b, j
