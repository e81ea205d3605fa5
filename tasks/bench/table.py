"""Rows of a benchmark: measured by medians, printed as a Markdown table, written as JSON."""

from __future__ import annotations

import json
import os
import platform
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")
VECTORS = "vectors"  # of the machine; figures with others stand in a column of their own
LEAST_SECONDS = 0.05  # a chunk is one of many: small ones are coded again and again


@dataclass(frozen=True)
class Row:
    """One measured figure.

    Attributes
    ----------
    what : what was measured, on what
    value : the figure, in `unit`; None where it was not measured yet
    target : what was asked, with its sense (">= 250"), or ""
    note : peer, share, spread or reason
    figures : further figures by name, for the JSON and for plots; the note says them in words
    why : where it was not measured, the reason, as far as there is one
    """

    what: str
    value: float | None
    unit: str
    target: str = ""
    note: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)
    why: str = ""

    @property
    def verdict(self) -> str:
        """Yes or no against the target; empty where there is none, or no figure."""
        if not self.target or self.value is None:
            return ""
        sense, bound = self.target.split()
        met = self.value >= float(bound) if sense == ">=" else self.value <= float(bound)
        return "yes" if met else "**no**"

    @property
    def measured(self) -> str:
        """The figure with its unit, or why there is none."""
        if self.value is None:
            return f"not measured: {self.why}" if self.why else "not measured yet"
        return f"{self.value:.4g} {self.unit}"


@dataclass(frozen=True)
class Beside:
    """Rows of a section as a machine with other vectors had them, by what they measure.

    Attributes
    ----------
    machine : what `environment` said there
    rows : some are of things that the section has no longer, and are not shown
    """

    machine: Mapping[str, str]
    rows: tuple[Row, ...]

    def cells(self, what: str, before: int) -> str:
        """The last cells of a line: the figure, and whether it is what was asked there.

        `before` rows of the section are of the same name, such as "as often as the peer".
        """
        found = [row for row in self.rows if row.what == what][before : before + 1]
        return f" {found[0].measured} | {found[0].verdict} |" if found else "  |  |"


@dataclass(frozen=True)
class Measurement:
    """A row, and how it is measured.

    Attributes
    ----------
    row : without a figure
    measure : returns the row with its figure
    quick : whether its figure is there at once when the row before it was measured
    """

    row: Row
    measure: Callable[[], Row]
    quick: bool = False


def cpu_seconds(work: Callable[[], object], rounds: int = 5) -> float:
    """Median CPU seconds of one call, the first (compiling, touching pages) left out."""
    work()
    return statistics.median(_span(work, time.process_time) for _ in range(rounds))


def seconds_in_turn(works: Sequence[Callable[[], object]], rounds: int = 5) -> list[list[float]]:
    """Wall-clock seconds of each call in each round, the first round left out.

    Works that are compared run in turn, so that a machine that others slow down for a while slows
    them alike; compare them round by round.
    """
    spans = [[_span(work) for work in works] for _ in range(rounds + 1)]
    return [list(of_one) for of_one in zip(*spans[1:], strict=True)]


def call_seconds(function: Callable[[Given], Made], argument: Given) -> tuple[Made, float]:
    """Return what a function gives, and CPU seconds of a call; short calls are repeated."""
    began, calls = time.process_time(), 1
    result = function(argument)
    while (seconds := time.process_time() - began) < LEAST_SECONDS:
        del result  # memory is free again before the next call, as where results are written
        result = function(argument)
        calls += 1
    return result, seconds / calls


def _span(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    start = clock()
    work()
    return clock() - start


def markdown(title: str, rows: Iterable[Row], about: str = "", beside: Beside | None = None) -> str:
    """Return a table with a verdict for each row that has a target, below a line about it."""
    lines = [
        f"## {title}",
        "",
        *([about] if about else []),
        "| what | measured | asked | met | remark |"
        + (f" {beside.machine[VECTORS]} | met |" if beside else ""),
        "|---|---:|---|---|---|" + ("---:|---|" if beside else ""),
    ]
    seen = Counter[str]()
    for r in rows:
        line = f"| {r.what} | {r.measured} | {r.target} | {r.verdict} | {r.note} |"
        lines.append(line + (beside.cells(r.what, seen[r.what]) if beside else ""))
        seen[r.what] += 1
    return "\n".join(lines) + "\n"


def document(
    sections: dict[str, list[Row]],
    elsewhere: Mapping[str, Mapping[str, str]],
    beside: Mapping[str, Beside],
) -> dict[str, object]:
    """Return machine and all sections as plain JSON values, and where others were measured."""
    tables = {title: [asdict(row) for row in rows] for title, rows in sections.items()}
    columns = {title: asdict(own) for title, own in beside.items()}
    return {
        "machine": environment(),
        **({"elsewhere": elsewhere} if elsewhere else {}),
        **({"beside": columns} if beside else {}),
        "sections": tables,
    }


def environment() -> dict[str, str]:
    """Say where, with what and when the figures were obtained."""
    packages = {name: version(name) for name in ("zarr", "dask", "xarray")}
    from gangsaw.codecs.core.numba.jit import HAS_AVX512  # and Numba: a page needs it not

    vectors = "AVX-512" if HAS_AVX512 else "at most AVX2"
    where = {"cores": str(os.cpu_count()), VECTORS: vectors}
    return {**machine(), **packages, **where, "date": date.today().isoformat()}


def machine() -> dict[str, str]:
    """Return what the figures depend on: processor, Python and the versions of the codecs."""
    peers = ("numcodecs", "imagecodecs", "pcodec", "blosc2", "fpzip", "python-casacore")
    return {"processor": _processor(), "python": platform.python_version()} | {
        name: found for name in ("gangsaw", "numba", "numpy", *peers) if (found := _version(name))
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.is_file() else []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def say(message: str) -> None:
    """Report progress on standard error, where `--json` does not go."""
    sys.stderr.write(message + "\n")
    sys.stderr.flush()


def dump(
    sections: dict[str, list[Row]],
    elsewhere: Mapping[str, Mapping[str, str]] | None = None,
    beside: Mapping[str, Beside] | None = None,
) -> str:
    """Return the JSON text of `document`."""
    return json.dumps(document(sections, elsewhere or {}, beside or {}), indent=1) + "\n"
