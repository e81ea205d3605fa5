"""Helper processes that compile kernels of a list, each those that no other has started."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

from gangsaw.codecs.core.numba.packs import compiling
from gangsaw.codecs.core.numba.packs.ahead.kernel_lists import (
    ALL,
    NARROW,
    WIDE,
    ListedKernel,
    parse_line,
)
from gangsaw.codecs.core.numba.packs.ahead.type_text import parse_types
from gangsaw.codecs.core.numba.packs.levels import features
from gangsaw.codecs.core.numba.private import cache_of

LIST = "list"  # file of the kernels, in the folder where helpers claim them


def main(folder: str) -> None:
    """Run a helper process: compile the kernels listed in a folder, from the last one on.

    It exits with the parent process, and skips kernels that other helpers have claimed.
    """
    Thread(target=_end_with_parent, daemon=True).start()
    lines = Path(folder, LIST).read_text(encoding="ascii").splitlines()
    for number, line in reversed(list(enumerate(lines))):
        if _claim(Path(folder, str(number))):
            # the process that needs the kernel compiles it, and reports the error
            with suppress(Exception):
                compile_listed_kernel(parse_line(line))


def missing_kernels(kernels: Sequence[ListedKernel]) -> list[ListedKernel]:
    """Return the kernels whose machine code is in no pack and not in the user's cache."""
    return [kernel for kernel in kernels if _is_missing(kernel)]


def compile_listed_kernel(listed: ListedKernel) -> None:
    """Compile a listed kernel into the user's cache, unless another process does or did so."""
    kernel, types = find_kernel(listed), parse_types(listed.types)
    if kernel is None:
        return
    with compiling.level_codegen():
        cache = cache_of(kernel)
        is_done = cache.holds(types) or cache.is_locked(types)
    if not is_done:
        kernel.compile(types)


def _is_missing(listed: ListedKernel) -> bool:
    with suppress(ImportError, AttributeError, ValueError):
        kernel, types = find_kernel(listed), parse_types(listed.types)
        with compiling.level_codegen():
            return kernel is not None and not cache_of(kernel).holds(types)
    return False  # its list is of another version


def find_kernel(listed: ListedKernel) -> Any:
    """Import a listed kernel; None if it is for processors with other vectors."""
    here = WIDE if "avx512f" in features() else NARROW
    if listed.vectors not in (ALL, here):
        return None
    module, _, name = listed.function.partition(":")
    found = getattr(import_module(module), name)
    return found if hasattr(found, "compile") else None


def _claim(path: Path) -> bool:
    try:
        path.open("x").close()
    except OSError:
        return False
    return True


def _end_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(0)
