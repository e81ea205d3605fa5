"""Compile all kernels with NVRTC for real devices, with neither driver nor device.

`python tests/emulator/compile_kernels.py [package ...]` prints what each kernel takes of a device;
packages by their last names, such as ccsds123. They name the specialisations in `KERNELS`, a codec
in its samples.py, a domain of tasks in its variants.py: see README.md.
"""

from __future__ import annotations

import argparse
import importlib
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from typing import NamedTuple

from gangsaw.codecs.core.cuda import sources as kernels
from gangsaw.codecs.core.cuda.compiling import Compiled, compile_kernel

PARENTS = ("gangsaw.codecs", "gangsaw.tasks", "gangsaw.tasks.genomics")
FALLBACK = "counting.kernels.variants"
HOMES = ("samples", "variants")  # of what specialises sources; else `counting.kernels.variants`
ARCHITECTURES = ("sm_80", "sm_90", "sm_100")
VERBOSE = "--ptxas-options=-v"  # the log then has what kernels take
MAX_SPILL_BYTES = 64  # of a thread: what ptxas trades now and then for more warps at once

Defines = Mapping[str, int | str]
ENTRY = re.compile(
    r"Compiling entry function '(?P<name>\w+)'.*?"
    r"(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, "
    r"(?P<loads>\d+) bytes spill loads.*?Used (?P<registers>\d+) registers(?P<used>[^\n]*)",
    re.DOTALL,
)
ENTRY_IN_PTX = re.compile(rb"\.entry (\w+)")
SHARED = re.compile(r"(\d+) bytes smem")


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
    home = next((one for one in HOMES if find_spec(f"{package}.{one}")), FALLBACK)
    named = importlib.import_module(f"{package}.{home}")
    for file, choices in getattr(named, "KERNELS", {}).items():
        for defines in choices:
            yield Variant(package, file, defines)


def native(variant: Variant) -> Variant:
    """Return it for arrays in the byte order of the machine."""
    swapped = "GS_SWAP" in variant.defines
    return variant._replace(defines={**variant.defines, "GS_SWAP": 0}) if swapped else variant


def sources(package: str) -> list[str]:
    """Return the paths of the CUDA sources of a package, as seen from its folder."""
    return sorted(_cuda_sources(files(package)))


def packages() -> list[str]:
    """Return the packages of this project that hold CUDA sources."""
    below = ((parent, folder) for parent in PARENTS for folder in files(parent).iterdir())
    return sorted(
        f"{parent}.{folder.name}"
        for parent, folder in below
        if folder.is_dir()
        and f"{parent}.{folder.name}" not in PARENTS
        and any(_cuda_sources(folder))
    )


def _cuda_sources(folder: Traversable, above: str = "") -> Iterator[str]:
    for path in folder.iterdir():
        if path.is_dir():
            yield from _cuda_sources(path, f"{above}{path.name}/")
        elif path.name.endswith(".cu"):
            yield above + path.name


def taken(compiled: Compiled) -> list[Kernel]:
    """Return what each kernel takes, by the assembler's words."""
    return [_kernel(found) for found in ENTRY.finditer(compiled.log)]


def entries(compiled: Compiled) -> list[str]:
    """Return the names of the kernels in what was compiled, which has PTX."""
    return [name.decode() for name in ENTRY_IN_PTX.findall(compiled.ptx)]


def _kernel(found: re.Match[str]) -> Kernel:
    shared = SHARED.search(found["used"])
    return Kernel(
        found["name"],
        int(found["registers"]),
        int(shared[1]) if shared else 0,
        int(found["stack"]),
        int(found["stores"]) + int(found["loads"]),
    )


def compile_variant(variant: Variant, architecture: str) -> Compiled:
    """Compile as for a device, and let the assembler say what kernels take."""
    source = kernels.source(variant.package, variant.file)
    options = (*kernels.options(variant.defines), VERBOSE)
    return compile_kernel(source, options, architecture)


def report(variant: Variant, architecture: str) -> list[Kernel]:
    """Compile a variant and print a line for each of its kernels."""
    found = taken(compile_variant(variant, architecture))
    for kernel in found:
        sys.stdout.write(
            f"{architecture:7}{kernel.name:20}{kernel.registers:5} registers"
            f"{kernel.shared:8} B shared{kernel.stack:6} B stack{kernel.spills:6} B spilled"
            f"  {variant}\n"
        )
    return found


def main(wanted: Sequence[str]) -> int:
    """Print all, return the number of kernels that spill too much."""
    chosen = [p for p in packages() if not wanted or p.rpartition(".")[2] in wanted]
    found = [
        kernel
        for package in chosen
        for variant in variants(package)
        for architecture in ARCHITECTURES
        for kernel in report(variant, architecture)
    ]
    return sum(kernel.spills > MAX_SPILL_BYTES for kernel in found)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages", nargs="*", help="last names of packages, as `dna`; all if none")
    sys.exit(min(main(parser.parse_args().packages), 1))
