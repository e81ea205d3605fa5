"""Tables of entry points: a broken plugin, and two of one name, cost a warning and no more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from gangsaw.codecs.core import tables

GROUP = "gangsaw.test"


@dataclass(frozen=True)
class Entry:
    """An entry point of a distribution, as importlib.metadata gives it."""

    name: str
    owner: str
    value: Any
    group: str = GROUP

    @property
    def dist(self) -> SimpleNamespace:
        return SimpleNamespace(name=self.owner)

    def load(self) -> Any:
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Entry]]:
    """Entry points that are found in place of those installed."""
    found: list[Entry] = []
    monkeypatch.setattr(
        tables, "entry_points", lambda group: [e for e in found if e.group == group]
    )
    tables.load.cache_clear()
    yield found
    tables.load.cache_clear()


def test_all_of_a_group_by_name(installed: list[Entry]) -> None:
    installed += [Entry("b", "gangsaw", 2), Entry("a", "other", 1), Entry("c", "x", 3, "elsewhere")]
    assert tables.load(GROUP) == {"a": 1, "b": 2}


def test_a_plugin_that_cannot_be_imported(installed: list[Entry]) -> None:
    installed += [Entry("a", "broken-plugin", ImportError("no foo")), Entry("b", "gangsaw", 2)]
    with pytest.warns(RuntimeWarning, match=r"broken-plugin: 'a' .* ImportError: no foo"):
        found = tables.load(GROUP)
    assert found == {"b": 2}
    assert tables.load(GROUP) == found  # without a second warning, which would be an error here


def test_two_of_one_name(installed: list[Entry]) -> None:
    installed += [Entry("a", "another", 1), Entry("a", "gangsaw", 2)]
    with pytest.warns(RuntimeWarning, match="another: 'a' .* a second one: that of gangsaw"):
        found = tables.load(GROUP)
    assert found == {"a": 2}
