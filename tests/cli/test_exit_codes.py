"""What a shell sees: exit codes, pipes that close, colours, paths that look like options."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.command_line import CommandLine
from helpers.envi_files import cube, write_envi

COMMAND = "import sys; from gangsaw.cli import main; sys.exit(main())"


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    return write_envi(tmp_path / "scene.hdr", cube("uint16", (3, 20, 30)))


def test_no_arguments_are_a_question_for_help(gangsaw: CommandLine) -> None:
    assert "Usage: gangsaw" in gangsaw.ok().out
    assert gangsaw.ok("--version").out.startswith("gangsaw ")


def test_usage_is_2_and_failure_1(gangsaw: CommandLine, tmp_path: Path, scene: Path) -> None:
    gangsaw("info", scene, "--nope").failed(2)
    gangsaw.ok("compress", scene, tmp_path / "a.zarr", "--workers", 0, "--codec", "none")
    next((tmp_path / "a.zarr" / "data" / "c").rglob("0")).parent.rename(tmp_path / "gone")
    assert gangsaw("verify", tmp_path / "a.zarr").code == 1


def test_a_pipe_that_closes_is_no_news(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)  # as of a head that has seen enough
    with os.fdopen(writer) as gone:
        done = subprocess.run(
            [sys.executable, "-c", COMMAND, "--help"], stdout=gone, stderr=subprocess.PIPE
        )
    assert done.stderr == b""
    assert done.returncode != 0


def test_colours_are_for_those_who_want_them(
    gangsaw: CommandLine, tmp_path: Path, scene: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gangsaw.ok("compress", scene, tmp_path / "a.zarr", "--workers", 0, "--codec", "none")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1m" in gangsaw.ok("info", tmp_path / "a.zarr").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in gangsaw.ok("info", tmp_path / "a.zarr").out


def test_a_path_may_begin_with_a_dash(
    gangsaw: CommandLine, tmp_path: Path, scene: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = ("--workers", 0, "--codec", "zstd", "--codec", "none")  # the last one counts
    gangsaw.ok("compress", *options, "--", "scene.hdr", "-a.zarr")
    found = gangsaw.ok("info", "--json", "--", "-a.zarr").figures
    assert found["arrays"][0]["codec"] == "none"
    assert "--traceback" in gangsaw("info", "--", "--traceback").failed(2)
