"""What may be chosen anew when a job is resumed, and is told then."""

from __future__ import annotations

from pathlib import Path

import pytest

from gangsaw.tasks.tcr.annotation.spool import CHOICE, Spool


def test_other_choices_are_told(tmp_path: Path) -> None:
    spool, first = Spool(tmp_path, ""), {"max_errors": 2, "ratio": 10.0}
    assert spool.chosen(first) == spool.chosen(first) == ()
    told = "max_errors is 1 for all reads; the run that is resumed had 2"
    assert spool.chosen({**first, "max_errors": 1}) == (told,)
    assert spool.chosen({**first, "max_errors": 1}) == ()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"other": 1}'])
def test_what_a_kill_left_says_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / CHOICE).write_text(text)
    assert Spool(tmp_path, "").chosen({"max_errors": 2}) == ()
