"""What Dask's client logs of a lost scheduler, hidden: a job's error says it in one line."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

LOGGERS = ("distributed.client", "tornado.application")


@contextmanager
def silence() -> Iterator[None]:
    """Hide the lines until the client is closed: it logs while it closes, too."""
    loggers = [logging.getLogger(name) for name in LOGGERS]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)
