"""Rows of a benchmark: medians of timings, Markdown tables, and JSON."""

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

ArgumentT = TypeVar("ArgumentT")
ResultT = TypeVar("ResultT")
VECTORS = "vectors"  # field of the machine; values with other vectors have a separate column
LEAST_SECONDS = 0.05  # calls are repeated up to this time: chunks are small, and one of many


@dataclass(frozen=True)
class Row:
    """One measured value in the published tables.

    Attributes
    ----------
    what : description of the measurement
    value : value in `unit`; None if not measured yet
    target : requested value, with its sense (">= 250"), or ""
    note : what the value is compared with, its share, spread or reason
    figures : further values by name, for JSON and plots; the note has them as text
    why : reason why it was not measured, if known
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
        """ "yes" or "**no**" against the target; empty without target or value."""
        if not self.target or self.value is None:
            return ""
        sense, bound = self.target.split()
        met = self.value >= float(bound) if sense == ">=" else self.value <= float(bound)
        return "yes" if met else "**no**"

    @property
    def measured(self) -> str:
        """The value with its unit, or the reason why there is none."""
        if self.value is None:
            return f"not measured: {self.why}" if self.why else "not measured yet"
        return f"{self.value:.4g} {self.unit}"


@dataclass(frozen=True)
class OtherMachine:
    """Rows of a section, measured on a machine with another vector width.

    Attributes
    ----------
    machine : result of `environment` on that machine
    rows : its rows; rows that the section no longer has are not shown
    """

    machine: Mapping[str, str]
    rows: tuple[Row, ...]

    def cells(self, what: str, before: int) -> str:
        """Return the Markdown cells of this machine for a row: the value, and the verdict.

        `before` is the number of earlier rows with the same description in the section.
        """
        found = [row for row in self.rows if row.what == what][before : before + 1]
        return f" {found[0].measured} | {found[0].verdict} |" if found else "  |  |"


@dataclass(frozen=True)
class Measurement:
    """Row of a table, and the function that measures its value.

    Attributes
    ----------
    row : row without a value
    measure : function that returns the row with its value
    quick : True if its value is available as soon as the previous row was measured
    """

    row: Row
    measure: Callable[[], Row]
    quick: bool = False


def cpu_seconds(work: Callable[[], object], rounds: int = 5) -> float:
    """Return the median CPU seconds of a call, after one warm-up (compiling, touching pages)."""
    work()
    return statistics.median(_span(work, time.process_time) for _ in range(rounds))


def seconds_in_turn(works: Sequence[Callable[[], object]], rounds: int = 5) -> list[list[float]]:
    """Return the wall seconds of each call in each round, without the first round.

    Calls take turns, so that other load on the machine slows them equally; compare them round by
    round.
    """
    spans = [[_span(work) for work in works] for _ in range(rounds + 1)]
    return [list(of_one) for of_one in zip(*spans[1:], strict=True)]


def call_seconds(
    function: Callable[[ArgumentT], ResultT], argument: ArgumentT
) -> tuple[ResultT, float]:
    """Return the result of a function and its CPU seconds; short calls are repeated."""
    began, calls = time.process_time(), 1
    result = function(argument)
    while (seconds := time.process_time() - began) < LEAST_SECONDS:
        del result  # free the memory before the next call, as after writing a result
        result = function(argument)
        calls += 1
    return result, seconds / calls


def _span(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    start = clock()
    work()
    return clock() - start


def markdown_table(
    title: str, rows: Iterable[Row], about: str = "", other_machine: OtherMachine | None = None
) -> str:
    """Return a Markdown table, with a verdict for each row that has a target."""
    lines = [
        f"## {title}",
        "",
        *([about] if about else []),
        "| what | measured | asked | met | remark |"
        + (f" {other_machine.machine[VECTORS]} | met |" if other_machine else ""),
        "|---|---:|---|---|---|" + ("---:|---|" if other_machine else ""),
    ]
    seen = Counter[str]()
    for r in rows:
        line = f"| {r.what} | {r.measured} | {r.target} | {r.verdict} | {r.note} |"
        lines.append(line + (other_machine.cells(r.what, seen[r.what]) if other_machine else ""))
        seen[r.what] += 1
    return "\n".join(lines) + "\n"


def document(
    sections: dict[str, list[Row]],
    elsewhere: Mapping[str, Mapping[str, str]],
    other_machine: Mapping[str, OtherMachine],
) -> dict[str, object]:
    """Return the machine, the sections, and the machines of sections measured elsewhere, as JSON.

    Parameters
    ----------
    sections : rows by title of the section
    elsewhere : machine of each section that was measured on another one
    other_machine : rows from a machine with another vector width, by section
    """
    tables = {title: [asdict(row) for row in rows] for title, rows in sections.items()}
    columns = {title: asdict(own) for title, own in other_machine.items()}
    return {
        "machine": environment(),
        **({"elsewhere": elsewhere} if elsewhere else {}),
        **({"beside": columns} if other_machine else {}),
        "sections": tables,
    }


def environment() -> dict[str, str]:
    """Return machine, package versions and date of the measurement."""
    packages = {name: version(name) for name in ("zarr", "dask", "xarray")}
    from gangsaw.codecs.core.numba.jit import HAS_AVX512  # late import: pages do not need Numba

    vectors = "AVX-512" if HAS_AVX512 else "at most AVX2"
    where = {"cores": str(os.cpu_count()), VECTORS: vectors}
    return {**machine(), **packages, **where, "date": date.today().isoformat()}


def machine() -> dict[str, str]:
    """Return processor, Python version, and the versions of the codecs."""
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
    """Write progress to standard error, so that the output of `--json` stays clean."""
    sys.stderr.write(message + "\n")
    sys.stderr.flush()


def dump(
    sections: dict[str, list[Row]],
    elsewhere: Mapping[str, Mapping[str, str]] | None = None,
    other_machine: Mapping[str, OtherMachine] | None = None,
) -> str:
    """Return the JSON text of `document` with the same arguments."""
    return json.dumps(document(sections, elsewhere or {}, other_machine or {}), indent=1) + "\n"
