"""The quick tier has some cases of every test, and says what it leaves out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from helpers.tiers import quick_tier

TESTS = ("a.py::alone", "a.py::f", "b.py::f")


def collected(cases: int) -> list[Any]:
    names = [TESTS[0], *(f"{test}[{i}]" for test in TESTS[1:] for i in range(cases))]
    return [item(name) for name in names]


def item(name: str, params: Any = None, **markers: Any) -> Any:
    """Return an item that has these markers; a marker's value is the dict of its arguments."""
    found = {name: SimpleNamespace(kwargs=arguments) for name, arguments in markers.items()}
    callspec = SimpleNamespace(params=params)
    return SimpleNamespace(nodeid=name, get_closest_marker=found.get, callspec=callspec)


@pytest.mark.parametrize("cases", [1, 2, 5, 12])
@pytest.mark.parametrize("most", [1, 2, 4, 100])
def test_each_test_keeps_some_cases(cases: int, most: int) -> None:
    items = collected(cases)
    kept, others = quick_tier(items, most)
    assert kept == [item for item in items if item not in others]
    assert others == [item for item in items if item not in kept]
    counts = [sum(item.nodeid.startswith(test) for item in kept) for test in TESTS]
    assert counts == [1, min(cases, most), min(cases, most)]


def test_the_marker_full_leaves_a_test_out() -> None:
    items = [item("a.py::f"), item("a.py::g[1]", full={}), item("a.py::g[2]")]
    assert quick_tier(items) == ([items[0], items[2]], [items[1]])


def test_the_marker_quick_says_how_many_cases_stay() -> None:
    items = [item(f"a.py::g[{i}]", quick={"cases": 5}) for i in range(9)]
    assert len(quick_tier(items)[0]) == 5


@pytest.mark.parametrize("most", [1, 2, 9])
def test_the_marker_quick_selects_cases_of_each_group(most: int) -> None:
    arguments = {"cases": most, "by": lambda params: params["codec"]}
    codecs = ["first"] * 7 + ["second"] * 3 + ["third"]
    items = [
        item(f"a.py::g[{i}]", {"codec": codec, "i": i}, quick=arguments)
        for i, codec in enumerate(codecs)
    ]
    selected = [each.callspec.params["codec"] for each in quick_tier(items)[0]]
    expected = {codec: min(most, codecs.count(codec)) for codec in codecs}
    assert {codec: selected.count(codec) for codec in codecs} == expected


@pytest.mark.full  # it collects three times
def test_the_quick_tier_and_the_others_are_all() -> None:
    """What `.ci/run` calls after the quick tier leaves nothing out and repeats nothing."""
    quick = names()
    others = names("--all", "--except-quick")
    assert quick
    assert others
    assert sorted([*quick, *others]) == sorted(names("--all"))


def names(*options: str) -> list[str]:
    """Return the names of the cases that these options select in one file."""
    file = Path(__file__).with_name("test_golden.py")
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *options, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line for line in done.stdout.splitlines() if "::" in line]
