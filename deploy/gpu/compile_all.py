"""Compiles all CUDA kernels into the cache, by all cores: none then waits behind another.

python deploy/gpu/compile_all.py                # for the device here
python deploy/gpu/compile_all.py --for sm_90    # for another, by NVRTC alone
python deploy/gpu/compile_all.py --names dna    # of a package's kernels, as a pattern
"""

from __future__ import annotations

import argparse
import multiprocessing
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib.resources import files
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2] / "tests"
if str(TESTS) not in sys.path:
    sys.path.append(str(TESTS))

from emulator.compile_kernels import Variant, native, packages, sources, variants  # noqa: E402

from gangsaw.codecs.core.cuda.device import cupy  # noqa: E402
from gangsaw.codecs.core.cuda.kernel_files import kernel_file  # noqa: E402
from gangsaw.codecs.core.cuda.sources import options, source  # noqa: E402
from gangsaw.codecs.core.errors import DeviceError  # noqa: E402

KERNEL = re.compile(
    r"__global__\s+void\s+(?:__launch_bounds__\((?:[^()]|\([^()]*\))*\)\s*)?(\w+)\s*\("
)


def wanted(chosen: str = "") -> list[Variant]:
    """Return what is compiled: as tests compile it, and in the byte order of this machine."""
    found: dict[str, Variant] = {}
    for package in packages():
        if chosen in ("", package.rpartition(".")[2]):
            for one in variants(package):
                found |= {str(one): one, str(native(one)): native(one)}
    return list(found.values())


def names(package: str) -> Iterator[str]:
    """Yield the kernels of a package, as CUDA's tools call them."""
    for file in sources(package):
        yield from KERNEL.findall(files(package).joinpath(file).read_text())


def compiled(variant: Variant, architecture: str, by_cupy: bool) -> str:
    """Compile one, with the NVRTC that a process with a device uses; return the file's name."""
    if by_cupy:
        cupy()
    code = source(variant.package, variant.file)
    return kernel_file(code, options(variant.defines), architecture).name


def compile_all(architecture: str = "", chosen: str = "") -> int:
    """Compile for an architecture, else for the device here; return how many files there are."""
    by_cupy = not architecture
    if by_cupy:
        architecture = f"sm_{cupy().cuda.Device().compute_capability}"
    one = partial(compiled, architecture=architecture, by_cupy=by_cupy)
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        return len(set(pool.map(one, wanted(chosen))))


def main() -> int:
    """Compile, or print a pattern; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--for", dest="architecture", default="", metavar="sm_NN")
    parser.add_argument("--package", default="", help="of one package alone, such as dna")
    parser.add_argument("--names", metavar="PACKAGE", help="print its kernels as a pattern")
    given = parser.parse_args()
    if given.names:
        chosen = [p for p in packages() if p.rpartition(".")[2] == given.names]
        found = sorted({name for package in chosen for name in names(package)})
        sys.stdout.write("^(" + "|".join(found) + ")$\n")
        return 0
    try:
        n = compile_all(given.architecture, given.package)
    except DeviceError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"{n} compiled sources are in the cache\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
