"""A command says that kernels are compiled: on a terminal by a bar, else by a line now and then."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

from gangsaw.codecs.core.numba.kept.telling import FOLDER, PATIENCE, SELDOM, KernelCount, told

LOOK = 0.5  # seconds between looks at what processes said
CELLS = 20
Draw = Callable[[KernelCount], None]
_drawers: list[Draw] = []  # the last one draws


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
def drawn_by(draw: Draw) -> Iterator[None]:
    """Let something else draw meanwhile, such as a display of bars."""
    _drawers.append(draw)
    try:
        yield
    finally:
        _drawers.remove(draw)


def _watch(folder: Path, over: Event) -> None:
    before, lines = KernelCount(), _KernelLines()
    while not over.wait(LOOK):
        found = told(folder)
        if found.count != before.count and found.seconds >= PATIENCE:
            (_drawers[-1] if _drawers else lines.draw)(found)
        elif found.count == before.count:
            lines.clear()
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
            full = min(CELLS * found.count // max(found.functions, 1), CELLS)
            self._write(f"\r\x1b[K[{'#' * full}{' ' * (CELLS - full)}] {found.line()}")
        elif time.monotonic() - self.written >= SELDOM:
            self.written = time.monotonic()
            self._write(f"{found.line()}\n")

    def clear(self) -> None:
        """Take the bar away."""
        if self.is_drawn:
            self.is_drawn = False
            self._write("\r\x1b[K")

    @staticmethod
    def _write(text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()
