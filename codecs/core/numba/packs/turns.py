"""Locks between processes: one process of a machine compiles a kernel, others wait for its files.

A lock is a file lock next to the cache. The system releases it at the end of its process, so none
can be stale. If locks do not work (some network file systems), nobody waits. Only outermost kernels
take locks, and a process with a lock waits for no other: there is no deadlock.
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

# seconds: no kernel takes as long; a process that waited this long compiles, too
LONGEST_WAIT = 120.0
LOOK_AGAIN = 0.05  # seconds between attempts


def acquire(path: Path, longest: float = LONGEST_WAIT) -> tuple[Callable[[], None], bool]:
    """Wait for a lock file; return the function that releases it, and True if it had to wait.

    After `longest` seconds, or if no file can be locked, the release function does nothing.
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
    return no_turn, waited


def _locked(path: Path) -> IO[str] | None:
    """Try to lock a file; None if another process has it, or deleted it after the open."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("a+", encoding="utf-8")
    try:
        # by process, so that child processes forked meanwhile do not share it
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(file.fileno()).st_ino == path.stat().st_ino:
            # for users who inspect a waiting process
            file.write(f"{os.getpid()} on {socket.gethostname()}\n")
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
    # while it is locked: another process that opened it sees that it is deleted
    with suppress(OSError):
        path.unlink()
    with suppress(OSError):
        file.close()


def no_turn() -> None:
    """Do nothing: release function of `acquire` without a lock."""
