"""Compiles listed kernels for a level that this processor may not have: nothing is run."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from gangsaw.codecs.core.numba.kept import gathering


class Dispatched(Protocol):
    """A kernel."""

    def compile(self, signature: object) -> object:
        """Compile it for these types."""


def main(listed: str, part: str, parts: str) -> None:
    """Compile each `parts`-th of the kernels that were gathered in the folder `listed`.

    They are gathered again, for the level of this process.
    """
    calls = list(gathering.called(Path(listed)))
    for module, name, types in calls[int(part) :: int(parts)]:
        kernel = _kernel(module, name)
        if kernel is not None:
            kernel.compile(types)


def _kernel(module: str, name: str) -> Dispatched | None:
    """Return a kernel of a module; None of what another level has in its place."""
    found = getattr(import_module(module), name, None)
    return cast("Dispatched", found) if hasattr(found, "compile") else None
