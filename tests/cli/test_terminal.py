"""What a user sees while a command works: a bar on a terminal, nothing elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.envi_files import cube, write_envi

pty = pytest.importorskip("pty", reason="needs pseudo-terminals, as POSIX has them")

COMMAND = "import sys; from gangsaw.cli import main; sys.exit(main())"
CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")  # colours, and moves of the cursor
PLAIN = ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")  # rich reads these


def environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in PLAIN}
    return kept | {"TERM": "xterm-256color", "COLUMNS": "120", "LINES": "40"}


def drawn(*args: object) -> str:
    """Run a command with a pseudo-terminal for stderr; return what it drew there."""
    ours, its = pty.openpty()
    command = [sys.executable, "-c", COMMAND, *map(str, args)]
    with subprocess.Popen(
        command, env=environment(), stdin=its, stdout=subprocess.DEVNULL, stderr=its
    ) as job:
        os.close(its)
        text = b"".join(iter(lambda: read(ours), b"")).decode()
    os.close(ours)
    assert job.returncode == 0, text
    return CODES.sub("", text)


def read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # Linux says so when the other end is closed
        return b""


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    return write_envi(tmp_path / "scene.hdr", cube("uint16", (4, 160, 160)))


def job(scene: Path, target: str) -> tuple[object, ...]:
    """A job of 1600 chunks: long enough for some states of the bar to be drawn."""
    chunks = ("--chunks", "y=4,x=4", "--codec", "none")
    return ("compress", scene, scene.with_name(target), *chunks, "--workers", 0)


def test_a_bar_on_a_terminal(scene: Path) -> None:
    text = drawn(*job(scene, "a.zarr"))
    assert "compress" in text
    assert "━" in text
    assert re.search(r"100% +1600/1600 chunks +[\d.]+ [kM]?B/s +ratio 1\.00", text), text
    under_way = re.findall(r"(\d+)/1600 chunks +[\d.]+ [kM]?B/s +ratio 1\.00 +\d+:\d\d left", text)
    assert any(0 < int(done) < 1600 for done in under_way), text


@pytest.mark.full
def test_a_bar_for_each_step_of_the_demo(tmp_path: Path) -> None:
    options = ("--size", "8,64,64", "--workers", 0, "--out", tmp_path / "out")
    text = drawn("demo", *options)
    for step in ("compress", "verify", "decompress", "compare"):
        assert re.search(rf"{step} +━", text), (step, text)


@pytest.mark.full
def test_no_bar_when_quiet(scene: Path) -> None:
    assert drawn(*job(scene, "a.zarr"), "--quiet") == ""
    assert drawn(*job(scene, "b.zarr"), "--json") == ""


def test_no_bar_where_there_is_no_terminal(scene: Path) -> None:
    command = [sys.executable, "-c", COMMAND, *map(str, job(scene, "a.zarr"))]
    done = subprocess.run(command, env=environment(), capture_output=True, check=True)
    assert done.stderr == b""
    assert b"\x1b" not in done.stdout
