"""Folders of compiled kernels, named by content, so that equal installations share them.

Numba names its folder after the path of the source file and checks the time of that file. So a
second environment, or a reinstall of equal sources, would compile everything again. It also checks
only the source file of the kernel itself: a kernel that inlines a changed function or constant of
another file would be loaded stale. So the folder's name has the versions of the compilers, the
kernel's module, and a hash of sources. These are all files of Gangsaw that the kernel's file
imports, directly or not.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from types import FunctionType
from typing import Protocol

import llvmlite
import numba

from gangsaw.codecs.core.folders import user_cache
from gangsaw.codecs.core.numba.packs.compiling import compile_for_level
from gangsaw.codecs.core.numba.packs.kernel_cache import KernelCache
from gangsaw.codecs.core.numba.packs.kernel_files import KernelFiles
from gangsaw.codecs.core.numba.private import set_cache


class NumbaSettings(Protocol):
    """Settings of Numba; their names come from the environment, so no type checker knows them."""

    CACHE_DIR: str


class Dispatcher(Protocol):
    """Interface of a Numba dispatcher: the result of Numba's decorator for a function."""

    py_func: FunctionType
    compile: Callable[[object], object]


class Rebuild(Protocol):
    """Interface of a function that restores Numba's compile result from cached data."""

    def __call__(self, target_context: object, *stored: object) -> object:
        """Return the compile result."""


IMPORT = re.compile(r"^ *from +(gangsaw[\w.]*) +import +(\([^)]*\)|.*)", re.MULTILINE)
SETTINGS: NumbaSettings = numba.config
# Modules that decide the location of code, not its content: keys contain the level.
KEEPING = ("gangsaw.codecs.core.numba.packs", "gangsaw.codecs.core.numba.cache")


def enable_cache(compiled: Dispatcher, source: Path, rebuild: Rebuild | None = None) -> None:
    """Make a kernel load machine code from packs, then from the user's cache, and store it there.

    A pack is a file of kernels compiled in advance. `source` is the file of the kernel. Without a
    writable folder, it does without the disk. `rebuild` creates a compile result from stored data;
    by default Numba's own function does.
    """
    function = compiled.py_func
    files = KernelFiles(cache_folders(source, function.__module__), function)
    set_cache(compiled, KernelCache(function, partial(fingerprint, source), files, rebuild))
    compile_for_level(compiled)


def cache_folders(source: Path, module: str) -> tuple[Path, ...]:
    """Return the folders for kernels of a module, whose file is `source`, the preferred one first.

    The second, next to the source, is for users whose cache folder is not writable.
    """
    if not source.is_file():  # typed or executed code: there is no text to hash
        return ()
    versions = f"{sys.implementation.cache_tag}-numba{numba.__version__}"
    name = Path(f"gangsaw-{versions}-llvmlite{llvmlite.__version__}")
    name /= f"{module}-{fingerprint(source)}"
    return cache_base() / name, source.parent / "__pycache__" / name


def cache_base() -> Path:
    """Return the parent of all folders for kernels: NUMBA_CACHE_DIR if set."""
    return Path(SETTINGS.CACHE_DIR) if SETTINGS.CACHE_DIR else user_cache() / "numba"


@lru_cache
def fingerprint(source: Path) -> str:
    """Hash the names and texts of a source file and of all files of Gangsaw that it imports."""
    seen: set[Path] = set()
    waiting = [source]
    while waiting:
        file = waiting.pop()
        if file not in seen and file.is_file():
            seen.add(file)
            waiting.extend(_imported(file))
    texts = sorted((file.name, file.read_bytes()) for file in seen)
    return hashlib.sha256(repr(texts).encode()).hexdigest()[:16]


@lru_cache
def _imported(file: Path) -> tuple[Path, ...]:
    """Return the files of Gangsaw that a file imports, by a regular expression, not a parser."""
    names: set[str] = set()
    for module, what in IMPORT.findall(file.read_text(encoding="utf-8")):
        names |= {module, *(f"{module}.{name}" for name in re.findall(r"\w+", what))}
    files = (path for name in names if not name.startswith(KEEPING) for path in _module_files(name))
    return tuple(sorted(path for path in files if path.is_file()))


def _module_files(name: str) -> tuple[Path, ...]:
    """Return the possible files of the module `name`, without importing it."""
    parts = name.split(".")
    package = sys.modules.get(".".join(parts[:2]))
    if package is None:
        return ()
    if not hasattr(package, "__path__"):  # a module of public names
        return (Path(str(package.__file__)),)
    place = Path(package.__path__[0]).joinpath(*parts[2:])
    return place.with_suffix(".py"), place / "__init__.py"
