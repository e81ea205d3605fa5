"""Rows on disk, each from the moment that it is measured: no figure is lost with its machine."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypeAlias

from gangsaw.tasks.bench.table import Row

Key: TypeAlias = tuple[str, str]  # section, what is measured


@dataclass
class Measured:
    """What was measured, of several runs the last.

    Attributes
    ----------
    about : machine, versions and date; nothing before anything is measured
    rows : by section and what they measure
    """

    about: Mapping[str, str] = field(default_factory=dict)
    rows: dict[Key, Row] = field(default_factory=dict)

    def keep(self, section: str, row: Row) -> None:
        """Take a row; one without a figure takes no other's place that has one."""
        known = self.rows.get((section, row.what))
        if row.value is not None or known is None or known.value is None:
            self.rows[section, row.what] = row


class RowsFile:
    """JSON lines: of each run first what it ran on, then its rows.

    Parameters
    ----------
    path : lines are appended to it; None keeps rows in memory alone
    """

    def __init__(self, path: Path | None) -> None:
        self.path, self.measured = path, Measured() if path is None else read(path)

    def begin(self, about: Mapping[str, str]) -> None:
        """Say what the next rows are measured on."""
        self.measured.about = about
        self._append({"about": dict(about)})

    def add(self, section: str, row: Row, seconds: float) -> None:
        """Keep a row; seconds : that it took."""
        self.measured.keep(section, row)
        self._append({"section": section, "row": asdict(row), "seconds": round(seconds, 3)})

    def _append(self, line: Mapping[str, object]) -> None:
        """Write a line through to the disk: the machine may be gone a moment later."""
        if self.path is None:
            return
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())


def read(path: Path) -> Measured:
    """Return what the file has; a last line that was cut off is left out."""
    found = Measured()
    text = path.read_text() if path.is_file() else ""
    for line in text[: text.rfind("\n") + 1].splitlines():
        entry = json.loads(line)
        if "about" in entry:
            found.about = entry["about"]
        else:
            found.keep(entry["section"], Row(**entry["row"]))
    return found
