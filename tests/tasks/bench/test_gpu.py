"""The page of results on a GPU: all of it from the stand-in, nothing lost without a device."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from emulator.host_module import schedule

from gangsaw.codecs import Dna
from gangsaw.tasks.bench import device as figures
from gangsaw.tasks.bench.data import synthetic_sample
from gangsaw.tasks.radio.synthetic import make_visibilities

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
LOGS = {
    "tests": "FAILED tests/test_a.py::b - E\n1 failed, 11 passed, 900 deselected in 3.21s\n",
    "memcheck": "12 passed, 900 deselected in 3.21s\n========= ERROR SUMMARY: 0 errors\n",
    "synccheck": "12 passed in 9s\n========= ERROR SUMMARY: 0 errors\n",
    "initcheck": "12 passed in 9s\n========= ERROR SUMMARY: 0 errors\n",
    "racecheck": "12 passed in 9s\n========= RACECHECK SUMMARY: 2 hazards displayed (1 error)\n",
}


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The program, with its own page; there is no CuPy, where no fixture brings it."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    import bench_gpu

    monkeypatch.setattr(bench_gpu, "PAGE", tmp_path / "RESULTS-GPU.md")
    return bench_gpu


def run(page: Any, monkeypatch: pytest.MonkeyPatch, *arguments: object) -> str:
    """Run the program; return its page."""
    assert exit_status(page, monkeypatch, *arguments) == 0
    return str(page.PAGE.read_text())


def leave_setups(page: Any, monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let parity be of some set-ups alone."""
    parity = page.bench_parity_gpu.parity
    some = {name: setup for name, setup in parity.setups().items() if name in names}
    assert len(some) == len(names)
    monkeypatch.setattr(parity, "setups", lambda: some)


