"""Files that count the bytes read, for progress."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_read: dict[str, int] = {}  # bytes read by path, of the last opened file


class MeasuredFile(io.FileIO):
    """File that counts the bytes read from its start, for the progress of a job."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path, _read[path] = path, 0

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Read as `io.FileIO` does, and count the bytes."""
        n = super().readinto(buffer)
        _read[self.path] += n
        return n


def share_read(paths: Sequence[str]) -> float:
    """Return the share of these files read so far, 0 to 1."""
    sizes = sum(map(os.path.getsize, paths))
    return sum(_read.get(path, 0) for path in paths) / sizes if sizes else 1.0
