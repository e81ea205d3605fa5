"""`--every` leaves no test out, keeps the order, and says what it left out."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from helpers.thinning import thinned

TESTS = ("a.py::alone", "a.py::f", "b.py::f")


def collected(cases: int) -> list[Any]:
    names = [TESTS[0], *(f"{test}[{i}]" for test in TESTS[1:] for i in range(cases))]
    return [item(name) for name in names]


def item(name: str, *markers: str) -> Any:
    return SimpleNamespace(nodeid=name, get_closest_marker=lambda one: one in markers)


@pytest.mark.parametrize("cases", [1, 2, 5, 12])
@pytest.mark.parametrize("every", [1, 2, 4, 100])
def test_of_each_test_some_cases_stay(cases: int, every: int) -> None:
    items = collected(cases)
    kept, others = thinned(items, every)
    assert kept == [item for item in items if item not in others]
    assert others == [item for item in items if item not in kept]
    counts = [sum(item.nodeid.startswith(test) for item in kept) for test in TESTS]
    fewest, most = max(1, cases // every), -(-cases // every)
    assert counts[0] == 1
    assert all(fewest <= count <= most for count in counts[1:])


def test_what_runs_once_is_left_out_by_a_thinner_run() -> None:
    items = [item("a.py::f"), item("a.py::g[1]", "once"), item("a.py::g[2]", "once")]
    assert thinned(items, 2) == (items[:1], items[1:])
    assert thinned(items, 1) == (items, [])
