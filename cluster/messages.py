"""Messages to the user about a cluster: repeated notes on a wait, and silenced logs of Dask."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager

AGAIN_SECONDS = 60.0  # between two equal lines


CLIENT_LOGS = (
    "distributed.client",
    "distributed.batched",
    "distributed.comm",
    "distributed.core",
    "distributed.utils",
    "tornado.application",
)


@contextmanager
def silence() -> Iterator[None]:
    """Hide the log lines of Dask's client about a lost scheduler: a job's error reports it."""
    loggers = [logging.getLogger(name) for name in CLIENT_LOGS]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


class StateLogger:
    """Logger of a changing state: it logs a new line at once, an unchanged one once a minute."""

    def __init__(self, log: logging.Logger) -> None:
        self.log, self.last, self.since = log, "", -math.inf

    def log_state(self, line: str) -> None:
        """Log the line, unless it is the last one and was logged recently."""
        now = time.monotonic()
        if line != self.last or now - self.since >= AGAIN_SECONDS:
            self.log.warning("%s", line)
            self.last, self.since = line, now
