"""Ctrl-C and SIGTERM that wait for a safe place, so that they are not lost.

Python raises KeyboardInterrupt between any two instructions. Dask cannot close a cluster that is
half started, and prints tracebacks at exit. In a `__del__`, such as that of a Dask
future, which wakes an event loop, it is printed and forgotten: the job went on to its end.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTS = (signal.SIGINT, signal.SIGTERM)


class Waiting:
    """Holds an interrupt back until a safe place."""

    def __init__(self) -> None:
        self.arrived = self.is_let_in = False

    def hold(self, number: int, frame: FrameType | None) -> None:
        """Hold the first; a second one acts at once: the user has seen that nothing happens."""
        acts, self.arrived = self.arrived or self.is_let_in, True
        if acts:
            signal.default_int_handler(number, frame)

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Let an interrupt act at once, as while a pipe is read that may never say more.

        One that a `__del__` swallows there is known, and acts at the next safe place.
        """
        self.let_in()
        self.is_let_in = True
        try:
            yield
        finally:
            self.is_let_in = False

    def let_in(self) -> None:
        """Raise KeyboardInterrupt, once, if one arrived."""
        if self.arrived:
            self.arrived = False
            raise KeyboardInterrupt


@contextmanager
def interrupts_wait() -> Iterator[Waiting]:
    """Hold signals that would raise KeyboardInterrupt back until `let_in`, or the end of the block.

    Other signals, such as SIGTERM with its default action, act as before.
    """
    waiting = Waiting()
    if threading.current_thread() is not threading.main_thread():
        yield waiting  # no signal arrives here
        return
    held = [n for n in INTERRUPTS if signal.getsignal(n) is signal.default_int_handler]
    for number in held:
        signal.signal(number, waiting.hold)
    try:
        yield waiting
    finally:
        for number in held:
            signal.signal(number, signal.default_int_handler)
        waiting.let_in()
