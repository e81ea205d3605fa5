"""Progress of an export: all its chunks are of this run."""

from __future__ import annotations

import time

from gangsaw.tasks.progress import OnProgress, Progress


class Meter:
    """Counts batches and tells a callback how far the export is."""

    def __init__(self, total: int, on_progress: OnProgress | None) -> None:
        self.total, self.on_progress = total, on_progress
        self.done = self.written = 0
        self.began = time.monotonic()

    def add(self, batch: range, n_bytes: int) -> None:
        """Count a finished batch and its bytes."""
        self.done += len(batch)
        self.written += n_bytes
        if self.on_progress is not None:
            self.on_progress(self.state())

    def state(self) -> Progress:
        """Return the state as jobs report it."""
        return Progress(
            done=self.done,
            total=self.total,
            resumed=0,
            raw_bytes=self.written,
            stored_bytes=0,
            run_bytes=self.written,
            seconds=time.monotonic() - self.began,
        )