@pytest.mark.usefixtures("no_cupy")
def test_without_a_device_the_page_says_so(
    page: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_status(page, monkeypatch, "--measure", "nothing") == 0
    text = capsys.readouterr().out
    assert "No device has measured anything yet." in text
    visibilities = 2 * len(page.bench_visibility_gpu.CASES)  # both directions of each
    n_rows = len(figures.CASES) + visibilities + len(page.bench_tcr_gpu.CASES) + len(LOGS)
    n_rows += 2 * len(page.bench_dna_gpu.CASES) + len(page.bench_reads_gpu.KINDS) + 1
    n_rows += len(page.bench_bwt_gpu.KINDS)
    n_rows += len({setup.group for setup in page.bench_parity_gpu.parity.setups().values()})
    assert text.count("not measured yet") == n_rows
    assert text.count("| `bash deploy/gpu/measure.sh` |") == n_rows


@pytest.mark.usefixtures("no_cupy")
def test_without_a_device_measuring_fails(page: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert exit_status(page, monkeypatch) == 1


@pytest.mark.usefixtures("no_cupy")
@pytest.mark.parametrize("before", ["measured on a device", None])
def test_without_figures_no_page_is_written(
    page: Any, monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    if before:
        page.PAGE.write_text(before)
    for part in ("all", "nothing"):
        with pytest.raises(SystemExit, match="left as it is: nothing was measured"):
            exit_status(page, monkeypatch, "--write", "--measure", part)
    assert (page.PAGE.read_text() if page.PAGE.exists() else None) == before


@pytest.mark.parametrize(
    ("seconds", "asked"),
    [
        (0.1, [(1, 1), (2, 1), (4, 1), (8, 1), (8, 2)]),
        (0.001, [(1, 1), (2, 1), (4, 1), (8, 1), (16, 2)]),
    ],
)
@pytest.mark.parametrize("cupy", ["emulated"], indirect=True)
def test_a_batch_doubles_until_a_call_is_long_or_it_is_full(
    cupy: Any, seconds: float, asked: list[tuple[int, int]]
) -> None:
    chunk = np.zeros(1 << 10, np.uint8)
    bench = figures.ChunkBench(Dna().coder(chunk.shape, chunk.dtype), [chunk], 2, 1 << 14)
    seen: list[tuple[int, int]] = []

    def timed(n: int, rounds: int) -> figures.Timing:
        seen.append((n, rounds))
        return figures.Timing(n, 0, n * seconds)

    assert bench._grown(timed).samples == asked[-1][0]
    assert seen == asked


@pytest.mark.parametrize("cupy", ["emulated"], indirect=True)
def test_one_run_writes_page_and_figures(
    cupy: Any,
    page: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, text in LOGS.items():
        (tmp_path / f"{name}.log").write_text(text)
    monkeypatch.setattr(page, "synthetic_sample", lambda **_: synthetic_sample((5, 16, 12)))
    monkeypatch.setattr(figures, "COPY_BYTES", 1 << 12)
    monkeypatch.setattr(figures, "LAUNCH_BYTES", 1 << 12)
    small = partial(figures.Workbench, batch_bytes=1 << 13)
    monkeypatch.setattr(page, "Workbench", small)
    visibility = page.bench_visibility_gpu
    monkeypatch.setattr(visibility, "ChunkBench", partial(figures.ChunkBench, batch_bytes=1 << 13))
    cube = make_visibilities(2, 4, 4).data
    monkeypatch.setattr(visibility.visibility_data, "synthetic", lambda: cube)
    dna = page.bench_dna_gpu
    monkeypatch.setattr(dna, "LETTERS", 1 << 12)
    monkeypatch.setattr(dna, "ChunkBench", partial(figures.ChunkBench, batch_bytes=1 << 12))
    reads = page.bench_reads_gpu
    monkeypatch.setattr(reads, "TEXT_BYTES", 1 << 13)
    monkeypatch.setattr(reads, "ChunkBench", partial(figures.ChunkBench, batch_bytes=1 << 13))
    bwt = page.bench_bwt_gpu
    monkeypatch.setattr(bwt, "TEXT_BYTES", 1 << 12)
    monkeypatch.setattr(bwt, "ChunkBench", partial(figures.ChunkBench, batch_bytes=1 << 12))
    monkeypatch.setattr(page.bench_tcr_gpu, "REFERENCES", 40)
    monkeypatch.setattr(page.bench_tcr_gpu, "TASK", 16)
    leave_setups(page, monkeypatch, "ccsds123 one-sample", "tcr DP-1, no D", "visibility mean")
    arguments = ("--write", "--json", "--rounds", 1, "--logs", tmp_path)
    with schedule(checks=False):
        text = run(page, monkeypatch, *arguments)
    assert "not measured yet" not in text
    assert "| tcr, 1 samples | 0 differences | <= 0 | yes |" in text
    assert "| visibility, 1 samples | not measured: these run on the CPU | <= 0 |" in text
    assert "emulated device, sm_90" in text
    assert f"| {page.TESTS} | 1 tests | <= 0 | **no** | 11 passed |" in text
    assert "| compute-sanitizer memcheck, tests on a device | 0 errors | <= 0 | yes |" in text
    assert "| compute-sanitizer racecheck, tests on a device | 2 errors | <= 0 | **no** |" in text
    assert '"sections"' in capsys.readouterr().out


@pytest.mark.parametrize("cupy", ["emulated"], indirect=True)
def test_wrong_bytes_are_on_the_page(
    cupy: Any, page: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """They are measured within a limit; the page is made of rows on disk, later and elsewhere."""
    parity, rows = page.bench_parity_gpu.parity, tmp_path / "rows.jsonl"
    leave_setups(page, monkeypatch, "ccsds123 blocks", "ccsds123 one-sample")
    known = parity.known()
    known["ccsds123 blocks"]["block 2"] ^= 1
    monkeypatch.setattr(parity, "known", lambda: known)
    arguments = ["--rows", rows, "--write"]
    with schedule(checks=False):
        status = exit_status(page, monkeypatch, "--measure", "parity", "--limit", 99, *arguments)
    assert status == 1
    assert rows.read_text().count('"section"') == 2
    page.PAGE.unlink()
    assert exit_status(page, monkeypatch, "--measure", "nothing", *arguments) == 1
    text = page.PAGE.read_text()
    assert "| ccsds123 blocks | 1 differences | <= 0 | **no** | block 2 |" in text
    assert "| ccsds123, 1 samples | 0 differences | <= 0 | yes |" in text
    assert "emulated device, sm_90" in text


@pytest.mark.parametrize("cupy", ["emulated"], indirect=True)
def test_what_there_was_no_time_for_is_told(
    cupy: Any,
    page: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in LOGS:
        (tmp_path / f"{name}.log").write_text("....not measured: time limit\n")
    assert exit_status(page, monkeypatch, "--limit", 0, "--logs", tmp_path) == 1
    text = capsys.readouterr().out
    rows = [line for line in text.splitlines() if line.startswith("| ") and "| asked |" not in line]
    assert rows
    assert all("| not measured: time limit |" in row for row in rows)


def exit_status(page: Any, monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    """Run the program; return its exit status."""
    monkeypatch.setattr(sys, "argv", ["bench_gpu.py", *map(str, arguments)])
    return int(page.main())


def test_benchmarks_on_a_gpu_hold_rows_alone() -> None:
    """How seconds are measured is in the package, once."""
    for path in BENCHMARKS.glob("bench_*gpu.py"):
        assert "perf_counter" not in path.read_text(), path
