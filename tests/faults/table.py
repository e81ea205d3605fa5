"""Runs of tests of faults, counted in a JSON file where one is named, and their page."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from helpers.faulty_jobs import HeldJob

VARIABLE = "GANGSAW_FAULTS"  # of the environment; without it nothing is counted
PLACES = re.compile(r"/tmp/[\w./-]*?/(?=[\w.]+zarr|\w+/logs)")  # of the test
HEAD = """# Faults

`python -m faults` in `tests` runs the tests of faults, slow ones too, and adds to these counts,
which stand in a JSON file beside this page; it may be stopped and begun again. A run is whole if
it ended as its test wants it: a job that goes on, or is resumed, with the bytes of an undisturbed
run; else with the message and nothing wrong in the store. Lost are objects that were missing
or had other bytes, redone are chunks that were read again after they were journalled. A test
adds its row by `with faults.table.fault(...)`; [killed commands](RESULTS-KILLS.md) have a page of
their own. Two runs of 2026-11-26 are not whole since their tests were too strict: they did not
take a line that says what is waited for, and a store without chunks.
"""
COLUMNS = (
    "| fault | runs | whole | lost | redone | what the user reads |\n|---|---:|---:|---:|---:|---|"
)


@dataclass
class Row:
    """What came of a fault.

    Attributes
    ----------
    runs, whole : how often it was tried, and ended as it should
    lost, redone : objects and chunks, of all runs
    said : the first line that the user reads, of the last run
    """

    runs: int = 0
    whole: int = 0
    lost: int = 0
    redone: int = 0
    said: str = ""


@dataclass
class Fault:
    """A run of a test.

    Attributes
    ----------
    job : that is disturbed; None where the test looks for itself what is lost
    said : what the user reads, by name of a fault, or "" for all that are not there
    """

    job: HeldJob | None
    said: dict[str, str]


@contextmanager
def fault(parts: str, *names: str) -> Iterator[Fault]:
    """Count a run of these faults when it ends: with an error it is not whole."""
    run, whole = Fault(None, {}), False
    try:
        yield run
        whole = True
    finally:
        if os.environ.get(VARIABLE):
            add(Path(os.environ[VARIABLE]), parts, names, run, whole)


def add(file: Path, parts: str, names: tuple[str, ...], run: Fault, whole: bool) -> None:
    """Add a run to the counts."""
    rows = counts(file)
    lost = redone = 0
    if run.job is not None and run.job.whole.exists():
        outcome = run.job.outcome()
        lost, redone = len(outcome.lost), len(outcome.redone)
    for name in names:
        row = rows.setdefault(parts, {}).setdefault(name, Row())
        row.runs, row.whole = row.runs + 1, row.whole + whole
        row.lost, row.redone = row.lost + lost, row.redone + redone
        said = run.said.get(name, run.said.get("", row.said))
        row.said = PLACES.sub("", said.splitlines()[0] if said else "")
    as_plain = {part: {n: asdict(row) for n, row in own.items()} for part, own in rows.items()}
    file.write_text(json.dumps(as_plain, indent=1, sort_keys=True) + "\n")


def counts(file: Path) -> dict[str, dict[str, Row]]:
    """Read the counts: by what the parts of the cluster are, by name of the fault."""
    kept = json.loads(file.read_text()) if file.exists() else {}
    return {part: {name: Row(**row) for name, row in own.items()} for part, own in kept.items()}


def page(rows: Mapping[str, Mapping[str, Row]]) -> str:
    """Return Markdown: a table for each kind of parts."""
    tables = (f"## {parts}\n\n{COLUMNS}\n{lines(own)}\n" for parts, own in sorted(rows.items()))
    return "\n".join([HEAD, *tables])


def lines(rows: Mapping[str, Row]) -> str:
    def line(name: str, row: Row) -> str:
        said = " ".join(row.said.split()).replace("|", "\\|")
        figures = f"{row.runs:,} | {row.whole:,} | {row.lost:,} | {row.redone:,}"
        return f"| {name} | {figures} | {said or 'nothing'} |"

    return "\n".join(line(*item) for item in sorted(rows.items()))
