"""Compiled kernels on disk: what one process compiled, others of this machine and user load.

A file is named by a hash of all that went into it, and by a hash of what came out. So a file that
is damaged does not hold what its name says, and is compiled again instead of loaded.
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
    """Return the file of a compiled CUDA source; it is compiled where there is none yet.

    The path is never that of other machine code: CuPy remembers modules by their paths.

    Raises
    ------
    CompileError : it does not compile, or no folder can be written, not even a temporary one
    """
    version = compiling.compiler_version()
    key = _hash(repr((source, *options, compiling.FLOATS, architecture, version)).encode())
    found = _found(folder(), key)
    if found is None:
        found = _stored(key, compiling.compile_kernel(source, options, architecture).code)
    return found


def folder() -> Path:
    """Return where compiled kernels lie."""
    return user_cache() / "cuda"


def _found(place: Path, key: str) -> Path | None:
    """Return a file whose code is what its name says, or None."""
    with suppress(OSError):
        for path in place.glob(f"{key}-*.cubin"):
            if path.name == _name(key, path.read_bytes()):
                return path
    return None


def _stored(key: str, code: bytes) -> Path:
    """Write code to the folder, or where that is read-only or full to one of this process."""
    with suppress(OSError):
        return _written(folder(), key, code)
    try:
        return _written(_own_folder(), key, code)
    except OSError as error:
        raise compiling.CompileError(f"no folder to keep it in: {error}") from error


def _written(place: Path, key: str, code: bytes) -> Path:
    """Write a file under another name first, so that nobody sees half of it."""
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
    """Return a temporary folder that goes with this process."""
    place = tempfile.mkdtemp(prefix="gangsaw-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return Path(place)


def _name(key: str, code: bytes) -> str:
    return f"{key}-{_hash(code)}.cubin"


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]
