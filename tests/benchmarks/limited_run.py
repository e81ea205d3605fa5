"""Runner of measurements within a time limit, which stores each row immediately."""

from __future__ import annotations

import faulthandler
import os
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from rows_file import RowsFile

from gangsaw.codecs.core.errors import first_line
from gangsaw.tasks.bench.table import Measurement, Row, say

TIME_LIMIT = "time limit"
GRACE = 5.0  # seconds that Python's watchdog has before the C watchdog ends the process
Plan = Mapping[
    str, Sequence[Measurement]
]  # rows by section, in the order in which they are measured


class LimitedRun:
    """One run over a plan.

    A row is started only if it is expected to end in time. The expected time is the longest so far
    in its section, or in all sections for the first row of a section. At the limit the whole
    process is ended, and the remaining rows are reported as not measured.

    Parameters
    ----------
    file : file for the rows
    limit : seconds from now on; None for no limit
    """

    def __init__(self, file: RowsFile, limit: float | None = None) -> None:
        self.file, self.limit, self.began = file, limit, time.monotonic()
        self.left: dict[tuple[str, str], Row] = {}  # rows that are not measured yet
        self.longest: dict[str, float] = {}  # longest duration in seconds, by section
        self.failed = False
        self._keeping = threading.Lock()

    def measure(self, plan: Plan) -> None:
        """Measure the rows for which there is time; a failed row does not stop the others."""
        self.left = {(s, task.row.what): task.row for s, tasks in plan.items() for task in tasks}
        with self._watchdog():
            for section, tasks in plan.items():
                self._measure_some(section, tasks)
        with self._keeping:
            self._mark_unfinished()

    def _measure_some(self, section: str, tasks: Sequence[Measurement]) -> None:
        begun = False
        for task in tasks:
            begun = (begun and task.quick) or self._has_time(section)
            if begun:
                self._measure(section, task)

    def seconds_left(self) -> float:
        """Return the seconds until the limit."""
        return float("inf") if self.limit is None else self.began + self.limit - time.monotonic()

    def _has_time(self, section: str) -> bool:
        expected = self.longest.get(section, max(self.longest.values(), default=0.0))
        return self.seconds_left() > expected

    def _measure(self, section: str, task: Measurement) -> None:
        say(task.row.what)
        began = time.monotonic()
        row = self._measured(task)
        seconds = time.monotonic() - began
        self.longest[section] = max(seconds, self.longest.get(section, 0.0))
        with self._keeping:
            self._keep(section, row, seconds)

    def _measured(self, task: Measurement) -> Row:
        try:
            return task.measure()
        except Exception as error:  # any failure of a device: the next row may show the cause
            traceback.print_exc()
            self.failed = True
            reason = f"{type(error).__name__}: {first_line(error)}".replace("|", "/")
            return replace(task.row, why=reason)

    def _keep(self, section: str, row: Row, seconds: float = 0.0) -> None:
        self.left.pop((section, row.what), None)
        self.file.add(section, row, seconds)

    def _mark_unfinished(self) -> None:
        for (section, _), row in list(self.left.items()):
            self._keep(section, replace(row, why=TIME_LIMIT))

    @contextmanager
    def _watchdog(self) -> Iterator[None]:
        """End the process at the limit, also in a blocking call; a watchdog prints a traceback."""
        seconds = self.seconds_left()
        if self.limit is None or seconds <= 0:  # then no row is started
            yield
            return
        timer = threading.Timer(seconds, self._end)
        timer.daemon = True
        timer.start()
        # C code that holds the GIL blocks Python's timer
        faulthandler.dump_traceback_later(seconds + GRACE, exit=True, file=sys.__stderr__ or 2)
        try:
            yield
        finally:
            timer.cancel()
            faulthandler.cancel_dump_traceback_later()

    def _end(self) -> None:
        with self._keeping:
            self._mark_unfinished()
            faulthandler.dump_traceback(file=sys.__stderr__ or 2)
            os._exit(1 if self.failed else 0)
