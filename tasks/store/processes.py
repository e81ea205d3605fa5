"""Processes of this machine: their identity and state.

A process number is unique only in its PID namespace, since the last boot and until the process
ends. Containers with equal host names differ in the namespace.
"""

from __future__ import annotations

import hashlib
import os
import socket
from pathlib import Path

PROC = Path("/proc")
DEAD_STATES = ("Z", "X", "x")  # proc(5): zombie, dead
STATE, STARTED = 0, 19  # fields of /proc/PID/stat after the name of the command


def boot_id() -> str:
    """Return the identity of the machine's last boot; "" if the system does not report it."""
    try:
        return (PROC / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def namespaces() -> str:
    """Return the Linux PID and time namespaces of this process; "" if unknown.

    Process numbers and start times are comparable only within them.
    """
    found = [_link(PROC / "self/ns" / name) for name in ("pid", "time")]
    return " ".join(found).strip() if found[0] else ""


def machine_digest() -> str:
    """Return 6 hexadecimal digits of host name, boot and namespaces."""
    text = " ".join((socket.gethostname(), boot_id(), namespaces()))
    return hashlib.sha256(text.encode()).hexdigest()[:6]


def start_time_of(process: int) -> int:
    """Return the start time of a process, by its number, in ticks since the boot; 0 if unknown."""
    fields = _stat(process)
    return int(fields[STARTED]) if len(fields) > STARTED else 0


def is_alive(process: int) -> bool:
    """Return True if a process with this number runs in this PID namespace; a zombie is dead."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # the process belongs to another user
    fields = _stat(process)
    return not fields or fields[STATE] not in DEAD_STATES


def _stat(process: int) -> list[str]:
    """Return the fields of /proc/PID/stat after the process name; [] if that is not readable."""
    own = process == os.getpid()
    if not own and _link(PROC / "self") != str(os.getpid()):
        return []  # /proc shows another PID namespace
    try:
        text = (PROC / ("self" if own else str(process)) / "stat").read_text()
    except OSError:
        return []
    return text.rpartition(")")[2].split()


def _link(path: Path) -> str:
    try:
        return str(path.readlink())
    except OSError:
        return ""
