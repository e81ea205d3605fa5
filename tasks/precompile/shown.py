"""Progress line on a terminal: number of kernels that are being compiled."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, RLock, Thread
from typing import Protocol, TextIO, cast

from gangsaw.codecs.core.numba.packs.compile_counts import (
    FOLDER,
    QUIET_SECONDS,
    KernelCount,
    sum_counts,
)

LOOK = 0.5  # seconds between reads of the counters
OVER = 4.0  # seconds without a new kernel until the line is removed: slow ones take as long
CLEARED = "\r\x1b[K"  # carriage return, and ANSI code that clears the line


class Drawer(Protocol):
    """Display of the number of kernels compiled so far."""

    def draw(self, found: KernelCount) -> None:
        """Show the number of compiled kernels."""

    def clear(self) -> None:
        """Remove the display."""


_drawers: list[Drawer] = []  # the last one draws


@contextmanager
def show_kernels() -> Iterator[None]:
    """Show the kernels that this process and its children compile, after 2 s of compilation."""
    if FOLDER in os.environ:  # the parent process shows it, or display is disabled
        yield
        return
    over = Event()
    with tempfile.TemporaryDirectory(prefix="gangsaw-", ignore_cleanup_errors=True) as folder:
        os.environ[FOLDER] = folder
        line = KernelLine()
        thread = Thread(target=_watch, args=(Path(folder), over, line), daemon=True)
        thread.start()
        try:
            with line.cleared_by_output():
                yield
        finally:
            over.set()
            thread.join()
            del os.environ[FOLDER]


@contextmanager
def drawn_by(drawer: Drawer) -> Iterator[None]:
    """Show the number of compiled kernels by another drawer in the context, such as a bar."""
    _drawers.append(drawer)
    try:
        yield
    finally:
        _drawers.remove(drawer)


def _watch(folder: Path, over: Event, line: KernelLine) -> None:
    before, last = KernelCount(), 0.0
    while not over.wait(LOOK):
        found, now = sum_counts(folder), time.monotonic()
        drawer = _drawers[-1] if _drawers else line
        if found.count != before.count:
            last = now
        if found.count != before.count and found.seconds >= QUIET_SECONDS:
            drawer.draw(found)
        elif now - last >= OVER:
            drawer.clear()
        before = found
    line.clear()


class KernelLine:
    """Line on a terminal with the number of compiled kernels, redrawn in place.

    It is removed before any other output there. If standard error is no terminal, nothing is
    written.
    """

    def __init__(self) -> None:
        self._lock = RLock()
        self._terminal = sys.stderr if sys.stderr.isatty() else None
        self._is_drawn = False
        self._is_at_start = True  # of a line: an unfinished line of output continues

    def draw(self, found: KernelCount) -> None:
        """Show the number of compiled kernels, unless other output is in the line."""
        with self._lock:
            if self._terminal is not None and self._is_at_start:
                self._is_drawn = True
                self._put(f"{CLEARED}{found.line()}")

    def clear(self) -> None:
        """Remove the line."""
        with self._lock:
            if self._is_drawn:
                self._is_drawn = False
                self._put(CLEARED)

    def write(self, stream: AnyStream, data: str | bytes) -> int:
        """Write to a stream of the terminal after removing the line."""
        with self._lock:
            self.clear()
            written = stream.write(data)
            stream.flush()
            if len(data):
                last = data[-1:] if isinstance(data, str) else bytes(data[-1:]).decode("latin-1")
                self._is_at_start = last == "\n"
            return written

    @contextmanager
    def cleared_by_output(self) -> Iterator[None]:
        """Redirect Python's output to this terminal in the context: each write removes the line."""
        before = sys.stdout, sys.stderr
        if self._terminal is not None:
            sys.stderr = cast(TextIO, ClearingStream(sys.stderr, self))
            if sys.stdout.isatty():
                sys.stdout = cast(TextIO, ClearingStream(sys.stdout, self))
        try:
            yield
        finally:
            sys.stdout, sys.stderr = before

    def _put(self, text: str) -> None:
        assert self._terminal is not None
        self._terminal.write(text)
        self._terminal.flush()


class AnyStream(Protocol):
    """Stream of text or bytes."""

    def write(self, data: object, /) -> int:
        """Write data."""

    def flush(self) -> None:
        """Write buffered data."""


class ClearingStream:
    """Wrapper of a terminal's stream that removes the line of kernels before each write."""

    def __init__(self, stream: object, line: KernelLine) -> None:
        self._stream = stream
        self._line = line

    def __getattr__(self, name: str) -> object:
        """Return another attribute of the wrapped stream."""
        return getattr(self._stream, name)

    @property
    def buffer(self) -> ClearingStream:
        """Binary buffer of a text stream."""
        return ClearingStream(self._stream.buffer, self._line)  # type: ignore[attr-defined]

    def write(self, data: str | bytes) -> int:
        """Write text or bytes."""
        return self._line.write(cast(AnyStream, self._stream), data)

    def writelines(self, lines: Iterable[str | bytes]) -> None:
        """Write all lines."""
        for line in lines:
            self.write(line)
