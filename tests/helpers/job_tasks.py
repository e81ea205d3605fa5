"""A chunk function for tests of the engine."""

from __future__ import annotations

import errno
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.engine.report.failure import name_failed_chunk


@dataclass(frozen=True)
class Square:
    """Squares the numbers of a batch; `trouble` befalls the number 7.

    Attributes
    ----------
    folder : holds one file per attempt at the number 7
    carried_bytes : as if the numbers came with samples
    """

    trouble: str = ""
    folder: str = ""
    peak_bytes: int = 0
    carried_bytes: int = 0
    name: str = "square"

    def __call__(self, batch: range) -> list[int]:
        for number in batch:
            with name_failed_chunk(f"c/{number}"):
                if number == 7 and self.trouble:
                    self.meet(self.trouble)
        return [number**2 for number in batch]

    def meet(self, trouble: str) -> None:
        attempt = len(list(Path(self.folder).iterdir()))
        Path(self.folder, f"{attempt}.{os.getpid()}").touch()
        if trouble == "die" or (trouble == "die once" and attempt == 0):
            os.kill(os.getpid(), signal.SIGKILL)
        if trouble == "stop once" and attempt == 0:
            os.kill(os.getpid(), signal.SIGSTOP)
        if trouble == "network twice" and attempt < 2:
            raise ConnectionResetError(errno.ECONNRESET, "Connection reset by peer")
        if trouble == "network":
            raise ConnectionResetError(errno.ECONNRESET, "Connection reset by peer")
        if trouble == "full":
            raise OSError(errno.ENOSPC, "No space left on device", "/mnt/c/7")
        if trouble == "corrupt":
            raise CorruptChunk("the checksum differs", block=3)
        if trouble == "sleep":
            time.sleep(0.05)


@dataclass(frozen=True)
class Slow:
    """Takes its time, and gives the numbers of a batch as they are."""

    seconds: float
    peak_bytes: int = 0
    name: str = "slow"

    def __call__(self, batch: range) -> list[int]:
        time.sleep(self.seconds)
        return list(batch)
