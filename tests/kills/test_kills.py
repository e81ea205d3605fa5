"""Commands that are killed lose nothing; `python -m kills` does it as often as is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from kills.commands import COMMANDS
from kills.killing import Killing

KILLS = 2


@pytest.mark.full  # the quick tier kills jobs by tests/tasks/jobs/test_kill.py
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads sessions from /proc")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_is_killed_ends_as_if_it_was_not(tmp_path: Path, name: str) -> None:
    counts = Killing(COMMANDS[name], tmp_path, seed=len(name)).go(KILLS)
    assert counts.kills >= KILLS
    assert counts.whole >= 1
