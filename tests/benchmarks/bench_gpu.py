"""Codec and path counting on a GPU, as a page: what no device has measured yet says so.

python tests/benchmarks/bench_gpu.py                        # printed
python tests/benchmarks/bench_gpu.py --write --logs FOLDER  # into RESULTS-GPU.md
python tests/benchmarks/bench_gpu.py --measure parity --rows FILE --limit 60

FOLDER holds tests.log of pytest, and a log of each tool of compute-sanitizer;
deploy/gpu/measure.sh makes them. Each row is appended to FILE, as a line of JSON, as soon as it is
measured; rows that are there already stand on the page, too. The exit status is 1 if bytes differ
from the CPU's, a row failed or there is no figure at all, and then no page is written; running out
of time is no failure.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from functools import cache, partial
from pathlib import Path
from typing import Any

import bench_bwt_gpu
import bench_dna_gpu
import bench_parity_gpu
import bench_reads_gpu
import bench_tcr_gpu
import bench_visibility_gpu
from limited_run import TIME_LIMIT, LimitedRun
from rows_file import Key, RowsFile

from gangsaw.codecs.core.errors import DeviceError
from gangsaw.tasks.bench.data import synthetic_sample
from gangsaw.tasks.bench.device import CASES, Figure, Workbench, device_machine
from gangsaw.tasks.bench.table import Measurement, Row, dump, markdown_table, say

PAGE = Path(__file__).parent / "RESULTS-GPU.md"
COMMAND = "bash deploy/gpu/measure.sh"
TITLE, TESTS_TITLE = "CCSDS-123 on a GPU", "Tests on a GPU"
PARTS = {  # what --measure takes: which sections it means
    "all": lambda _: True,
    "parity": lambda title: title == bench_parity_gpu.TITLE,
    "figures": lambda title: title != bench_parity_gpu.TITLE,
    "ccsds123": lambda title: title == TITLE,
    "visibility": lambda title: title == bench_visibility_gpu.TITLE,
    "dna": lambda title: title == bench_dna_gpu.TITLE,
    "reads": lambda title: title == bench_reads_gpu.TITLE,
    "bwt": lambda title: title == bench_bwt_gpu.TITLE,
    "tcr": lambda title: title == bench_tcr_gpu.TITLE,
    "nothing": lambda _: False,
}
NOTHING_YET = "No device has measured anything yet."
INTRODUCTION = f"""# Results on a GPU

Written by `python tests/benchmarks/bench_gpu.py --write`. On a machine with Python and an NVIDIA
driver one command, in a clone, fills this page and runs the tests that need a device, under
compute-sanitizer too: `{COMMAND}`.

Bytes first: all samples of the tests and all kernels of path counting, held against checksums that
the CPU made (`deploy/gpu/parity.py`); frames that are right are decoded on the device, too.

AVIRIS-like chunks of 224 bands and 14 bits in the default store configuration (P=3, reduced).
Kernel time is that between events around each launch, on data larger than the second-level cache;
medians of several rounds. The thesis that founded this codec encoded 0.322 Gsamples/s on its GPU.
A batch is 8 GiB, or as much as a call of about a second takes. The whole call has frames in
pageable memory of the host, by one thread; jobs have several, with pinned memory: host arrays to
host frames.

Visibilities: the synthetic 8 s cube of `gangsaw.tasks.radio.synthetic`, as often as fills a
batch, in GB/s (10^9 bytes) of raw data.

Recombination paths: a million random mouse-like references, all 275 counts and the calls of each.

Nucleotides: random bases as often as fills a batch, in 10^9 bases. Predicted: packing and unpacking
move 1.25 bytes a base, each byte once; at 80 % of the stated bandwidth that is 1.3 Tbases/s for an
A100 (2.0 TB/s) and 3.1 Tbases/s for an H200 (4.8 TB/s). A step of a dense block waits twice for
memory, some 2 us: with 64 lanes 30 Mbases/s a block, and 300 blocks 9 Gbases/s; 14 sectors of 32
bytes a base limit an H200 to 8.6 Gbases/s. One did not code 8.6 Gbases twice in 20 seconds: whole
calls of dense are below 0.9 Gbases/s; its kernel alone was not measured.

