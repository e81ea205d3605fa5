"""Kernels that are compiled before tests run."""

from __future__ import annotations

import sys
from pathlib import Path

from gangsaw.codecs.core.errors import JobFailed
from gangsaw.codecs.core.numba.cache import cache_folders
from gangsaw.codecs.core.numba.packs import levels
from gangsaw.codecs.core.numba.packs.ahead.kernel_lists import list_files, read_lists
from gangsaw.tasks.precompile.building import warm_workers


def warm_kernels() -> None:
    """Compile the kernels of the lists into the user's cache.

    Not so where a pack holds them, or where the cache has as many files of these versions.
    """
    if levels.level_choice().pack is not None:
        return
    lists = (found for path in list_files().values() for found in read_lists(path))
    count = len({kernel.key for found in lists for kernel in found.kernels})
    folder = cache_folders(Path(__file__), __name__)[0].parent
    if sum(1 for _ in folder.glob("*/*.nbc")) < count:
        sys.stderr.write(f"compiling {count} kernels by all cores, once\n")
        try:
            warm_workers(first_runs=True)
        except JobFailed as error:  # the tests will say more of it
            sys.stderr.write(f"{error}\n")
