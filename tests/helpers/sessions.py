"""The processes of a session, from /proc: a job in a session of its own, and what is left of it."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

from helpers.hang import HANG, wait_until


def session(leader: int) -> set[int]:
    """Process ids of a session, zombies apart."""
    return {pid for pid, (state, sid) in processes() if sid == leader and state != "Z"}


def processes() -> Iterator[tuple[int, tuple[str, int]]]:
    """Yield process ids with state and session."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # it ended meanwhile
            continue
        yield int(path.parent.name), (fields[0], int(fields[3]))


def kill_job(process: subprocess.Popen[bytes], victim: str) -> None:
    """Kill the client or all; return when no process of the session is left."""
    if victim == "client":
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=HANG)
    wait_until(lambda: not session(process.pid))  # else processes outlive their job
