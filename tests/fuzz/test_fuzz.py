"""Damaged input of all codecs and formats is refused or decoded, by a fixed number of attempts.

`--fuzz-seconds` and `--fuzz-seed` take longer and elsewhere: `pytest -m slow tests/fuzz`.
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


@pytest.mark.parametrize(("name", "count"), TARGETS.items(), ids=TARGETS)
def test_no_error_but_ours_and_no_crash(name: str, count: int) -> None:
    found = run(name, seed=0, count=count, seconds=600)
    assert not found.findings
    assert found.attempts == count
    assert found.refused


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_long_runs(name: str, request: pytest.FixtureRequest) -> None:
    seconds, seed = (request.config.getoption(f"--fuzz-{what}") for what in ("seconds", "seed"))
    found = run(name, seed=seed, count=1 << 40, seconds=seconds)
    assert not found.findings
