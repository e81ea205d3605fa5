"""Cores and memory that this process may use: of the machine, and of its control groups.

A container, a unit of systemd or a step of SLURM is a group. A limit holds for all groups within
the one that has it, so each from the process's own group up to the root may have the lowest.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path, PurePosixPath

GROUPS = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")  # lines of number:controllers:path
NONE = 1 << 60  # bytes: version 1 writes a number near 2^63 where there is no limit


def cores() -> int:
    """Return how many cores this process may use, by affinity and by control groups; at least 1."""
    affinity = getattr(os, "sched_getaffinity", None)
    own = len(affinity(0)) if affinity else os.cpu_count() or 1
    quota = _quota()
    return own if quota is None else min(own, quota)


def memory_bytes() -> int:
    """Return how much memory this process may use, of the machine and by control groups."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([total, *_least(_memory_of, "memory")])


@lru_cache
def _quota() -> int | None:
    """Return the cores that the control groups grant; None without a limit.

    The result is cached, since kernels request it for each block.
    """
    return min(_least(_quota_of, "cpu"), default=None)


def _least(limit_of: Callable[[Path], int | None], controller: str) -> list[int]:
    """Return all limits of one controller ("cpu", "memory") in this process's control groups."""
    found = (limit_of(folder) for folder in _folders(controller))
    return [limit for limit in found if limit is not None]


def _folders(controller: str) -> Iterator[Path]:
    """Yield the folders of this process's control groups for a controller, of cgroups v1 and v2."""
    try:
        lines = OWN.read_text(encoding="utf-8").splitlines()
    except OSError:  # no Linux
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:  # version 2
            roots = [GROUPS, GROUPS / "unified"]
        elif controller in controllers.split(","):
            roots = [GROUPS / controllers, GROUPS / controller]
        else:
            continue
        for root in roots:
            own = PurePosixPath(path.lstrip("/"))
            # of a container without its own names, the path is that of the host, and is not there
            yield from (root / parent for parent in (own, *own.parents))


def _quota_of(folder: Path) -> int | None:
    """Return the cores that a control group grants, at least 1; None if it has no limit."""
    both = _numbers(folder / "cpu.max")
    if len(both) != 2:
        both = _numbers(folder / "cpu.cfs_quota_us") + _numbers(folder / "cpu.cfs_period_us")
    if len(both) != 2 or both[0] <= 0 or both[1] <= 0:
        return None
    return max(1, both[0] // both[1])


def _memory_of(folder: Path) -> int | None:
    """Return the bytes of memory that a control group grants; None if it has no limit."""
    names = ("memory.max", "memory.high", "memory.limit_in_bytes")
    found = [n for name in names for n in _numbers(folder / name) if 0 < n < NONE]
    return min(found, default=None)


def _numbers(file: Path) -> list[int]:
    """Return the integers in a file of a control group; [] if it does not exist or says "max"."""
    try:
        return [int(word) for word in file.read_text(encoding="ascii").split()]
    except (OSError, ValueError):
        return []
