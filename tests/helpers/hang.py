"""The one time limit of tests, and the wait for a condition.

A passing test never comes near the limit: on a machine that is 20 times slower, and busy, it takes
longer and passes. What a test asserts is an order of events, a count, a state or processor time.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

HANG = 600.0  # seconds, after which what a test waits for is taken to hang


def wait_until(happened: Callable[[], object], *running: subprocess.Popen[str]) -> None:
    """Wait for a condition; fail where one of the processes ends before, or where it hangs."""
    end = time.monotonic() + HANG
    while not happened():
        ended = [process for process in running if process.poll() is not None]
        assert not ended or happened(), f"it ended too early: {ended[0]}"
        assert time.monotonic() < end, "it hangs"
        time.sleep(0.02)


@contextmanager
def no_hang() -> Iterator[None]:
    """Fail if the block, which ends by itself, needs longer than the hang limit."""
    began = time.monotonic()
    yield
    assert time.monotonic() - began < HANG, "it waited for something else"
