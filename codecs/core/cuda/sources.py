"""CUDA sources as text, for compilation on a device, and for compilation and emulation in tests.

Gangsaw inserts headers itself, not the compiler. The cache of compiled kernels uses the text as a
key, so a change of a header must change the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

CORE = "gangsaw.codecs.core.cuda"
INCLUDE = re.compile(r'^#include "([\w./]+)"$', re.MULTILINE)


def options(defines: Mapping[str, int | str]) -> tuple[str, ...]:
    """Return the compiler's options: the language, and `defines` that specialise a source."""
    return ("-std=c++17", *(f"-D{name}={value}" for name, value in sorted(defines.items())))


@cache
def source(package: str, file: str) -> str:
    """Return a CUDA source of a package with all headers inserted.

    `file` is a file name, with or without its folder. An `#include` line names a header in the same
    way. It is searched in the folder of the including file, then in the nearest folder above that
    has it, then in `core/cuda`. Each header is inserted once.
    """
    return _expanded(*_split(package, file), set())


def _expanded(package: str, name: str, seen: set[tuple[str, str]]) -> str:
    def put_in(found: re.Match[str]) -> str:
        header = _split(_home(package, found[1]), found[1])
        if header in seen:
            return ""
        seen.add(header)
        return _expanded(*header, seen)

    return INCLUDE.sub(put_in, (files(package) / name).read_text("utf-8"))


def _home(package: str, header: str) -> str:
    """Return the package that a header is relative to: this one, one above it, or CORE."""
    while package:
        if (files(package) / header).is_file():
            return package
        package = package.rpartition(".")[0]
    return CORE


def _split(package: str, file: str) -> tuple[str, str]:
    """Resolve a file name with folders to the package that contains the file, and its bare name."""
    *folders, name = file.split("/")
    return ".".join([package, *folders]), name
