"""Codec and path counting on a GPU, as a page: what no device has measured yet says so.

python tests/benchmarks/bench_gpu.py                        # printed
python tests/benchmarks/bench_gpu.py --write --logs FOLDER  # into RESULTS-GPU.md

FOLDER holds tests.log of pytest, memcheck.log and racecheck.log of compute-sanitizer;
deploy/gpu/measure.sh makes them.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path

import bench_tcr_gpu
import bench_visibility_gpu

from gangsaw.codecs.core.errors import DeviceError
from gangsaw.tasks.bench.device import Workbench, aviris_scene, device_machine, figures
from gangsaw.tasks.bench.table import Row, dump, markdown, say

PAGE = Path(__file__).parent / "RESULTS-GPU.md"
COMMAND = "bash deploy/gpu/measure.sh"
TITLE, TESTS_TITLE = "CCSDS-123 on a GPU", "Tests on a GPU"
NOTHING_YET = "No device has measured anything yet."
INTRODUCTION = f"""# Results on a GPU

Written by `python tests/benchmarks/bench_gpu.py --write`. On a machine with Python and an NVIDIA
driver one command installs the package, runs the tests that need a device, under compute-sanitizer
too, and fills this page: `{COMMAND}`.

AVIRIS-like chunks of 224 bands and 14 bits in the default store configuration (P=3, reduced).
Kernel time is that between events around each launch, on data larger than the second-level cache;
medians of many rounds. The thesis that founded this codec encoded 0.322 Gsamples/s on its GPU.

Visibilities: the synthetic 8 s cube of `gangsaw.tasks.radio.synthetic`, as often as fills a
batch, in GB/s (10^9 bytes) of raw data.

Recombination paths: a million random mouse-like references, all 275 counts and the calls of each.
"""
TESTS = "tests on a device that fail; two processes on one GPU are among them"
FAILED = re.compile(r"^(?:(\d+) failed, )?(\d+) passed(?!.*error)", re.MULTILINE)
PASSED = re.compile(r"^(\d+) passed(?!.*(?:failed|error))", re.MULTILINE)  # pytest's last line
SUMMARIES = {
    "memcheck": re.compile(r"ERROR SUMMARY: (\d+) error"),
    "racecheck": re.compile(r"RACECHECK SUMMARY: (\d+) hazard"),
}


def sections(logs: Path | None = None, rounds: int = 20) -> dict[str, list[Row]]:
    """Return every row, unmeasured where there is no device, or no log of the sanitizer."""
    bench = _workbench(rounds)
    there = rounds if bench else None
    found = {
        TITLE: _codec(bench),
        bench_visibility_gpu.TITLE: bench_visibility_gpu.rows(there),
        bench_tcr_gpu.TITLE: bench_tcr_gpu.rows(there),
        TESTS_TITLE: _logged(logs),
    }
    return {title: [_marked(row) for row in rows] for title, rows in found.items()}


def _codec(bench: Workbench | None) -> Iterator[Row]:
    for figure in figures(bench):
        say(figure.what)
        yield Row(figure.what, figure.value, figure.unit, figure.target, figure.note)


def _logged(logs: Path | None) -> Iterator[Row]:
    yield _tested(logs)
    for tool, summary in SUMMARIES.items():
        yield _sanitized(tool, summary, logs)


def _workbench(rounds: int) -> Workbench | None:
    try:
        device_machine()
    except DeviceError as error:
        say(f"nothing is measured: {error}")
        return None
    return Workbench(aviris_scene(), rounds)


def _log(logs: Path | None, name: str) -> str:
    log = None if logs is None else logs / f"{name}.log"
    return log.read_text() if log is not None and log.is_file() else ""


def _tested(logs: Path | None) -> Row:
    found = FAILED.search(_log(logs, "tests"))
    failed = int(found[1] or 0) if found else None
    return Row(TESTS, failed, "tests", "<= 0", f"{found[2]} passed" if found else "")


def _sanitized(tool: str, summary: re.Pattern[str], logs: Path | None) -> Row:
    """Errors of all processes; a run whose tests did not all pass has measured nothing."""
    text = _log(logs, tool)
    passed, found = PASSED.search(text), summary.findall(text)
    errors = sum(map(int, found)) if found and passed else None
    note = f"{passed[1]} tests" if passed else ""
    return Row(f"compute-sanitizer {tool}, tests on a device", errors, "errors", "<= 0", note)


def _marked(row: Row) -> Row:
    return replace(row, note=f"`{COMMAND}`") if row.value is None else row


def page(found: Mapping[str, list[Row]]) -> str:
    """Return the page."""
    tables = "\n".join(markdown(title, rows) for title, rows in found.items())
    return f"{INTRODUCTION}\n{_environment()}\n\n{tables}"


def _environment() -> str:
    try:
        about = device_machine()
    except DeviceError:
        return NOTHING_YET
    return ", ".join(f"{k} {v}" for k, v in {**about, "date": date.today().isoformat()}.items())


def main() -> None:
    """Print or write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--logs", type=Path, help="folder of the logs")
    parser.add_argument("--json", action="store_true", help="print JSON instead of Markdown")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    options = parser.parse_args()
    found = sections(options.logs, options.rounds)
    if options.write:
        write(found)
    if options.json:
        sys.stdout.write(dump(found))
    elif not options.write:
        sys.stdout.write(page(found))


def write(found: Mapping[str, list[Row]]) -> None:
    """Write the page; exit rather than put rows without figures in place of a device's figures."""
    text = page(found)
    if NOTHING_YET in text and PAGE.is_file() and NOTHING_YET not in PAGE.read_text():
        sys.exit(f"{PAGE.name} has figures of a device and is left as it is: nothing was measured")
    PAGE.write_text(text)


if __name__ == "__main__":
    main()
