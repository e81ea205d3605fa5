"""CUDA sources as text: what a device compiles, and what is compiled and emulated without one.

Headers are put in by us, not by the compiler: compiled kernels are stored by their text alone, and
a kernel whose header has changed would be taken for the old one.
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
    """Return a CUDA source of a package, `name.cu` or `folder/name.cu`, with all headers put in.

    Headers are named `#include "name.cuh"` or `#include "folder/name.cuh"`, seen from the folder of
    what includes them, else from the nearest folder above that has it, else from `core/cuda`. Each
    is put in once.
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
    """Return the package from which a header is named: this one, one above it, or CORE."""
    while package:
        if (files(package) / header).is_file():
            return package
        package = package.rpartition(".")[0]
    return CORE


def _split(package: str, file: str) -> tuple[str, str]:
    """Return the package in which a file lies, and its name there."""
    *folders, name = file.split("/")
    return ".".join([package, *folders]), name
