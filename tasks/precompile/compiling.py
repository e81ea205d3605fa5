"""Compilation of listed kernels without running them, also for levels this processor lacks."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from gangsaw.codecs.core.numba.packs import gathering
from gangsaw.codecs.core.numba.packs.ahead import compile_listed
from gangsaw.codecs.core.numba.packs.ahead.kernel_lists import list_files, read_lists
from gangsaw.codecs.core.numba.packs.ahead.type_text import parse_types


class Dispatched(Protocol):
    """Numba dispatcher of a kernel."""

    def compile(self, signature: object) -> object:
        """Compile the kernel for these argument types."""


def main(listed: str, part: str, parts: str) -> None:
    """Compile each `parts`-th of the kernels that earlier runs called, for this process's level.

    Parameters
    ----------
    listed : folder in which the runs recorded the kernels
    part, parts : number of this process among `parts` processes, from 0
    """
    calls = list(gathering.called(Path(listed)))
    for module, name, types in calls[int(part) :: int(parts)]:
        kernel = import_kernel(module, name)
        if kernel is not None:
            kernel.compile(types)


def compile_lists(part: str, parts: str) -> None:
    """Compile each `parts`-th of the kernels in the recorded lists of first runs.

    Parameters
    ----------
    part, parts : number of this process among `parts` processes, from 0
    """
    lists = (found for path in list_files().values() for found in read_lists(path))
    unique = {kernel.key: kernel for found in lists for kernel in found.kernels}
    for listed in list(unique.values())[int(part) :: int(parts)]:
        with suppress(ImportError, AttributeError, ValueError):  # line of another version
            kernel, types = compile_listed.find_kernel(listed), parse_types(listed.types)
            if kernel is not None:
                kernel.compile(types)


def import_kernel(module: str, name: str) -> Dispatched | None:
    """Return a kernel of a module; None if the module has no kernel of that name at this level."""
    found = getattr(import_module(module), name, None)
    return cast("Dispatched", found) if hasattr(found, "compile") else None
