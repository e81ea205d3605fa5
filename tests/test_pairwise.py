"""Pairwise combinations hold every pair of values, in few cases, the same in every run."""

from __future__ import annotations

from itertools import combinations, product

import pytest
from helpers.pairwise import pairwise, pairwise_rows


@pytest.mark.quick(cases=9)
@pytest.mark.parametrize(
    ("sizes", "most"),
    [
        ((3,), 3),
        ((4, 5), 20),
        ((2, 2, 2), 4),
        ((3, 14, 3), 45),
        ((7, 5, 8), 60),
        ((2, 3, 4, 3), 16),
        ((5, 5, 5, 5, 5), 45),
        ((1, 1, 6), 6),
        ((3, 0, 2), 0),
    ],
    ids=str,
)
def test_every_pair_of_values_occurs(sizes: tuple[int, ...], most: int) -> None:
    rows = pairwise_rows(sizes)
    for a, b in combinations(range(len(sizes)), 2):
        expected = set(product(range(sizes[a]), range(sizes[b]))) if most else set()
        assert {(row[a], row[b]) for row in rows} == expected
    assert len(rows) == len(set(rows)) <= most
    assert rows == pairwise_rows(sizes)


def test_cases_are_parameters_of_pytest() -> None:
    cases = pairwise("ab", [1, 2], [None])
    assert [case.id for case in cases] == ["a-1-None", "a-2-None", "b-1-None", "b-2-None"]
    assert pairwise([len])[0].id == "len"
    assert [case.values for case in cases] == [
        ("a", 1, None),
        ("a", 2, None),
        ("b", 1, None),
        ("b", 2, None),
    ]
