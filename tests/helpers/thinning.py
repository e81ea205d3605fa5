"""A thinner run of the suite: some cases of every parametrised test, the same in each run."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Sequence

import pytest


def thinned(
    items: Sequence[pytest.Item], every: int
) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Return the items to keep and the others, in their order.

    Of each test function every `every`-th case stays and at least one. Which is the first of them
    follows from the function's name: functions over the same cases see different ones. Tests with
    the marker `once` are not in a thinner run at all: the whole run has them.
    """
    if every == 1:
        return list(items), []
    by_function: dict[str, list[str]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("once"):
            continue
        by_function[item.nodeid.partition("[")[0]].append(item.nodeid)
    keep = {case for name, cases in by_function.items() for case in _some(name, cases, every)}
    kept = [item for item in items if item.nodeid in keep]
    return kept, [item for item in items if item.nodeid not in keep]


def _some(name: str, cases: list[str], every: int) -> list[str]:
    return cases[zlib.crc32(name.encode()) % min(every, len(cases)) :: every]
