"""Off a terminal a line a minute says how far a job is; --verbose logs, and only then."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.command_line import CommandLine
from helpers.envi_files import cube, write_envi
from helpers.hang import HANG, wait_until

from gangsaw.tasks.console.output import AddLines, progress_bar
from gangsaw.tasks.engine.report.counters import count_job
from gangsaw.tasks.engine.report.progress import Progress

HALF = Progress(5, 10, 0, 5 << 20, 1 << 20, 5 << 20, 100.0)


def test_a_line_a_minute(capsys: pytest.CaptureFixture[str]) -> None:
    now = 0.0
    show = AddLines(lambda: now)("compress", lambda state: f"{state.done} of {state.total}")
    lines = []
    for now in (1.0, 59.9, 60.0, 61.0, 119.0, 120.5, 500.0):
        show(replace(HALF, done=int(now)))
        lines.append(capsys.readouterr().err)
    said = [f"compress  {n} of 10\n" for n in (60, 120, 500)]
    assert lines == ["", "", said[0], "", "", *said[1:]]


def test_a_job_that_makes_no_progress_writes_its_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that is stopped, a disk that hangs: nothing calls for a line but the clock."""
    monkeypatch.setattr("gangsaw.tasks.console.output.LOOK_SECONDS", 0.001)
    now, said = 0.0, ""

    def has_said(n: int) -> bool:
        nonlocal said
        said += capsys.readouterr().err
        return said.count("\n") >= n

    with AddLines(lambda: now).write_each_minute() as add:
        show = add("compress", lambda state: f"{state.done} of {state.total}")
        now = 60.0
        wait_until(lambda: has_said(1))
        show(HALF)
        now = 120.0
        wait_until(lambda: has_said(2))
    assert said == "compress  starting\ncompress  5 of 10\n"


def test_what_a_line_says(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gangsaw.tasks.console.output.LINE_SECONDS", 0.0)
    monkeypatch.setattr("gangsaw.tasks.console.output.LOOK_SECONDS", HANG)
    with progress_bar("compress") as show:
        assert show is not None
        show(HALF)
        show(replace(HALF, step="order"))
    first, second = capsys.readouterr().err.splitlines()
    assert first == "compress  5/10 chunks  52.43 kB/s  ratio 5.00  1:40 left"
    assert second.startswith("compress  order  5/10 parts")
    with progress_bar("compress", quiet=True) as show:
        assert show is None


def test_verbose(gangsaw: CommandLine, tmp_path: Path) -> None:
    scene = write_envi(tmp_path / "scene.hdr", cube("uint16", (3, 20, 30)))
    before = list(logging.getLogger("gangsaw").handlers)
    said = gangsaw("compress", scene, tmp_path / "a.zarr", "--workers", 0, "-v").err
    assert "goes to gangsaw.ccsds123: gangsaw.ccsds123 is" in said
    assert "1 chunks of 1 arrays" in said
    assert "compress done after" in said
    assert logging.getLogger("gangsaw").handlers == before
    gangsaw.ok("compress", scene, tmp_path / "b.zarr", "--workers", 0)


def test_where_the_time_went(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "gangsaw"), count_job("compress", "a.zarr") as tally:
        tally.attribute_to_chunks("gangsaw.dna")
        tally.attribute_to_worker("worker-1", "cpu", 2.5)
    assert "2.5 s in tasks of gangsaw.dna on worker-1 (cpu)" in caplog.text


def test_figures_of_decompress(gangsaw: CommandLine, tmp_path: Path) -> None:
    scene = write_envi(tmp_path / "scene.hdr", cube("uint16", (3, 20, 30)))
    gangsaw.ok("compress", scene, tmp_path / "a.zarr", "--workers", 0)
    found = gangsaw.ok("decompress", tmp_path / "a.zarr", tmp_path / "b.zarr", "--json").figures
    assert (found["targets"], found["left_out"]) == ([str(tmp_path / "b.zarr")], [])
    assert (found["chunks"], found["raw_bytes"]) == (1, 3 * 20 * 30 * 2)
