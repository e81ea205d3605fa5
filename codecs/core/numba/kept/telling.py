"""What is said of kernels that are compiled: nothing for two seconds, then how many.

A library says nothing that nobody asked for, as Numba and PyTorch do: it is logged at level INFO. A
command names a folder by the environment; there each process of it, workers too, says what it
compiled, and the command shows it.
"""

from __future__ import annotations

import logging
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

LOG = logging.getLogger("gangsaw.kernels")
FOLDER = "GANGSAW_TELL_KERNELS"  # where processes say what they compiled
PATIENCE = 2.0  # seconds of compilation that nothing is said of
SELDOM = 20.0  # seconds between lines
OFTEN = 0.2  # seconds between what a process writes


@dataclass(frozen=True)
class KernelCount:
    """Compilations of one process, or of several.

    How many there will be is not known before the data are: a kernel is compiled for the types that
    it is called with, and for those alone.

    Attributes
    ----------
    count : kernels compiled
    seconds : spent
    """

    count: int = 0
    seconds: float = 0.0

    def line(self) -> str:
        """Say how many kernels are compiled."""
        return f"compiling kernels for this processor, once: {self.count} so far"


@dataclass
class CompileTally:
    """Compilations of this process; changed under Numba's lock.

    Attributes
    ----------
    last : kernels of the outermost one that is compiled now
    seconds : spent by outermost kernels that are done
    told : time.monotonic() when something was said
    """

    count: int = 0
    last: int = 0
    seconds: float = 0.0
    told: float = 0.0


tally = CompileTally()


def compiled(kernel: str, seconds: float) -> None:
    """Count a kernel; `seconds` were spent since the outermost began."""
    tally.count += 1
    tally.last += 1
    LOG.debug("compiled %s", kernel)
    _tell(KernelCount(tally.count, tally.seconds + seconds), OFTEN)


def done(seconds: float) -> None:
    """End an outermost kernel; where nothing was compiled, it was loaded."""
    if tally.last:
        tally.seconds += seconds
        _tell(KernelCount(tally.count, tally.seconds), 0.0)
    tally.last = 0


def told(folder: Path) -> KernelCount:
    """Return what all processes said in a folder."""
    every = [_read(path) for path in folder.glob("[0-9]*")]
    return KernelCount(sum(one.count for one in every), sum(one.seconds for one in every))


def _tell(so_far: KernelCount, seldom: float) -> None:
    folder, now = os.environ.get(FOLDER), time.monotonic()
    if folder:
        if now - tally.told >= seldom:
            tally.told = now
            with suppress(OSError):  # the command has ended
                _write(Path(folder) / str(os.getpid()), so_far)
    elif so_far.seconds >= PATIENCE and now - tally.told >= SELDOM:
        tally.told = now
        LOG.info("%s", so_far.line())


def _write(path: Path, so_far: KernelCount) -> None:
    """Write whole or not at all: else a sum over processes would fall now and then."""
    part = path.with_name(f".{path.name}")
    part.write_text(f"{so_far.count} {so_far.seconds:.1f}", encoding="ascii")
    part.replace(path)


def _read(path: Path) -> KernelCount:
    """Return what a process said; nothing where it is no count."""
    with suppress(OSError, ValueError):
        count, seconds = path.read_text(encoding="ascii").split()
        return KernelCount(int(count), float(seconds))
    return KernelCount()
