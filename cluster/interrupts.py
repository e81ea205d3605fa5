"""Deferral of Ctrl-C and SIGTERM to a safe point, so that they are not lost.

Python raises KeyboardInterrupt between any two instructions. Dask cannot close a half-started
cluster, and prints tracebacks at exit. In a `__del__`, such as that of a Dask future, which
wakes an event loop, the exception is printed and ignored: the job ran on to its end.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTS = (signal.SIGINT, signal.SIGTERM)


AGAIN_SECONDS = 0.05
SWALLOWING = ("__del__", "_gc_callback")  # functions whose exceptions Python prints and ignores


class DeferredInterrupts:
    """Signal handler that defers Ctrl-C to the next safe point, a call of `raise_deferred`."""

    def __init__(self) -> None:
        self.arrived = self.is_let_in = False

    def hold(self, number: int, frame: FrameType | None) -> None:
        """Defer the first interrupt; a second one acts at once, as the user saw no reaction."""
        acts, self.arrived = self.arrived or self.is_let_in, True
        if acts and _is_swallowed(frame):
            again = threading.Timer(AGAIN_SECONDS, self._send_again, (number,))
            again.daemon = True
            again.start()
        elif acts:
            signal.default_int_handler(number, frame)

    def _send_again(self, number: int) -> None:
        """Send the deferred signal again to the main thread, which a system call may block."""
        main = threading.main_thread().ident
        if self.arrived and main is not None:
            signal.pthread_kill(main, number)

    @contextmanager
    def allow_interrupts(self) -> Iterator[None]:
        """Let interrupts act at once within the block, for reads that may block for ever.

        An interrupt that a `__del__` swallows there acts at the next safe point.
        """
        self.raise_deferred()
        self.is_let_in = True
        try:
            yield
        finally:
            self.is_let_in = False

    def raise_deferred(self) -> None:
        """Raise KeyboardInterrupt, once, if an interrupt has been deferred."""
        if self.arrived:
            self.arrived = False
            raise KeyboardInterrupt


def _is_swallowed(frame: FrameType | None) -> bool:
    """Return True if Python would only print an exception raised in this frame, as in `__del__`."""
    while frame is not None:
        if frame.f_code.co_name in SWALLOWING:
            return True
        frame = frame.f_back
    return False


@contextmanager
def defer_interrupts() -> Iterator[DeferredInterrupts]:
    """Defer signals that raise KeyboardInterrupt to `raise_deferred`, or to the end of the block.

    Other signals, such as SIGTERM with its default action, act as before. A nested block shares the
    handler of the outer one.
    """
    outer = getattr(signal.getsignal(signal.SIGINT), "__self__", None)
    if (
        isinstance(outer, DeferredInterrupts)
        and threading.current_thread() is threading.main_thread()
    ):
        yield outer
        return
    waiting = DeferredInterrupts()
    if threading.current_thread() is not threading.main_thread():
        yield waiting  # signals arrive only in the main thread
        return
    held = [n for n in INTERRUPTS if signal.getsignal(n) is signal.default_int_handler]
    for number in held:
        signal.signal(number, waiting.hold)
    try:
        yield waiting
    finally:
        for number in held:
            signal.signal(number, signal.default_int_handler)
        waiting.raise_deferred()
