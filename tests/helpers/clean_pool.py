"""CuPy's pool of memory before a test that limits it."""

from __future__ import annotations

import gc
from types import ModuleType
from typing import Any


def clean_pool(cupy: ModuleType) -> Any:
    """Return the default pool without what the tests before left.

    Else arrays of a test are cut from larger chunks, whose rests stay and count against a limit.
    Tracebacks of errors hold arrays, too, until garbage is collected.
    """
    gc.collect()
    pool = cupy.get_default_memory_pool()
    pool.free_all_blocks()
    return pool
