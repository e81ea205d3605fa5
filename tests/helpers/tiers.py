"""Tiers of the suite: the quick one, and everything with `--all`.

The quick tier has `CASES` cases of each parametrised test. Markers change that:

- `@pytest.mark.full` leaves the test, or one of its cases, to `--all`;
- `@pytest.mark.quick(cases=n)` selects n cases;
- `@pytest.mark.quick(cases=n, by=group)` selects n cases of each group, where `group` is a function
  of the dict of a case's parameters. A test over codec x sample groups by codec, so that each codec
  has a case: `helpers.every_codec.over` is that decorator.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import pytest

CASES = 2  # of each group of cases in the quick tier


def quick_tier(
    items: Sequence[pytest.Item], cases: int = CASES
) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Return the items of the quick tier and the others, in their order.

    Cases of one function, or of one of its groups, are selected by a hash of their common name:
    functions over the same cases run different ones, the same in every run.
    """
    groups: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if not item.get_closest_marker("full"):
            groups[_group(item)].append(item)
    quick = {
        id(item)
        for name, members in groups.items()
        for item in _selected(name, members, _options(members[0]).get("cases", cases))
    }
    selected = [item for item in items if id(item) in quick]
    return selected, [item for item in items if id(item) not in quick]


def _options(item: pytest.Item) -> dict[str, Any]:
    marker = item.get_closest_marker("quick")
    return {} if marker is None else dict(marker.kwargs)


def _group(item: pytest.Item) -> str:
    """Return the name of the function, and of the item's group if the function has groups."""
    name, group = item.nodeid.partition("[")[0], _options(item).get("by")
    return name if group is None else f"{name} {group(item.callspec.params)}"  # type: ignore[attr-defined]


def _selected(name: str, items: list[pytest.Item], cases: int) -> list[pytest.Item]:
    """Return `cases` items at equal distances, from a first one that depends on the name."""
    n = len(items)
    if n <= cases:
        return items
    first = zlib.crc32(name.encode()) % n
    return [items[(first + k * n // cases) % n] for k in range(cases)]
