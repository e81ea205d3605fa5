"""Files of a kernel in the user's cache: one per signature and processor, named by content.

    SHA-256 of the rest, pickle of (signature, code)

There is no index that processes would have to lock. Two processes that compile the same code write
the same file, and each replaces it atomically.
"""

from __future__ import annotations

import hashlib
import pickle
import tempfile
from collections.abc import Callable
from contextlib import suppress
from glob import escape
from pathlib import Path
from secrets import token_hex
from types import FunctionType
from typing import Any

from numba.core.serialize import dumps

SUFFIX = ".nbc"
DIGEST = hashlib.sha256().digest_size
LAYOUT = 1  # version of the file layout, part of the file name
# Errors from a damaged, full or deleted cache, or from one that names a module of another version.
# Such a cache may cost time, but must not fail a run.
LOST_CACHE = (
    *(OSError, EOFError, pickle.PickleError),
    *(ImportError, AttributeError, ValueError, IndexError, TypeError, KeyError),
)


class KernelFiles:
    """Files with the machine code of one kernel, in the user's cache.

    Parameters
    ----------
    folders : folders of its module; the first one that contains a file, or is writable, is used
    function : the kernel's Python function
    """

    def __init__(self, folders: tuple[Path, ...], function: FunctionType) -> None:
        self.folders = folders
        self._function = function
        name = function.__qualname__.replace("<", "").replace(">", "")
        self._stem = f"{name}-{function.__code__.co_firstlineno}"

    def name(self, rest: object) -> str:
        """Return the file name for a variant of the kernel, such as argument types.

        As in Numba, it depends on the values that the function closes over: some have no text.

        rest : description of the variant; equal text gives the same name
        """
        code = self._function.__code__.co_code
        cells = tuple(cell.cell_contents for cell in self._function.__closure__ or ())
        whole = repr((LAYOUT, self._stem, code, dumps(cells) if cells else b"", rest))
        return f"{self._stem}.{hashlib.sha256(whole.encode()).hexdigest()[:32]}{SUFFIX}"

    def folder(self) -> Path | None:
        """Return the folder that files are written to; None if no folder is writable."""
        return next(filter(_is_writable, self.folders), None)

    def turn(self, name: str) -> Path:
        """Return the path of the lock file that a process has while it compiles file `name`."""
        return self.folders[0] / f"{name}.turn"

    def load(self, name: str, signature: object) -> tuple[Any, ...] | None:
        """Return the machine code in a file; None if absent, damaged, or of another signature."""
        for folder in self.folders:
            with suppress(*LOST_CACHE):
                data = (folder / name).read_bytes()
                if hashlib.sha256(data[DIGEST:]).digest() == data[:DIGEST]:
                    stored, code = pickle.loads(data[DIGEST:])
                    if stored == signature:  # types of two modules may have one name
                        return tuple(code)
        return None

    def save(self, name: str, signature: object, code: Callable[[], object]) -> None:
        """Write machine code to a file in the first writable folder, if there is one.

        code : returns the data to pickle
        """
        with suppress(*LOST_CACHE):
            content = dumps((signature, code()))
            data = hashlib.sha256(content).digest() + content
            any(_is_written(folder / name, data) for folder in self.folders)

    def remove(self) -> None:
        """Remove all files of the kernel."""
        for folder in self.folders:
            for path in folder.glob(f"{escape(self._stem)}.*{SUFFIX}"):
                with suppress(OSError):
                    path.unlink()


def _is_writable(folder: Path) -> bool:
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
        return True
    return False


def _is_written(path: Path, data: bytes) -> bool:
    """Write a file atomically; return True if it was written."""
    part = path.with_name(f".{path.name}.{token_hex(8)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(data)
        part.replace(path)
    except OSError:
        with suppress(OSError):
            part.unlink()
        return False
    return True
