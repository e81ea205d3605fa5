"""CUDA sources as text: what a device compiles, and what is compiled and emulated without one.

Headers are put in by us, not by the compiler: compiled kernels are kept by their text alone, and
those whose headers have changed would be kept, too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

CORE = "gangsaw.codecs.core.cuda"
INCLUDE = re.compile(r'^#include "([\w.]+)"$', re.MULTILINE)


def options(defines: Mapping[str, int | str]) -> tuple[str, ...]:
    """Return the compiler's options: the language, and `defines` that specialise a source."""
    return ("-std=c++17", *(f"-D{name}={value}" for name, value in sorted(defines.items())))


@cache
def source(package: str, file: str) -> str:
    """Return a CUDA source of a package with all its headers put in, each once.

    Headers are named `#include "name.cuh"`, and lie beside the source or in `core/cuda`.
    """
    return _expanded(package, file, set())


def _expanded(package: str, file: str, seen: set[str]) -> str:
    def put_in(found: re.Match[str]) -> str:
        header = found[1]
        if header in seen:
            return ""
        seen.add(header)
        beside = (files(package) / header).is_file()
        return _expanded(package if beside else CORE, header, seen)

    return INCLUDE.sub(put_in, (files(package) / file).read_text("utf-8"))
