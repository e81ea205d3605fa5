"""The memory of a program of benchmarks: held, and touched, before anything is measured."""

from __future__ import annotations

import os
import sys

import numpy as np

from gangsaw.cluster.launchers.local import KEEP_MEMORY


def keep_memory() -> None:
    """Start this program again where the C library would give freed memory back: workers keep it.

    They do for arrays of up to 32 MiB, as chunks are; here it is any, since fresh pages are zeroed
    in the codec's time and its peers'.
    """
    prefix = "distributed.nanny.pre-spawn-environ."
    settings = {name.removeprefix(prefix): str(size) for name, size in KEEP_MEMORY.items()}
    settings["MALLOC_MMAP_MAX_"] = "0"
    if not settings.keys() <= os.environ.keys():
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **settings})


def touch_memory() -> None:
    """Write once to most of the memory that is free.

    A virtual machine gets memory from its host when it first uses it: copying 64 MB then took 160
    ms, later 12. That is the price of a new machine, not of a codec.
    """
    page, free = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_AVPHYS_PAGES")
    np.empty(free * 3 // 4 * page, np.uint8)[::page] = 1
