"""Kernels that are compiled are told of: by commands on stderr, by the library in its log."""

from __future__ import annotations

import logging
import os
import pty
import subprocess
import sys
from pathlib import Path
from threading import Event

import pytest
from helpers.hang import HANG

from gangsaw.codecs.core.numba.packs import compile_counts
from gangsaw.codecs.core.numba.packs.compile_counts import (
    FOLDER,
    QUIET_SECONDS,
    KernelCount,
    sum_counts,
)
from gangsaw.tasks.precompile import shown
from gangsaw.tasks.precompile.shown import drawn_by, show_kernels

LINE = "compiling 12 kernels, once"


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
def _own_counters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_counts, "counters", compile_counts.CompileCounters())
    monkeypatch.delenv(FOLDER, raising=False)
    monkeypatch.setattr(shown, "LOOK", 0.01)


def compile_for(seconds: float, count: int = 1) -> None:
    """Tell of an outermost kernel that took so long, with those that it calls."""
    for _ in range(count):
        compile_counts.compiled("a:b", seconds)
    compile_counts.done(seconds)


def test_what_all_processes_compiled_is_shown_after_two_seconds() -> None:
    drawn = Drawn()
    with show_kernels(), drawn_by(drawn):
        folder = Path(os.environ[FOLDER])
        compile_for(QUIET_SECONDS / 2, 4)
        compile_counts._write(folder / "1", KernelCount(8, QUIET_SECONDS))
        assert drawn.drawn.wait(HANG)
    assert FOLDER not in os.environ
    assert drawn.counts == [KernelCount(12, 1.5 * QUIET_SECONDS)]
    assert drawn.counts[0].line() == LINE


def test_what_lists_expect_is_shown(tmp_path: Path) -> None:
    compile_counts._write(tmp_path / "7", KernelCount(5, 3.0, 197))
    compile_counts._write(tmp_path / "8", KernelCount(9, 3.0))
    assert sum_counts(tmp_path).line() == LINE.replace("12", "14 of 197")
    assert KernelCount(198, 3.0, 197).line() == LINE.replace("12", "198")


def test_what_is_done_is_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown, "OVER", 0.0)
    drawn = Drawn()
    with show_kernels(), drawn_by(drawn):
        assert drawn.cleared.wait(HANG)
    assert not drawn.counts


def test_short_compilations_are_not_shown(tmp_path: Path) -> None:
    drawn = Drawn()
    compile_counts._write(tmp_path / "7", KernelCount(5, QUIET_SECONDS / 2))
    with drawn_by(drawn):
        shown._watch(tmp_path, ended(2), shown.KernelLine())
        assert not drawn.counts
        compile_counts._write(tmp_path / "7", KernelCount(5, QUIET_SECONDS))
        shown._watch(tmp_path, ended(2), shown.KernelLine())
    assert drawn.counts == [KernelCount(5, QUIET_SECONDS)]


def ended(looks: int) -> Event:
    """An event that comes after so many looks, of which none takes time."""

    class Ends(Event):
        left = looks

        def wait(self, timeout: float | None = None) -> bool:
            self.left -= 1
            return self.left < 0

    return Ends()


def test_nothing_is_written_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    line = shown.KernelLine()
    with line.cleared_by_output():
        line.draw(KernelCount(12, 30.0))
        sys.stdout.write("figures\n")
    line.clear()
    assert capsys.readouterr() == ("figures\n", "")


WRITES = """
import sys
from gangsaw.codecs.core.numba.packs.compile_counts import KernelCount
from gangsaw.tasks.precompile.shown import KernelLine

line = KernelLine()
with line.cleared_by_output():
    for number in (11, 12):
        line.draw(KernelCount(number, 3.0))
    sys.stdout.write("text\\n")
    line.draw(KernelCount(13, 3.0))
    sys.stdout.buffer.write(memoryview(b"@read\\nACG"))
    line.draw(KernelCount(14, 3.0))
    sys.stdout.buffer.writelines([b"T\\n"])
    line.draw(KernelCount(15, 3.0))
    sys.stderr.write("message\\n")
    line.draw(KernelCount(16, 3.0))
    from rich.console import Console
    Console(color_system=None).print("table")
    line.draw(KernelCount(17, 3.0))
line.clear()
line.clear()
"""


def test_on_a_terminal_the_line_is_gone_before_anything_is_written() -> None:
    """Of text, bytes, messages and tables; and none is drawn behind half a line."""
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-c", WRITES], stdout=theirs, stderr=theirs, check=True, timeout=HANG
    )
    os.close(theirs)
    said = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert done.returncode == 0
    counted = [LINE.replace("12", str(number)) for number in range(11, 18)]
    gone = "\r\x1b[K"
    assert said.replace("\r\n", "\n") == (
        f"{gone}{counted[0]}{gone}{counted[1]}{gone}text\n"
        f"{gone}{counted[2]}{gone}@read\nACGT\n"
        f"{gone}{counted[4]}{gone}message\n"
        f"{gone}{counted[5]}{gone}table\n"
        f"{gone}{counted[6]}{gone}"
    )


def test_a_sum_never_falls_while_a_process_writes(tmp_path: Path) -> None:
    compile_counts._write(tmp_path / "7", KernelCount(5, 3.0))
    (tmp_path / ".7").write_text("", encoding="ascii")  # half written
    assert sum_counts(tmp_path) == KernelCount(5, 3.0)


def test_the_library_says_nothing_but_in_its_log(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.INFO, "gangsaw.kernels"):
        compile_for(QUIET_SECONDS / 2, 11)
        assert not caplog.messages
        compile_for(QUIET_SECONDS)
        compile_for(QUIET_SECONDS)
    assert caplog.messages == [LINE]
    assert capfd.readouterr() == ("", "")


def test_who_starts_a_process_shows_what_it_compiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    with show_kernels():
        compile_for(QUIET_SECONDS, 3)
        assert os.environ[FOLDER] == str(tmp_path)
    assert sum_counts(tmp_path) == KernelCount(3, QUIET_SECONDS)
