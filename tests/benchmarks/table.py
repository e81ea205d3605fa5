"""Rows of a benchmark: measured by medians, printed as a Markdown table, written as JSON."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

TOOLS = ("gangsaw", "numpy", "numba", "zarr", "numcodecs", "dask", "xarray")


@dataclass(frozen=True)
class Row:
    """One measured figure.

    Attributes
    ----------
    what : what was measured, on what
    value : the figure, in `unit`
    target : what was asked, with its sense (">= 250"), or ""
    note : peer, share, spread or reason
    """

    what: str
    value: float
    unit: str
    target: str = ""
    note: str = ""

    @property
    def verdict(self) -> str:
        """Yes or no against the target; empty where there is none."""
        if not self.target:
            return ""
        sense, bound = self.target.split()
        met = self.value >= float(bound) if sense == ">=" else self.value <= float(bound)
        return "yes" if met else "**no**"


def cpu_seconds(work: Callable[[], object], rounds: int = 5) -> float:
    """Median CPU seconds of one call, the first (compiling, touching pages) left out."""
    return _median(work, time.process_time, rounds)


def wall_seconds(work: Callable[[], object], rounds: int = 5) -> float:
    """Median wall-clock seconds of one call, the first left out."""
    return _median(work, time.perf_counter, rounds)


def _median(work: Callable[[], object], clock: Callable[[], float], rounds: int) -> float:
    work()
    spans = []
    for _ in range(rounds):
        start = clock()
        work()
        spans.append(clock() - start)
    return statistics.median(spans)


def machine() -> dict[str, str]:
    """Say where and with what the figures were obtained."""
    cpu = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu = next((x.split(":")[1].strip() for x in lines if x.startswith("model name")), cpu)
    return {
        "cpu": cpu,
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
        **{tool: version(tool) for tool in TOOLS},
        "date": datetime.now(UTC).date().isoformat(),
        "commit": _commit(),
    }


def _commit() -> str:
    found = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return found.stdout.strip() or "unknown"


def markdown(title: str, rows: Iterable[Row]) -> str:
    """Return a table with a verdict for each row that has a target."""
    lines = [f"## {title}", "", "| what | measured | asked | met | remark |", "|---|---:|---|---|---|"]
    lines += [
        f"| {r.what} | {r.value:.4g} {r.unit} | {r.target} | {r.verdict} | {r.note} |" for r in rows
    ]
    return "\n".join(lines) + "\n"


def document(sections: dict[str, list[Row]]) -> dict[str, Any]:
    """Return machine and all sections as plain JSON values."""
    tables = {title: [asdict(row) for row in rows] for title, rows in sections.items()}
    return {"machine": machine(), "sections": tables}


def say(message: str) -> None:
    """Report progress on standard error, where `--json` does not go."""
    sys.stderr.write(message + "\n")
    sys.stderr.flush()


def dump(sections: dict[str, list[Row]]) -> str:
    """Return the JSON text of `document`."""
    return json.dumps(document(sections), indent=1) + "\n"
