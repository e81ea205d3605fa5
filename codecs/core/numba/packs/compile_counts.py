"""Counts of compiled kernels, and messages with them, none in the first two seconds.

A library writes nothing to the terminal unasked, as Numba and PyTorch do: it logs at level INFO. A
command names a folder in the environment. Each of its processes, workers included, writes its
number of compiled kernels there, and the command shows the sum.
"""

from __future__ import annotations

import logging
import os
import time
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path

LOG = logging.getLogger("gangsaw.kernels")
FOLDER = "GANGSAW_TELL_KERNELS"  # variable with the folder for the counts of processes
QUIET_SECONDS = 2.0  # seconds of compilation without a message
MESSAGE_SECONDS = 20.0  # seconds between messages
WRITE_SECONDS = 0.2  # seconds between writes of a process


@dataclass(frozen=True)
class KernelCount:
    """Progress of compilation in one process, or the sum over several.

    Attributes
    ----------
    count : number of compiled kernels
    seconds : time spent on compilation
    expected : number of kernels in lists; others may follow for types that depend on the data
    """

    count: int = 0
    seconds: float = 0.0
    expected: int = 0

    def line(self) -> str:
        """Return a message with the number of compiled kernels."""
        of = f" of {self.expected}" if self.expected >= self.count else ""
        return f"compiling {self.count}{of} kernels, once"


@dataclass
class CompileCounters:
    """Progress of compilation in this process; changed under Numba's lock.

    Attributes
    ----------
    last : kernels compiled so far for the current outermost kernel, the one that Python called
    seconds : time spent on outermost kernels that are done
    reported : time.monotonic() of the last message
    expected : kernels to compile by this process and its helpers, once these are started
    """

    count: int = 0
    last: int = 0
    seconds: float = 0.0
    reported: float = 0.0
    expected: int = 0


counters = CompileCounters()


def compiled(kernel: str, seconds: float) -> None:
    """Count a compiled kernel and report progress.

    seconds : time since the compilation of the outermost kernel began
    """
    counters.count += 1
    counters.last += 1
    LOG.debug("compiled %s", kernel)
    _report(
        KernelCount(counters.count, counters.seconds + seconds, counters.expected), WRITE_SECONDS
    )


def expect(count: int) -> None:
    """Increase the expected number of kernels, at least those already compiled, by `count`."""
    counters.expected = max(counters.expected, counters.count) + count


def done(seconds: float) -> None:
    """End the compilation of an outermost kernel, and report progress if it was no mere load."""
    if counters.last:
        counters.seconds += seconds
        _report(KernelCount(counters.count, counters.seconds, counters.expected), 0.0)
    counters.last = 0


def sum_counts(folder: Path) -> KernelCount:
    """Return the sum of the progress files that all processes of a command wrote to a folder."""
    every = [_read(path) for path in folder.glob("[0-9]*")]
    sums = (sum(getattr(one, each.name) for one in every) for each in fields(KernelCount))
    return KernelCount(*sums)


def _report(so_far: KernelCount, interval: float) -> None:
    folder, now = os.environ.get(FOLDER), time.monotonic()
    if folder:
        if now - counters.reported >= interval:
            counters.reported = now
            with suppress(OSError):  # the command has ended
                _write(Path(folder) / str(os.getpid()), so_far)
    elif so_far.seconds >= QUIET_SECONDS and now - counters.reported >= MESSAGE_SECONDS:
        counters.reported = now
        LOG.info("%s", so_far.line())


def _write(path: Path, so_far: KernelCount) -> None:
    """Write a progress file atomically: a partial one would make the sum fall now and then."""
    part = path.with_name(f".{path.name}")
    part.write_text(f"{so_far.count} {so_far.seconds:.1f} {so_far.expected}", encoding="ascii")
    part.replace(path)


def _read(path: Path) -> KernelCount:
    """Return the progress of a process from its file; zeros if the file is not one."""
    with suppress(OSError, ValueError):
        count, seconds, expected = path.read_text(encoding="ascii").split()
        return KernelCount(int(count), float(seconds), int(expected))
    return KernelCount()
