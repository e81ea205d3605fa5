"""Temporary files next to their targets, and removal of those that killed writers left."""

from __future__ import annotations

import os
import re
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from gangsaw.tasks.engine.report import dry_run
from gangsaw.tasks.store.processes import is_alive, machine_digest

STALE_SECONDS = 24 * 3600.0  # age after which a file of an unknown writer counts as abandoned
OWNER = re.compile(r"\.([0-9a-f]{6})-([0-9]+)-[0-9a-f]{8}\.partial$")
ANY = re.compile(r"\.[-0-9a-f]{8,}\.partial$")


def partial_path(target: Path) -> Path:
    """Return a new temporary name next to the target; it contains the id of this process."""
    dry_run.forbid(target)
    owner = f"{machine_digest()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    return target.with_name(f".{target.name}.{owner}.partial")


def remove_abandoned_files(target: Path) -> None:
    """Remove the temporary files of this target whose writers are dead.

    It may be unknown if a writer on another host, PID namespace or boot is dead. Then its file is
    removed a day after the last write.
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
    if owner is not None and owner[1] == machine_digest():
        return not is_alive(int(owner[2]))
    return time.time() - path.stat().st_mtime > STALE_SECONDS
