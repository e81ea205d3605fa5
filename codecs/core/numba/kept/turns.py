"""One process of a machine compiles a kernel; the others wait for its files.

A turn is a lock on a file beside the cache, held by one process. The system ends it with its owner,
so none can be stale. Where nothing can be locked (some network file systems) nobody waits. Only
outermost kernels take turns, and nobody who has one waits for another: there is no deadlock.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows: each process compiles for itself
    fcntl = None  # type: ignore[assignment]

LONGEST_WAIT = 120.0  # seconds: no kernel takes as long; who waited so long compiles, too
LOOK_AGAIN = 0.05  # seconds


def take(path: Path, longest: float = LONGEST_WAIT) -> tuple[Callable[[], None], bool]:
    """Wait for a turn; return what ends it, and whether another process had it before.

    After `longest` seconds, and where no file can be locked, there is no turn: what is returned
    ends nothing.
    """
    waited = False
    end = time.monotonic() + longest
    while fcntl is not None and time.monotonic() <= end:
        try:
            file = _locked(path)
        except OSError:
            break
        if file is not None:
            return partial(_give_back, path, file), waited
        waited = True
        time.sleep(LOOK_AGAIN)
    return _nothing, waited


def _locked(path: Path) -> IO[str] | None:
    """Lock the file; None where another has it, or took it away after this one opened it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("a+", encoding="utf-8")
    try:
        # by process, so that children that are forked meanwhile do not hold it
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(file.fileno()).st_ino == path.stat().st_ino:
            file.write(f"{os.getpid()} on {socket.gethostname()}\n")  # for whoever looks why
            file.flush()
            return file
    except (BlockingIOError, PermissionError, FileNotFoundError):
        pass
    except BaseException:
        file.close()
        raise
    file.close()
    return None


def _give_back(path: Path, file: IO[str]) -> None:
    with suppress(OSError):  # while it is locked: whoever opened it sees that it is gone
        path.unlink()
    with suppress(OSError):
        file.close()


def _nothing() -> None:
    return
