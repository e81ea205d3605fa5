"""Which kernels are compiled: in processes of their own, for each keeps what it compiled."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

from numba.core.dispatcher import Dispatcher


def kernels() -> set[tuple[str, str]]:
    """Name and types of every kernel that this process has compiled, or has from the cache."""
    found = [thing for thing in gc.get_objects() if isinstance(thing, Dispatcher)]
    return {(d.py_func.__qualname__, str(types)) for d in found for types in d.signatures}


def run(script: str) -> str:
    """What a script prints in a separate process that can import this module."""
    path = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    command, environment = [sys.executable, "-c", script], {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return done.stdout
