"""Rows as they are measured, and the end of the time for them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import limited_run as limited
import pytest
from helpers.hang import HANG
from rows_file import RowsFile, read

REPOSITORY = Path(__file__).parents[3]
LIMIT = 20 * int(HANG)  # seconds of the script
SCRIPT = REPOSITORY / "deploy" / "gpu" / "measure.sh"


def plan(**works: Callable[[], float]) -> dict[str, list[Any]]:
    """One section: a row for each work, with what it returns."""
    from gangsaw.tasks.bench.table import Measurement, Row

    def task(name: str, work: Callable[[], float]) -> Measurement:
        return Measurement(Row(name, None, "s"), lambda: Row(name, work(), "s"))

    return {"a": [task(*pair) for pair in works.items()]}


def run(path: Path, works: Any, limit: float | None = None) -> Any:
    made = limited.LimitedRun(RowsFile(path), limit)
    made.measure(works)
    return made


def figures(path: Path) -> dict[str, float | str]:
    """What is in a file of rows, by what they measure: a figure, or why there is none."""
    rows = read(path).rows.values()
    return {row.what: row.why if row.value is None else row.value for row in rows}


def test_a_row_is_in_the_file_before_the_next_begins(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    seen: list[int] = []

    def work() -> float:
        seen.append(len(path.read_text().splitlines()) if path.exists() else 0)
        return 1.0

    run(path, plan(x=work, y=work, z=work))
    assert seen == [0, 1, 2]
    assert figures(path) == {"x": 1, "y": 1, "z": 1}


def test_a_line_that_was_cut_off_costs_one_row(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    run(path, plan(x=lambda: 1.0, y=lambda: 2.0))
    path.write_text(path.read_text()[:-9])
    assert figures(path) == {"x": 1}


def test_a_row_that_fails_keeps_no_other_from_it(tmp_path: Path) -> None:
    def fail() -> float:
        raise ValueError("no | such\nthing")

    path = tmp_path / "rows.jsonl"
    assert run(path, plan(x=fail, y=lambda: 2.0)).failed
    assert figures(path) == {"x": "ValueError: no / such", "y": 2}


@pytest.fixture
def hour(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Lets so many seconds pass, of the clock that runs look at."""
    now = [0.0]
    monkeypatch.setattr(limited, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def pass_by(seconds: float) -> None:
        now[0] += seconds

    return pass_by


def test_no_row_is_begun_that_cannot_end_in_time(tmp_path: Path, hour: Any) -> None:
    def work() -> float:
        hour(400)
        return 1.0

    path = tmp_path / "rows.jsonl"
    made = run(path, plan(x=work, y=work, z=work), limit=1000)
    assert figures(path) == {"x": 1, "y": 1, "z": "time limit"}
    assert not made.failed


def test_what_was_measured_along_with_a_row_is_not_left_out(tmp_path: Path, hour: Any) -> None:
    from gangsaw.tasks.bench.table import Measurement, Row

    def slow() -> Row:
        hour(300)
        return Row("x", 1.0, "s")

    free = Measurement(Row("y", None, "s"), lambda: Row("y", 2.0, "s"), quick=True)
    late = Measurement(Row("z", None, "s"), lambda: Row("z", 3.0, "s"))
    path = tmp_path / "rows.jsonl"
    run(path, {"a": [Measurement(Row("x", None, "s"), slow), free, late, free]}, limit=500)
    assert figures(path) == {"x": 1, "y": 2, "z": "time limit"}


def test_a_figure_stays_where_a_later_run_has_none(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    run(path, plan(x=lambda: 1.0, y=lambda: 1.0))
    run(path, plan(x=lambda: 5.0))
    run(path, plan(y=lambda: 5.0), limit=0.0)
    assert figures(path) == {"x": 5, "y": 1}


STUCK = """
import sys, time
from pathlib import Path
from limited_run import LimitedRun
from rows_file import RowsFile
from gangsaw.tasks.bench.table import Row, Measurement
tasks = [Measurement(Row(n, None, "s"), lambda n=n, s=s: (time.sleep(s), Row(n, 1.0, "s"))[1])
         for n, s in (("quick", 0), ("stuck", 1e6), ("never", 0))]
LimitedRun(RowsFile(Path(sys.argv[1])), 3.0).measure({"a": tasks})
"""


@pytest.mark.full
def test_a_row_without_an_end_is_ended(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    command = [sys.executable, "-c", STUCK, path]
    there = {**os.environ, "PYTHONPATH": str(REPOSITORY / "tests" / "benchmarks")}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=HANG, check=True, env=there
    )
    assert figures(path) == {"quick": 1, "stuck": "time limit", "never": "time limit"}
    assert "_measured" in done.stderr  # where it was stuck


FAKE = """#!/usr/bin/env bash
echo "$*" >>"$CALLS"
case "$*" in
  *lay_out.py*) exit "$MISSING" ;;
  *"-m pytest"*) exec sleep 1000000 ;;
  *"--measure parity"*) exit 1 ;;
esac
"""


# ends the tests at once, as if so many seconds had passed as they may take
TIMEOUT = """#!/usr/bin/env bash
echo "$2" >>"$LIMITS"
case "$*" in
  *"-m pytest"*) set -- "$1" 0.1 "${@:3}" ;;
esac
exec /usr/bin/timeout "$@"
"""


def measured(tmp_path: Path, *arguments: str, missing: int = 0) -> tuple[int, list[str], Path]:
    """Run the script with a Python whose tests have no end and whose bytes are wrong."""
    python, calls, out = tmp_path / "python", tmp_path / "calls", tmp_path / "out"
    timeout = tmp_path / "bin" / "timeout"
    timeout.parent.mkdir()
    for program, text in ((python, FAKE), (timeout, TIMEOUT)):
        program.write_text(text)
        program.chmod(0o755)
    environment = {
        "PATH": f"{timeout.parent}:/usr/bin:/bin",
        "PYTHON": str(python),
        "CALLS": str(calls),
        "LIMITS": str(tmp_path / "limits"),
        "MISSING": str(missing),
    }
    command = ["bash", SCRIPT, "--out", out, *arguments]
    done = subprocess.run(command, env=environment, timeout=HANG, check=False, capture_output=True)
    return done.returncode, calls.read_text().splitlines(), out


def test_the_script_measures_bytes_first_and_ends_in_time(tmp_path: Path) -> None:
    status, calls, out = measured(tmp_path, "--limit", str(LIMIT))
    names = ("ccsds123", "visibility", "dna", "reads", "bwt", "tcr")
    codecs = [f"--measure {name}" for name in names]
    steps = ["lay_out.py", "compile_all.py", "--measure parity", *codecs, "--measure nothing"]
    steps += ["import xdist", "-m pytest", "--measure nothing"]
    for call, step in zip(calls, steps, strict=True):
        assert step in call
    assert "--rounds 3" in calls[3]
    limits = [int(line) for line in (tmp_path / "limits").read_text().splitlines()]
    assert len(limits) == 9
    assert max(limits) + 5 <= LIMIT  # and 5 more before a step is killed
    assert (out / "tests.log").read_text() == "not measured: time limit\n"
    assert status == 1  # bytes are wrong, and yet all went on


def test_nothing_is_measured_where_something_is_missing(tmp_path: Path) -> None:
    status, calls, out = measured(tmp_path, missing=2)
    assert status == 2
    assert len(calls) == 1
    assert not (out / "RESULTS-GPU.md").exists()


def test_the_script_starts_without_a_network_and_names_what_is_missing(tmp_path: Path) -> None:
    cut_off = ["unshare", "--net"] if os.geteuid() == 0 and shutil.which("unshare") else []
    command = [*cut_off, "bash", SCRIPT, "--out", tmp_path]
    environment = {**os.environ, "PYTHON": sys.executable}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if find_spec("cupy") is None:
        assert done.returncode == 2
        assert "missing in" in done.stderr
        assert "cupy-cuda13x" in done.stderr


ONLY_WHAT_IS_NEEDED = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[1:3]
import lay_out
lay_out.lay_out(Path(sys.argv[3]))
sys.path.insert(0, sys.argv[3])
# an editable installation, as of developers, would go before it
sys.meta_path[:] = [one for one in sys.meta_path if "ScikitBuild" not in type(one).__name__]
needed = {*lay_out.NEEDED, "llvmlite", "gangsaw"}

from importlib.metadata import entry_points, packages_distributions
along = {name.replace("_", "-").lower() for name in lay_out.asked_by("zarr")}
others = {
    module for module, brought_by in packages_distributions().items()
    if module not in needed
    and along.isdisjoint(one.replace("_", "-").lower() for one in brought_by)
}
sys.modules |= {name: None for name in others if name not in sys.modules}
import bench_gpu, gangsaw
assert Path(gangsaw.__file__).is_relative_to(sys.argv[3])
rows = bench_gpu.sections({})
print(len(rows), len(entry_points(group="zarr.codecs")))
"""


def test_what_is_named_as_needed_is_enough(tmp_path: Path) -> None:
    paths = [REPOSITORY / "tests" / "benchmarks", SCRIPT.parent, tmp_path / "package"]
    command = [sys.executable, "-c", ONLY_WHAT_IS_NEEDED, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    sections, codecs = map(int, done.stdout.split())
    assert sections == 8
    assert codecs >= 5


def test_the_script_says_what_is_wrong(tmp_path: Path) -> None:
    for arguments, told in (
        (["--limt", "3"], "there is no option --limt"),
        (["--limit"], "--limit wants a value"),
        (["--limit", "1.5"], "--limit must be whole seconds, got 1.5"),
        (["--rounds", "0"], "--rounds must be a number of rounds, got 0"),
    ):
        command = ["bash", SCRIPT, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (2, f"{told}; see --help\n")
    shown = subprocess.run(["bash", SCRIPT, "--help"], capture_output=True, text=True, check=True)
    assert all(option in shown.stdout for option in ("--limit", "--rounds", "--out", "rows.jsonl"))


def test_rows_say_what_they_were_measured_on(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    file = RowsFile(path)
    file.begin({"device": "H200"})
    limited.LimitedRun(file).measure(plan(x=lambda: 1.0))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines[0] == {"about": {"device": "H200"}}
    assert (lines[1]["section"], lines[1]["row"]["what"]) == ("a", "x")
    assert RowsFile(path).measured.about == {"device": "H200"}
