"""Damaged input of all codecs and formats is refused or decoded, by a fixed number of attempts.

`pytest --all tests/fuzz --fuzz-seconds 120 --fuzz-seed 7` makes other attempts, for so long each.
"""

from __future__ import annotations

import sys

import pytest

from fuzz import codecs, formats, indexes, stores, strings
from fuzz.runs import run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs mprotect as Linux has it")

OF_CODECS, OF_FORMATS = 800, 25  # attempts; to start takes 3 s of CPU a target, most of all
OF_MIRIAD = 4  # each is read in a process of its own, which imports pyuvdata
TARGETS = {
    **dict.fromkeys([*codecs.targets(), *strings.targets(), *indexes.targets()], OF_CODECS),
    **dict.fromkeys([*stores.targets(), *formats.targets()], OF_FORMATS),
    "format-miriad": OF_MIRIAD,
}


@pytest.mark.quick(cases=1, by=lambda parameters: parameters["name"].partition("-")[0])
@pytest.mark.parametrize(("name", "count"), TARGETS.items(), ids=TARGETS)
def test_no_error_but_ours_and_no_crash(
    name: str, count: int, request: pytest.FixtureRequest
) -> None:
    seconds, seed = (request.config.getoption(f"--fuzz-{what}") for what in ("seconds", "seed"))
    if seconds is None:
        found = run(name, seed=seed, count=count, seconds=600)
        assert found.attempts == count
    else:
        found = run(name, seed=seed, count=1 << 40, seconds=seconds)
    assert not found.findings
    assert found.refused
