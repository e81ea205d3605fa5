"""Kernels that are compiled are told of: by commands on stderr, by the library in its log."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from threading import Event

import pytest

from gangsaw.codecs.core.numba.kept import telling
from gangsaw.codecs.core.numba.kept.telling import FOLDER, PATIENCE, SELDOM, KernelCount, told
from gangsaw.tasks.kernels import shown
from gangsaw.tasks.kernels.shown import drawn_by, kernels_told

LONG = 60.0  # seconds: an event comes at once, else the test fails
LINE = "compiling kernels for this processor, once: 12 so far"


class Drawn:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.counts: list[KernelCount] = []
        self.drawn, self.cleared = Event(), Event()

    def draw(self, found: KernelCount) -> None:
        self.counts.append(found)
        self.drawn.set()

    def clear(self) -> None:
        self.cleared.set()


@pytest.fixture(autouse=True)
def _own_tally(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telling, "tally", telling.CompileTally())
    monkeypatch.delenv(FOLDER, raising=False)
    monkeypatch.setattr(shown, "LOOK", 0.01)


def compile_for(seconds: float, count: int = 1) -> None:
    """Tell of an outermost kernel that took so long, with those that it calls."""
    for _ in range(count):
        telling.compiled("a:b", seconds)
    telling.done(seconds)


def test_what_all_processes_compiled_is_shown_after_two_seconds() -> None:
    drawn = Drawn()
    with kernels_told(), drawn_by(drawn):
        folder = Path(os.environ[FOLDER])
        compile_for(PATIENCE / 2, 4)
        telling._write(folder / "1", KernelCount(8, PATIENCE))
        assert drawn.drawn.wait(LONG)
    assert FOLDER not in os.environ
    assert drawn.counts == [KernelCount(12, 1.5 * PATIENCE)]
    assert drawn.counts[0].line() == LINE


def test_what_is_done_is_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown, "OVER", 0.0)
    drawn = Drawn()
    with kernels_told(), drawn_by(drawn):
        assert drawn.cleared.wait(LONG)
    assert not drawn.counts


def test_short_compilations_are_not_shown(tmp_path: Path) -> None:
    drawn = Drawn()
    telling._write(tmp_path / "7", KernelCount(5, PATIENCE / 2))
    with drawn_by(drawn):
        shown._watch(tmp_path, ended(2))
        assert not drawn.counts
        telling._write(tmp_path / "7", KernelCount(5, PATIENCE))
        shown._watch(tmp_path, ended(2))
    assert drawn.counts == [KernelCount(5, PATIENCE)]


def ended(looks: int) -> Event:
    """An event that comes after so many looks, of which none takes time."""

    class Ends(Event):
        left = looks

        def wait(self, timeout: float | None = None) -> bool:
            self.left -= 1
            return self.left < 0

    return Ends()


def test_lines_are_seldom(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = [1000.0]
    monkeypatch.setattr(shown.time, "monotonic", lambda: clock[0])
    lines = shown._KernelLines()
    for seconds in (0.0, SELDOM / 2, SELDOM / 2):
        clock[0] += seconds
        lines.draw(KernelCount(12, 3.0))
    lines.clear()
    assert capsys.readouterr().err == f"{LINE}\n" * 2


def test_on_a_terminal_one_line_is_drawn_anew(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    lines = shown._KernelLines()
    lines.draw(KernelCount(11, 3.0))
    lines.draw(KernelCount(12, 3.0))
    lines.clear()
    lines.clear()
    said = capsys.readouterr().err
    assert "\n" not in said
    assert said.split("\r\x1b[K")[1:] == [LINE.replace("12", "11"), LINE, ""]


def test_a_sum_never_falls_while_a_process_writes(tmp_path: Path) -> None:
    telling._write(tmp_path / "7", KernelCount(5, 3.0))
    (tmp_path / ".7").write_text("", encoding="ascii")  # half written
    assert told(tmp_path) == KernelCount(5, 3.0)


def test_the_library_says_nothing_but_in_its_log(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.INFO, "gangsaw.kernels"):
        compile_for(PATIENCE / 2, 11)
        assert not caplog.messages
        compile_for(PATIENCE)
        compile_for(PATIENCE)
    assert caplog.messages == [LINE]
    assert capfd.readouterr() == ("", "")


def test_who_starts_a_process_shows_what_it_compiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    with kernels_told():
        compile_for(PATIENCE, 3)
        assert os.environ[FOLDER] == str(tmp_path)
    assert told(tmp_path) == KernelCount(3, PATIENCE)
