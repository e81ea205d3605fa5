"""The compiler of emulated kernels, in place of `gangsaw.codecs.core.cuda.compiling`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from emulator.host_module import HostModule, cache_folder
from gangsaw.codecs.core.cuda import compiling, kernel_files
from gangsaw.codecs.core.cuda.compiling import Compiled, CompileError


def in_place_of_nvrtc(patch: pytest.MonkeyPatch) -> None:
    """Compile for the host; results are stored apart from those of devices."""
    patch.setattr(compiling, "compile_kernel", compile_kernel)
    patch.setattr(compiling, "compiler_version", lambda: "emulator")
    patch.setattr(kernel_files, "kernel_folder", lambda: cache_folder() / "kernels")


def compile_kernel(source: str, options: Sequence[str], architecture: str) -> Compiled:
    """Check that a source compiles; its "machine code" is the text, which `loaded` takes."""
    try:
        HostModule(source, options).compile()
    except RuntimeError as failed:
        raise CompileError(str(failed)) from failed
    return Compiled(json.dumps([source, list(options)]).encode(), b"", "")


def loaded(path: str) -> HostModule:
    """Return the module of a file of such code."""
    source, options = json.loads(Path(path).read_bytes())
    return HostModule(source, options)
