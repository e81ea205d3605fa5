"""A command says that kernels are compiled: by a count, or a line now and then."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Protocol

from gangsaw.codecs.core.numba.kept.telling import FOLDER, PATIENCE, SELDOM, KernelCount, told

LOOK = 0.5  # seconds between looks at what processes said
OVER = 4.0  # seconds without a kernel: the slowest ones take as long


class Drawer(Protocol):
    """What shows that kernels are compiled."""

    def draw(self, found: KernelCount) -> None:
        """Say how many there are."""

    def clear(self) -> None:
        """Say nothing any more."""


_drawers: list[Drawer] = []  # the last one draws


@contextmanager
def kernels_told() -> Iterator[None]:
    """Show what this process and those that it starts compile, once it takes more than 2 s."""
    if FOLDER in os.environ:  # whoever started this process shows it; or nobody wants to see it
        yield
        return
    over = Event()
    with tempfile.TemporaryDirectory(prefix="gangsaw-", ignore_cleanup_errors=True) as folder:
        os.environ[FOLDER] = folder
        thread = Thread(target=_watch, args=(Path(folder), over), daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
            del os.environ[FOLDER]


@contextmanager
def drawn_by(drawer: Drawer) -> Iterator[None]:
    """Let something else draw meanwhile, such as a display of bars."""
    _drawers.append(drawer)
    try:
        yield
    finally:
        _drawers.remove(drawer)


def _watch(folder: Path, over: Event) -> None:
    before, lines, last = KernelCount(), _KernelLines(), 0.0
    while not over.wait(LOOK):
        found, now = told(folder), time.monotonic()
        drawer = _drawers[-1] if _drawers else lines
        if found.count != before.count:
            last = now
        if found.count != before.count and found.seconds >= PATIENCE:
            drawer.draw(found)
        elif now - last >= OVER:
            drawer.clear()
        before = found
    lines.clear()


class _KernelLines:
    """Writes to stderr; on a terminal one line, which is drawn anew."""

    def __init__(self) -> None:
        self.is_drawn = False
        self.written = -SELDOM

    def draw(self, found: KernelCount) -> None:
        """Say how far it is."""
        if sys.stderr.isatty():
            self.is_drawn = True
            self._write(f"\r\x1b[K{found.line()}")
        elif time.monotonic() - self.written >= SELDOM:
            self.written = time.monotonic()
            self._write(f"{found.line()}\n")

    def clear(self) -> None:
        """Take the line away."""
        if self.is_drawn:
            self.is_drawn = False
            self._write("\r\x1b[K")

    @staticmethod
    def _write(text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()
