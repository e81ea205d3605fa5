"""What is said while kernels are compiled: nothing for two seconds, then how many.

Commands show it on stderr: a bar on a terminal, else a line now and then. A library says nothing
that nobody asked for, as Numba and PyTorch do: it is logged at the level INFO.
"""

from __future__ import annotations

import logging
import sys
import time
from dataclasses import dataclass
from typing import TextIO

LOG = logging.getLogger("gangsaw.kernels")
PATIENCE = 2.0  # seconds of compilation that nothing is said of
SELDOM = 20.0  # seconds between lines that stay
OFTEN = 0.2  # seconds between drawings of a bar
CELLS = 30


@dataclass
class Tally:
    """Compilations of this process.

    Attributes
    ----------
    count : kernels compiled
    expected : about how many there will be; 0 where that is not known
    seconds : spent by outermost kernels that are done
    last : of the outermost that is compiled now: kernels so far
    told : time.monotonic() when something was said
    shown : where commands write, None in a library
    """

    count: int = 0
    expected: int = 0
    seconds: float = 0.0
    last: int = 0
    told: float = 0.0
    bar: bool = False
    shown: TextIO | None = None


tally = Tally()


def show(expected: int = 0, stream: TextIO | None = None) -> None:
    """Write on stderr from now on; about `expected` kernels are compiled with an empty cache."""
    tally.shown = sys.stderr if stream is None else stream
    tally.expected = expected


def compiled(kernel: str, seconds: float) -> None:
    """Count a kernel; `seconds` were spent since the outermost began."""
    tally.count += 1
    tally.last += 1
    LOG.debug("compiled %s", kernel)
    if tally.seconds + seconds >= PATIENCE:
        _tell()


def done(seconds: float) -> None:
    """End an outermost kernel; where nothing was compiled, it was loaded."""
    if tally.last:
        tally.seconds += seconds
    tally.last = 0


def finish() -> None:
    """End the bar's line, if there is one."""
    if tally.bar and tally.shown is not None:
        tally.shown.write("\r\x1b[K")
        tally.shown.flush()
    tally.bar = False


def line() -> str:
    """Say how many kernels are compiled."""
    of = f" of about {tally.expected}" if tally.expected >= tally.count else ""
    return f"compiling kernels for this processor, once: {tally.count}{of}"


def _tell() -> None:
    terminal = tally.shown is not None and tally.shown.isatty()
    now = time.monotonic()
    if tally.told and now - tally.told < (OFTEN if terminal else SELDOM):
        return
    tally.told = now
    if tally.shown is None:
        LOG.info(line())
    elif terminal:
        tally.bar = True
        tally.shown.write(f"\r\x1b[K{_cells()}{line()}")
        tally.shown.flush()
    else:
        tally.shown.write(f"{line()}\n")
        tally.shown.flush()


def _cells() -> str:
    if tally.expected < tally.count:
        return ""
    full = CELLS * tally.count // tally.expected
    return f"[{'#' * full}{' ' * (CELLS - full)}] "
