"""File of measured rows, written immediately: no value is lost if the machine is."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypeAlias

from gangsaw.tasks.bench.table import Row

Key: TypeAlias = tuple[str, str]  # section, and description of the row


@dataclass
class Measured:
    """Measured rows, the latest of several runs.

    Attributes
    ----------
    about : machine, versions and date; empty before the first measurement
    rows : rows by section and description
    """

    about: Mapping[str, str] = field(default_factory=dict)
    rows: dict[Key, Row] = field(default_factory=dict)

    def keep(self, section: str, row: Row) -> None:
        """Add a row; a row without a value does not replace one with a value."""
        known = self.rows.get((section, row.what))
        if row.value is not None or known is None or known.value is None:
            self.rows[section, row.what] = row


class RowsFile:
    """JSON lines: for each run first the description of the machine, then its rows.

    Parameters
    ----------
    path : file to which lines are appended; None keeps rows only in memory
    """

    def __init__(self, path: Path | None) -> None:
        self.path, self.measured = path, Measured() if path is None else read(path)

    def begin(self, about: Mapping[str, str]) -> None:
        """Write the description of the machine for the next rows."""
        self.measured.about = about
        self._append({"about": dict(about)})

    def add(self, section: str, row: Row, seconds: float) -> None:
        """Add a row; `seconds` is its duration."""
        self.measured.keep(section, row)
        self._append({"section": section, "row": asdict(row), "seconds": round(seconds, 3)})

    def _append(self, line: Mapping[str, object]) -> None:
        """Append a line and sync it to disk: the machine may be gone a moment later."""
        if self.path is None:
            return
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())


def read(path: Path) -> Measured:
    """Return the rows of a file; a truncated last line is ignored."""
    found = Measured()
    text = path.read_text() if path.is_file() else ""
    for line in text[: text.rfind("\n") + 1].splitlines():
        entry = json.loads(line)
        if "about" in entry:
            found.about = entry["about"]
        else:
            found.keep(entry["section"], Row(**entry["row"]))
    return found
