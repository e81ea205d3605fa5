"""Compiled kernels on disk, shared by all processes of this machine and user.

The name of a file has a hash of all inputs of the compilation, and a hash of its output. So a
damaged file does not match its name, and its kernel is compiled again.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from gangsaw.codecs.core.cuda import compiling
from gangsaw.codecs.core.folders import user_cache


def kernel_file(source: str, options: Sequence[str], architecture: str) -> Path:
    """Return the file of a compiled CUDA source; compile the source if there is none.

    No two machine codes ever have the same path, as CuPy caches modules by path.

    Raises
    ------
    `CompileError` : it does not compile, or no folder is writable, not even a temporary one
    """
    version = compiling.compiler_version()
    key = _hash(repr((source, *options, compiling.FLOATS, architecture, version)).encode())
    found = _found(kernel_folder(), key)
    if found is None:
        found = _stored(key, compiling.compile_kernel(source, options, architecture).code)
    return found


def kernel_folder() -> Path:
    """Return the folder of compiled kernels."""
    return user_cache() / "cuda"


def _found(place: Path, key: str) -> Path | None:
    """Return the file of a compiled kernel in folder `place`; None if it is absent or damaged."""
    with suppress(OSError):
        for path in place.glob(f"{key}-*.cubin"):
            if path.name == _name(key, path.read_bytes()):
                return path
    return None


def _stored(key: str, code: bytes) -> Path:
    """Write machine code to the kernel folder, else to a temporary one; return the file's path."""
    with suppress(OSError):
        return _written(kernel_folder(), key, code)
    try:
        return _written(_own_folder(), key, code)
    except OSError as error:
        raise compiling.CompileError(f"no folder to keep it in: {error}") from error


def _written(place: Path, key: str, code: bytes) -> Path:
    """Write machine code to a file in folder `place` atomically; return its path."""
    place.mkdir(parents=True, exist_ok=True)
    handle, partial = tempfile.mkstemp(dir=place)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(code)
        return Path(partial).replace(place / _name(key, code))
    except OSError:
        Path(partial).unlink(missing_ok=True)
        raise


@cache
def _own_folder() -> Path:
    """Return a temporary folder that is removed at the exit of this process."""
    place = tempfile.mkdtemp(prefix="gangsaw-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return Path(place)


def _name(key: str, code: bytes) -> str:
    return f"{key}-{_hash(code)}.cubin"


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]
