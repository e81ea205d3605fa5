"""Files and folders that a task names; workers that do not see them cannot run it.

Sources, targets and intermediate files are attributes of many classes. All of them are pickled
for the workers, so the paths are found by pickling.
"""

from __future__ import annotations

import io
import os
import pickle
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath

SYSTEM = ("/dev", "/proc", "/sys")  # each host has its own
LEAST_DEPTH = 2  # path components of a str: "/data" may be an HDF5 group
MOST = 100  # paths that workers are queried for


def paths_of_work(task: object, batches: Iterable[object]) -> tuple[str, ...]:
    """Return the existing files and folders named by a task and its first and last batch.

    Batches of an iterator are not inspected.
    """
    ends: tuple[object, ...] = ()
    if isinstance(batches, Sequence) and batches:
        ends = batches[0], batches[-1]
    finder = _PathFinder()
    for one in (task, *ends):
        finder.collect(one)
    return tuple(finder.found)[:MOST]


class _PathFinder(pickle.Pickler):
    """Pickler that collects the file paths within pickled objects and discards the bytes."""

    def __init__(self) -> None:
        super().__init__(_DiscardFile(), protocol=5, buffer_callback=lambda _: False)
        self.found: dict[str, None] = {}

    def collect(self, one: object) -> None:
        """Collect the paths in an object; if pickle refuses it, those found before the error."""
        try:
            self.dump(one)
        except Exception:  # of any type: Dask pickles more types, and reports those that it cannot
            return

    def persistent_id(self, one: object) -> str | None:
        """Collect an object that is a path; return None to pickle any other object.

        A path object is not pickled: its segments may be paths of their own.
        """
        if isinstance(one, PurePath) or (type(one) is str and _is_path(one)):
            path = Path(one).absolute()
            while isinstance(one, PurePath) and not path.exists():  # it will be written
                path = path.parent
            is_system = str(path).startswith(SYSTEM)
            if not is_system and (path.is_file() or path.is_dir()):
                self.found[str(path)] = None
        return "" if isinstance(one, PurePath) else None


def _is_path(text: str) -> bool:
    return text.startswith(os.sep) and "\0" not in text and len(Path(text).parts) > LEAST_DEPTH


class _DiscardFile(io.RawIOBase):
    """File that discards its input."""

    def write(self, data: object, /) -> int:
        """Discard the bytes; return their number."""
        return memoryview(data).nbytes  # type: ignore[arg-type]