Reads: synthetic lines of each kind as often as fills a batch, in GB/s of text; encoded by the host,
but for starts of lines. Bins of reads: lines of 151 bases, with packing and copies.

Burrows-Wheeler: a made log of 64 MiB as often as fills a batch, in GB/s of text. Estimates, which
no device has confirmed: the inverse follows 64 chains a block, and each step waits for memory, some
0.6 us: 0.1 GB/s a block of 4 MiB, and 64 blocks 7 GB/s. Entropy stages, with 4 bytes a run and 16
lanes a block: out, a run of fast waits for four look-ups in near caches and for its list, some
0.8 us, 0.08 GB/s a block, and 64 blocks 5 GB/s; in, ranks, tokens and words, counted and written,
take 0.1, 0.2 and twice 0.2 us, and 64 blocks some 5 GB/s, besides merging tables on the host. Dense
takes 6 steps a run of some 0.6 us: 0.018 GB/s a block either way, and 64 blocks 1.1 GB/s.
"""
TESTS = "tests on a device that fail; two processes on one GPU are among them"
FAILED = re.compile(r"^(?:(\d+) failed, )?(\d+) passed(?!.*error)", re.MULTILINE)
PASSED = re.compile(r"^(\d+) passed(?!.*(?:failed|error))", re.MULTILINE)  # pytest's last line
SUMMARIES = {
    "memcheck": re.compile(r"ERROR SUMMARY: (\d+) error"),
    "racecheck": re.compile(r"RACECHECK SUMMARY: (\d+) hazard"),
    "synccheck": re.compile(r"ERROR SUMMARY: (\d+) error"),
    "initcheck": re.compile(r"ERROR SUMMARY: (\d+) error"),
}


def plan(parts: str = "all", rounds: int = 20) -> dict[str, list[Measurement]]:
    """Return what is measured on a device, in this order.

    Parameters
    ----------
    parts : a key of PARTS
    rounds : of each figure
    """
    makers = {
        bench_parity_gpu.TITLE: bench_parity_gpu.tasks,
        TITLE: partial(_codec, rounds),
        bench_visibility_gpu.TITLE: partial(bench_visibility_gpu.tasks, rounds),
        bench_tcr_gpu.TITLE: partial(bench_tcr_gpu.tasks, rounds),
        bench_dna_gpu.TITLE: partial(bench_dna_gpu.tasks, rounds),
        bench_reads_gpu.TITLE: partial(bench_reads_gpu.tasks, rounds),
        bench_bwt_gpu.TITLE: partial(bench_bwt_gpu.tasks, rounds),
    }
    return {title: make() for title, make in makers.items() if PARTS[parts](title)}


def _codec(rounds: int) -> list[Measurement]:
    bench = cache(lambda: Workbench(synthetic_sample(device="gpu"), rounds))

    def measured(case: Any) -> Row:
        return _row(case.figure(bench()))

    return [
        Measurement(_row(case.figure(None)), partial(measured, case), case.quick) for case in CASES
    ]


def _row(figure: Figure) -> Row:
    return Row(figure.what, figure.value, figure.unit, figure.target, figure.note)


def sections(measured: Mapping[Key, Row], logs: Path | None = None) -> dict[str, list[Row]]:
    """Return every row of the page, unmeasured where it was not, or where there is no log of it."""
    found = {
        title: [measured.get((title, task.row.what), task.row) for task in tasks]
        for title, tasks in plan().items()
    }
    found[bench_parity_gpu.TITLE] = bench_parity_gpu.folded(found[bench_parity_gpu.TITLE])
    found[TESTS_TITLE] = list(_logged(logs))
    return {title: [_marked(row) for row in rows] for title, rows in found.items()}


def _logged(logs: Path | None) -> Iterator[Row]:
    yield _tested(logs)
    for tool, summary in SUMMARIES.items():
        yield _sanitized(tool, summary, logs)


def _log(logs: Path | None, name: str) -> str:
    log = None if logs is None else logs / f"{name}.log"
    return log.read_text() if log is not None and log.is_file() else ""


def _tested(logs: Path | None) -> Row:
    found = FAILED.search(_log(logs, "tests"))
    failed = int(found[1] or 0) if found else None
    note = f"{found[2]} passed" if found else ""
    return Row(TESTS, failed, "tests", "<= 0", note, why=_late(_log(logs, "tests")))


def _sanitized(tool: str, summary: re.Pattern[str], logs: Path | None) -> Row:
    """Errors of all processes; a run whose tests did not all pass has measured nothing."""
    text = _log(logs, tool)
    passed, found = PASSED.search(text), summary.findall(text)
    errors = sum(map(int, found)) if found and passed else None
    note = f"{passed[1]} tests" if passed else ""
    what = f"compute-sanitizer {tool}, tests on a device"
    return Row(what, errors, "errors", "<= 0", note, why=_late(text))


def _late(log: str) -> str:
    """Return that a step was ended, or never begun, as measure.sh says at the end of its log."""
    return TIME_LIMIT if log.rstrip().endswith(f"not measured: {TIME_LIMIT}") else ""


def _marked(row: Row) -> Row:
    return row if row.value is not None or row.why else replace(row, note=f"`{COMMAND}`")


def page(found: Mapping[str, list[Row]], about: Mapping[str, str]) -> str:
    """Return the page; about : what was measured on, or nothing."""
    tables = "\n".join(markdown_table(title, rows) for title, rows in found.items())
    machine = ", ".join(f"{k} {v}" for k, v in about.items()) or NOTHING_YET
    return f"{INTRODUCTION}\n{machine}\n\n{tables}"


def _machine() -> dict[str, str]:
    """Return what is measured on; nothing without a device."""
    try:
        return {**device_machine(), "date": date.today().isoformat()}
    except DeviceError as error:
        say(f"nothing is measured: {error}")
        return {}


def main() -> int:
    """Measure; print or write the page; return the exit status."""
    options = _parser().parse_args()
    file = RowsFile(options.rows)
    failed = options.measure != "nothing" and not _measure(file, options)
    about, found = file.measured.about, sections(file.measured.rows, options.logs)
    if options.write:
        if not _has_figures(file):
            sys.exit(f"{PAGE.name} is left as it is: nothing was measured")
        PAGE.write_text(page(found, about))
    if options.json:
        sys.stdout.write(dump(found))
    elif not options.write:
        sys.stdout.write(page(found, about))
    return 1 if failed or _bytes_differ(found) else 0


def _measure(file: RowsFile, options: argparse.Namespace) -> bool:
    """Add rows to the file; return whether there are figures then, and no row failed."""
    if not (about := _machine()):
        return False
    file.begin(about)
    run = LimitedRun(file, options.limit)
    run.measure(plan(options.measure, options.rounds))
    return not run.failed and _has_figures(file)


def _has_figures(file: RowsFile) -> bool:
    return any(row.value is not None for row in file.measured.rows.values())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--rounds", type=int, default=20)
    add("--limit", type=float, help="seconds after which it ends with what there is")
    add("--measure", choices=PARTS, default="all", help="nothing: only write what is in --rows")
    add("--rows", type=Path, help="file that each row is appended to as it is measured")
    add("--logs", type=Path, help="folder of the logs")
    add("--json", action="store_true", help="print JSON instead of Markdown")
    add("--write", action="store_true", help=f"write {PAGE.name}")
    return parser


def _bytes_differ(found: Mapping[str, list[Row]]) -> bool:
    return any(row.value for row in found[bench_parity_gpu.TITLE])


if __name__ == "__main__":
    sys.exit(main())
