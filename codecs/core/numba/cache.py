"""Where compiled kernels lie: in a folder that can be written for read-only installations, too.

Numba would put them next to the source or raise at import where it cannot. It also looks only at
the source file of the kernel itself: a kernel that inlines a changed function, or a constant, of
another file would be loaded stale. So the folder's name carries a hash of all our sources that the
kernel's file imports, directly or not.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import secrets
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from pathlib import Path
from types import FunctionType
from typing import Protocol

import numba

from gangsaw.codecs.core.folders import user_cache
from gangsaw.codecs.core.numba.kept.compiling import compile_for_level
from gangsaw.codecs.core.numba.kept.kernel_cache import KernelCache


class NumbaSettings(Protocol):
    """Numba's settings; their names come from the environment, so no type checker knows them."""

    CACHE_DIR: str


class Dispatcher(Protocol):
    """What Numba makes of a function."""

    py_func: FunctionType
    compile: Callable[[object], object]
    _cache: object

    def enable_caching(self) -> None:
        """Look for compiled code on disk, and keep it there."""


IMPORT = re.compile(r"^ *from +(gangsaw[\w.]*) +import +(\([^)]*\)|.*)", re.MULTILINE)
SETTINGS: NumbaSettings = numba.config
# What decides where code is kept, not what it is: the level is in the keys.
KEEPING = ("gangsaw.codecs.core.numba.kept", "gangsaw.codecs.core.numba.cache")
# What reading or writing a damaged, full or vanished cache raises, or one that names a module of
# another version: it may cost time, never a run.
LOST_CACHE = (
    *(OSError, EOFError, pickle.PickleError),
    *(ImportError, AttributeError, ValueError, IndexError),
)
_decorating = threading.Lock()


def enable_cache(compiled: Dispatcher, source: Path) -> None:
    """Look for what is compiled of the file `source` in packs, then on disk, and keep it there.

    Where nothing is writable, do without the disk.
    """
    folder = cache_folder(source)
    # "no locator available": no folder can be written
    with _decorating, _cache_dir(str(folder)), suppress(RuntimeError, OSError):
        compiled.enable_caching()
    _forgive(compiled)
    _begin_anew(compiled)
    _name_apart(compiled)
    compiled._cache = KernelCache(compiled.py_func, partial(fingerprint, source), compiled._cache)
    compile_for_level(compiled)


def cache_folder(source: Path) -> Path:
    """Return the folder for kernels of the file `source`."""
    return cache_base() / f"gangsaw-{fingerprint(source)}"


def cache_base() -> Path:
    """Return the folder of folders for kernels: NUMBA_CACHE_DIR if set."""
    return Path(SETTINGS.CACHE_DIR) if SETTINGS.CACHE_DIR else user_cache() / "numba"


@contextmanager
def _cache_dir(folder: str) -> Iterator[None]:
    """Set Numba's folder while a function is decorated; the user's own functions keep theirs."""
    before = SETTINGS.CACHE_DIR
    SETTINGS.CACHE_DIR = folder
    try:
        yield
    finally:
        SETTINGS.CACHE_DIR = before


@lru_cache
def fingerprint(source: Path) -> str:
    """Hash a source file and all of ours that it imports, directly or not."""
    seen: set[Path] = set()
    waiting = [source]
    while waiting:
        file = waiting.pop()
        if file not in seen and file.is_file():
            seen.add(file)
            waiting.extend(_imported(file))
    texts = sorted(file.read_bytes() for file in seen)
    return hashlib.sha256(b"\0".join(texts)).hexdigest()[:16]


@lru_cache
def _imported(file: Path) -> tuple[Path, ...]:
    """Files of ours that a file imports. By a regular expression: no file is parsed."""
    names: set[str] = set()
    for module, what in IMPORT.findall(file.read_text(encoding="utf-8")):
        names |= {module, *(f"{module}.{name}" for name in re.findall(r"\w+", what))}
    files = (path for name in names if not name.startswith(KEEPING) for path in _places(name))
    return tuple(sorted(path for path in files if path.is_file()))


def _places(name: str) -> tuple[Path, ...]:
    """Files that may be the module `name`; nothing is imported to find out."""
    parts = name.split(".")
    package = sys.modules.get(".".join(parts[:2]))
    if package is None:
        return ()
    place = Path(package.__path__[0]).joinpath(*parts[2:])
    return place.with_suffix(".py"), place / "__init__.py"


def _forgive(compiled: Dispatcher) -> None:
    """Let Numba's own guard against input/output errors, made for Windows, hold everywhere."""
    guard = "_guard_against_spurious_io_errors"
    cache = getattr(compiled, "_cache", None)
    if hasattr(cache, guard):
        setattr(cache, guard, lambda: suppress(*LOST_CACHE))


def _begin_anew(compiled: Dispatcher) -> None:
    """Take an index that cannot be read for none: Numba would not write another over it.

    It holds types of arguments by their modules, which another version may have elsewhere.
    """
    file = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    load = getattr(file, "_load_index", None)
    if file is not None and load is not None:
        file._load_index = lambda: _index_or_none(load)


def _index_or_none(load: Callable[[], dict[object, str]]) -> dict[object, str]:
    try:
        return load()
    except LOST_CACHE:
        return {}


def _name_apart(compiled: Dispatcher) -> None:
    """Let each process give names of its own to the files of what it compiled.

    Numba takes the least number that its index does not have. So two processes that compiled a
    kernel at once, each for other types, wrote one file, and the index led the types of one to the
    code of the other. Now a file may be left that no index names: it is compiled again.
    """
    file = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    numbered = getattr(file, "_data_name", None)
    if file is not None and numbered is not None:
        file._data_name = lambda number: numbered(number + _first_number(os.getpid()))


@lru_cache
def _first_number(process: int) -> int:
    return secrets.randbits(40) << 20
