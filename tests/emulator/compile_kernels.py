"""Compile all kernels with NVRTC for real devices, with neither driver nor device.

`python tests/emulator/compile_kernels.py [package ...]` prints what each kernel takes of a device;
packages by their last names, such as ccsds123. They name the specialisations in `KERNELS` of their
samples.py: see README.md.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, NamedTuple

from gangsaw.codecs.core.cuda import sources as kernels

PARENTS = ("gangsaw.codecs", "gangsaw.tasks")
ARCHITECTURES = ("sm_80", "sm_90", "sm_100")
MAX_SPILL_BYTES = 64  # of a thread: what ptxas trades now and then for more warps at once

Defines = Mapping[str, int | str]
ENTRY = re.compile(
    r"Compiling entry function '(?P<name>\w+)'.*?"
    r"(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, "
    r"(?P<loads>\d+) bytes spill loads.*?Used (?P<registers>\d+) registers(?P<used>[^\n]*)",
    re.DOTALL,
)
SHARED = re.compile(r"(\d+) bytes smem")


class CompileError(Exception):
    """The source is no CUDA C++: the compiler's words."""


class Kernel(NamedTuple):
    """What a kernel takes of a device."""

    name: str
    registers: int  # of a thread
    shared: int  # static, bytes of a block
    stack: int  # bytes of a thread's local memory
    spills: int  # bytes that a thread stores and loads for want of registers


class Variant(NamedTuple):
    """A source of a package with one set of defines."""

    package: str
    file: str
    defines: Defines

    def __str__(self) -> str:
        defines = (f"{name}={value}" for name, value in sorted(self.defines.items()))
        return " ".join([self.package.rpartition(".")[2], self.file, *defines])


def variants(package: str) -> Iterator[Variant]:
    """Return the specialisations that a package names."""
    samples = importlib.import_module(f"{package}.samples")
    for file, choices in getattr(samples, "KERNELS", {}).items():
        for defines in choices:
            yield Variant(package, file, defines)


def sources(package: str) -> list[str]:
    """Return the paths of the CUDA sources of a package, as seen from its folder."""
    return sorted(_cuda_sources(files(package)))


def packages() -> list[str]:
    """Return the packages of this project that hold CUDA sources."""
    below = ((parent, folder) for parent in PARENTS for folder in files(parent).iterdir())
    return sorted(
        f"{parent}.{folder.name}"
        for parent, folder in below
        if folder.is_dir() and any(_cuda_sources(folder))
    )


def _cuda_sources(folder: Traversable, above: str = "") -> Iterator[str]:
    for path in folder.iterdir():
        if path.is_dir():
            yield from _cuda_sources(path, f"{above}{path.name}/")
        elif path.name.endswith(".cu"):
            yield above + path.name


def compiled(source: str, options: Sequence[str], architecture: str) -> list[Kernel]:
    """Compile a source to machine code.

    Raises
    ------
    CompileError : it does not compile
    """
    from cuda.bindings import nvrtc

    asked = (*options, f"--gpu-architecture={architecture}", "--ptxas-options=-v")
    program = _checked(nvrtc.nvrtcCreateProgram(source.encode(), b"kernel.cu", 0, [], []))
    (status,) = nvrtc.nvrtcCompileProgram(program, len(asked), [one.encode() for one in asked])
    log = _log(nvrtc, program)
    _checked(nvrtc.nvrtcDestroyProgram(program))
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise CompileError(f"{architecture}: {status.name}\n{log}")
    return [_kernel(found) for found in ENTRY.finditer(log)]


def _checked(result: tuple[Any, ...]) -> Any:
    status, *values = result
    if status.value:
        raise RuntimeError(f"NVRTC: {status.name}")
    return values[0] if values else None


def _log(nvrtc: Any, program: Any) -> str:
    log = bytes(_checked(nvrtc.nvrtcGetProgramLogSize(program)))
    _checked(nvrtc.nvrtcGetProgramLog(program, log))  # which writes into it
    return log.rstrip(b"\0").decode()


def _kernel(found: re.Match[str]) -> Kernel:
    shared = SHARED.search(found["used"])
    return Kernel(
        found["name"],
        int(found["registers"]),
        int(shared[1]) if shared else 0,
        int(found["stack"]),
        int(found["stores"]) + int(found["loads"]),
    )


def report(variant: Variant, architecture: str) -> list[Kernel]:
    """Compile a variant and print a line for each of its kernels."""
    source = kernels.source(variant.package, variant.file)
    taken = compiled(source, kernels.options(variant.defines), architecture)
    for kernel in taken:
        sys.stdout.write(
            f"{architecture:7}{kernel.name:20}{kernel.registers:5} registers"
            f"{kernel.shared:8} B shared{kernel.stack:6} B stack{kernel.spills:6} B spilled"
            f"  {variant}\n"
        )
    return taken


def main(wanted: Sequence[str]) -> int:
    """Print all, return the number of kernels that spill too much."""
    chosen = [p for p in packages() if not wanted or p.rpartition(".")[2] in wanted]
    taken = [
        kernel
        for package in chosen
        for variant in variants(package)
        for architecture in ARCHITECTURES
        for kernel in report(variant, architecture)
    ]
    return sum(kernel.spills > MAX_SPILL_BYTES for kernel in taken)


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
