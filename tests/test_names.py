"""Tests have the same names in every process: else workers side by side refuse the whole run."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SECOND = 1.1  # a name that holds the time, as a gzip header does, differs from here on


def collecting(seed: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "pytest", "tests", "--collect-only", "-q", "-m", ""]
    return subprocess.Popen(
        [*command, "-p", "no:cacheprovider"],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": str(seed)},
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.full  # collects all tests twice
def test_names_are_the_same_in_two_processes() -> None:
    first = collecting(1)
    time.sleep(SECOND)
    second = collecting(2)
    one, other = (process.communicate()[0].splitlines() for process in (first, second))
    names = [line for line in one if "::" in line]
    assert first.returncode == second.returncode == 0
    assert len(names) > 1000
    assert names == [line for line in other if "::" in line]
