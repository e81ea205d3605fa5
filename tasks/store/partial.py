"""Temporary files next to their targets, and those that killed writers left."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import socket
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from gangsaw.tasks.engine import rehearsal

STALE_SECONDS = 24 * 3600.0  # of a file of an unknown writer: nobody writes to it any more
OWNER = re.compile(r"\.([0-9a-f]{6})-([0-9]+)-[0-9a-f]{8}\.partial$")
ANY = re.compile(r"\.[-0-9a-f]{8,}\.partial$")


def part_of(target: Path) -> Path:
    """Return a new name next to the target, which tells which process writes there."""
    rehearsal.forbid(target)
    owner = f"{_host()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    return target.with_name(f".{target.name}.{owner}.partial")


def sweep(target: Path) -> None:
    """Remove what writers of this target left that are dead.

    Of another host that is not known: there, what nobody wrote to for a day.
    """
    for path in _parts(target):
        with suppress(OSError):
            if _is_abandoned(path):
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def _parts(target: Path) -> Iterator[Path]:
    start = f".{target.name}"
    if not target.parent.is_dir():
        return
    for path in target.parent.iterdir():
        if path.name.startswith(start) and ANY.fullmatch(path.name.removeprefix(start)):
            yield path


def _is_abandoned(path: Path) -> bool:
    owner = OWNER.search(path.name)
    if owner is not None and owner[1] == _host():
        return not is_alive(int(owner[2]))
    return time.time() - path.stat().st_mtime > STALE_SECONDS


def is_alive(process: int) -> bool:
    """Whether this host has a process of this number."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _host() -> str:
    return hashlib.sha256(socket.gethostname().encode()).hexdigest()[:6]
