"""Measure rows one by one, within a time limit, and keep each as soon as it is there."""

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

from gangsaw.codecs.core.errors import first_line
from gangsaw.tasks.bench.rows_file import RowsFile
from gangsaw.tasks.bench.table import Measurement, Row, say

LATE = "time limit"
GRACE = 5.0  # seconds in which the watchdog of Python ends the process, before that of C does
Plan = Mapping[
    str, Sequence[Measurement]
]  # rows by section, in the order in which they are measured


class LimitedRun:
    """One run over a plan.

    A row is begun only if it can be expected to end in time: to take no longer than the longest so
    far, of its section or, if it is the first there, of all. One that takes longer is ended with
    the whole process, and what is left is told.

    Parameters
    ----------
    file : takes the rows
    limit : seconds from now on; None for any time
    """

    def __init__(self, file: RowsFile, limit: float | None = None) -> None:
        self.file, self.limit, self.began = file, limit, time.monotonic()
        self.left: dict[tuple[str, str], Row] = {}  # not measured yet
        self.longest: dict[str, float] = {}  # seconds, by section
        self.failed = False
        self._keeping = threading.Lock()

    def measure(self, plan: Plan) -> None:
        """Measure all that there is time for; a row that fails does not keep others from it."""
        self.left = {(s, task.row.what): task.row for s, tasks in plan.items() for task in tasks}
        with self._watchdog():
            for section, tasks in plan.items():
                self._measure_some(section, tasks)
        with self._keeping:
            self._tell_late()

    def _measure_some(self, section: str, tasks: Sequence[Measurement]) -> None:
        begun = False
        for task in tasks:
            begun = (begun and task.quick) or self._has_time(section)
            if begun:
                self._measure(section, task)

    def seconds_left(self) -> float:
        """Return how long until the limit."""
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
        except Exception as error:  # whatever a device does: the next row may tell why
            traceback.print_exc()
            self.failed = True
            reason = f"{type(error).__name__}: {first_line(error)}".replace("|", "/")
            return replace(task.row, why=reason)

    def _keep(self, section: str, row: Row, seconds: float = 0.0) -> None:
        self.left.pop((section, row.what), None)
        self.file.add(section, row, seconds)

    def _tell_late(self) -> None:
        for (section, _), row in list(self.left.items()):
            self._keep(section, replace(row, why=LATE))

    @contextmanager
    def _watchdog(self) -> Iterator[None]:
        """End the process at the limit, in whatever it waits for; both watchdogs say where."""
        seconds = self.seconds_left()
        if self.limit is None or seconds <= 0:  # nothing is begun then
            yield
            return
        timer = threading.Timer(seconds, self._end)
        timer.daemon = True
        timer.start()
        # work of C that keeps Python's lock lets no timer of Python run
        faulthandler.dump_traceback_later(seconds + GRACE, exit=True, file=sys.__stderr__ or 2)
        try:
            yield
        finally:
            timer.cancel()
            faulthandler.cancel_dump_traceback_later()

    def _end(self) -> None:
        with self._keeping:
            self._tell_late()
            faulthandler.dump_traceback(file=sys.__stderr__ or 2)
            os._exit(1 if self.failed else 0)
