"""Which files a block opens, however it does."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_watched: dict[Path, set[str]] = {}  # a hook of Python's cannot be taken away


def _note(event: str, arguments: tuple[object, ...]) -> None:
    if event != "open" or not _watched or not isinstance(arguments[0], str | bytes | os.PathLike):
        return
    path = Path(os.fsdecode(arguments[0]))
    for folder, found in _watched.items():
        if path.is_relative_to(folder):
            found.add(str(path.relative_to(folder)))


sys.addaudithook(_note)


@contextmanager
def opened_below(folder: Path) -> Iterator[set[str]]:
    """The names of the files below a folder that this process opens in the block."""
    found = _watched[folder] = set()
    try:
        yield found
    finally:
        del _watched[folder]
